/** What lists may leave direct. */
import * as v from 'valibot'

/** The countries whose names and addresses a preset leaves direct. */
export const COUNTRIES = ['ru', 'ir', 'cn'] as const
export type Country = (typeof COUNTRIES)[number]

export const ROUTING_PRESETS = ['off', ...COUNTRIES] as const
export type RoutingPreset = (typeof ROUTING_PRESETS)[number]

/** A preset as requests bring it. */
export const givenPreset = v.picklist(ROUTING_PRESETS, 'must be off, ru, ir or cn')

export const presetIn = (text: string): RoutingPreset =>
  ROUTING_PRESETS.find((preset) => preset === text) ?? 'off'
