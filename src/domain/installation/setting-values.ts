/** What the rows of `settings` and of former shops hold that a backup brings. */
import * as v from 'valibot'
import { addressText, plainLine, secretText, timestamp } from '#src/lib/values.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import type { SettingsTable } from '#src/settings/table.ts'

/** What a service knows of settings. */
export interface Known {
  gateways: readonly GatewayDescriptor[]
  settings: SettingsTable
}

/** What leads a secret somewhere, and the secret: nothing that the present shop's settings could not be. */
const formerShop = (gateways: readonly GatewayDescriptor[]) =>
  v.object({
    provider: v.picklist(gateways.map(({ id }) => id)),
    shopId: plainLine(256),
    secret: secretText(512),
    preset: v.nullable(v.picklist(gateways.flatMap(({ presets = [] }) => presets))),
    apiUrl: v.nullable(addressText(['https:'])),
    replacedAt: timestamp,
  })

/** Whether a row of `former_credentials` may come back. */
export const isFormerShop = ({ gateways }: Known, shop: object): boolean =>
  v.is(formerShop(gateways), shop)

/** Whether a setting's row may hold this text; no row that is none of a live setting comes back. */
export function isSettingValue({ settings }: Known, key: string, text: string): boolean {
  const schema = settings.all.get(key)?.value
  return schema !== undefined && v.is(schema, text)
}
