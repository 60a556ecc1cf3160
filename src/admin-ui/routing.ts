/** Routing presets, wherever they are chosen. */
import { common } from './texts.ts'

export const ROUTING_PRESETS = ['off', 'ru', 'ir', 'cn'] as const
export type RoutingPreset = (typeof ROUTING_PRESETS)[number]

export const routingOptions = () =>
  ROUTING_PRESETS.map((value) => ({ value, label: common().routingPresets[value] }))
