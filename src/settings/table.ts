/** All settings that apply live: those of the service, and those that the descriptors of gateways say they have. */
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { switchRow, switchText } from './kinds.ts'
import { LIVE } from './live.ts'
import type { LiveSetting } from './setting.ts'

export interface SettingsTable {
  /** Those of the service, of which the forms of the API are made. */
  own: readonly LiveSetting[]
  /** All of them by their keys. */
  all: ReadonlyMap<string, LiveSetting>
}

/** The switch of a gateway. */
const switchOf = ({ enabledKey, docs }: GatewayDescriptor): LiveSetting => ({
  key: enabledKey,
  start: switchText,
  value: switchRow,
  docsDefault: 'off',
  docs: `whether payments by ${docs} are offered`,
})

/** The table of a service with these gateways. */
export function settingsTable(
  gateways: readonly GatewayDescriptor[],
  own: readonly LiveSetting[] = LIVE,
): SettingsTable {
  const all = [...own, ...gateways.flatMap((gateway) => [switchOf(gateway), ...gateway.settings])]
  return { own, all: new Map(all.map((setting) => [setting.key, setting])) }
}

/** Settings that say where a secret is sent, with the key of that secret. */
export const leadingOf = ({ all }: SettingsTable): Map<string, string> =>
  new Map(
    [...all.values()].flatMap(({ key, leads }) =>
      leads === undefined ? [] : [[key, leads] as const],
    ),
  )
