/** What the rows of `settings` hold that a backup brings. */
import * as v from 'valibot'
import { PREVIOUS_CREDENTIALS } from '#db/own-settings.ts'
import { previousShop } from '#src/domain/payments/previous-credentials.ts'
import { addressText, plainLine, secretText, timestamp } from '#src/lib/values.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'
import { readAs } from '#src/settings/kinds.ts'
import type { SettingsTable } from '#src/settings/table.ts'

/** What a service knows of settings. */
export interface Known {
  gateways: readonly GatewayDescriptor[]
  settings: SettingsTable
}

/** What leads a secret somewhere, and the secret: nothing that the present shop's settings could not be. */
const restoredShops = (gateways: readonly GatewayDescriptor[]) =>
  v.array(
    v.object({
      ...previousShop.entries,
      provider: v.picklist(gateways.map(({ id }) => id)),
      until: timestamp,
      shopId: plainLine(256),
      secret: secretText(512),
      preset: v.optional(v.picklist(gateways.flatMap(({ presets = [] }) => presets))),
      apiUrl: v.optional(addressText(['https:'])),
    }),
  )

/** What the row of a setting may hold; undefined for a key that is no row that comes back. */
const rowSchemaOf = ({ gateways, settings }: Known, key: string) =>
  key === PREVIOUS_CREDENTIALS
    ? readAs(JSON.parse, restoredShops(gateways))
    : settings.all.get(key)?.value

/** Whether a setting's row may hold this text. */
export function isSettingValue(known: Known, key: string, text: string): boolean {
  const schema = rowSchemaOf(known, key)
  return schema !== undefined && v.is(schema, text)
}
