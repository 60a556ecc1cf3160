/** What the rows of live settings hold, each declared once: for the panel's forms, and for the rows that a backup brings. */
import * as v from 'valibot'
import { PREVIOUS_CREDENTIALS } from '#db/own-settings.ts'
import { appCatalogue } from '#src/domain/lists/apps.ts'
import { OPTIONAL_EVENTS } from '#src/domain/notify/optional-events.ts'
import { previousShop } from '#src/domain/payments/previous-credentials.ts'
import {
  addressText,
  integer,
  line,
  plainLine,
  requiredLine,
  secretText,
  timestamp,
} from '#src/lib/values.ts'
import type { LiveKey } from '#src/live-keys.ts'
import type { GatewayDescriptor } from '#src/ports/payment-gateway.ts'

export const botToken = secretText(256)
export const brandName = requiredLine(64)
export const brandHue = integer(0, 360)
export const fallbackLimit = integer(1, 1000)
export const legalText = line(500)
export const receiptEmail = v.pipe(
  line(254),
  v.regex(/^([^\s@]+@[^\s@]+)?$/, 'must be an e-mail address'),
)
export const receiptMode = v.picklist(['off', 'auto', 'on'], 'must be off, auto or on')
export const vatCode = integer(1, 12)

export const optionalEvents = v.array(
  v.picklist(OPTIONAL_EVENTS, 'must be an optional event'),
  'must be a list of optional events',
)

/** A text that a schema of another type takes once it is read. */
const readAs = (read: (text: string) => unknown, schema: v.GenericSchema) =>
  v.pipe(
    v.string(),
    v.check((text) => {
      try {
        return v.is(schema, read(text))
      } catch {
        return false
      }
    }),
  )

const flagText = v.picklist(['true', 'false'])
const numberText = (schema: v.GenericSchema) =>
  v.pipe(v.string(), v.digits(), readAs(Number, schema))
const jsonText = (schema: v.GenericSchema) => readAs(JSON.parse, schema)

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

type ValueSchema = v.GenericSchema<unknown, string>

/** Texts, as rows are. */
const VALUES: Record<LiveKey, ValueSchema> = {
  BOT_TOKEN: botToken,
  BOT_USERNAME: v.pipe(v.string(), v.regex(/^\w{1,64}$/)),
  BRAND_NAME: brandName,
  BRAND_HUE: numberText(brandHue),
  PAYMENTS_ENABLED: flagText,
  HWID_LIMIT_ENABLED: flagText,
  HWID_FALLBACK_LIMIT: numberText(fallbackLimit),
  WEBHOOK_URL: addressText(['http:', 'https:']),
  WEBHOOK_SECRET: secretText(256),
  WEBHOOK_EVENTS: readAs((text) => text.split(' ').filter(Boolean), optionalEvents),
  LEGAL_NAME: legalText,
  LEGAL_INN: legalText,
  REFUND_HOURS: legalText,
  SUPPORT_CONTACT: legalText,
  SUPPORT_EMAIL: legalText,
  OFFER_EFFECTIVE_DATE: v.pipe(v.string(), v.regex(/^\d{2}\.\d{2}\.\d{4}$/)),
  RECEIPT_MODE: receiptMode,
  RECEIPT_EMAIL: receiptEmail,
  VAT_CODE: numberText(vatCode),
  ADMIN_TG_IDS: v.pipe(v.string(), v.regex(/^(?:\d{1,16}(?: \d{1,16}){0,99})?$/)),
  REQUIRE_2FA: flagText,
  APP_CATALOGUE: jsonText(appCatalogue),
}

/** What the row of a setting may hold; undefined for a key that is no row that comes back. */
function rowSchemaOf(gateways: readonly GatewayDescriptor[], key: string): ValueSchema | undefined {
  if (Object.hasOwn(VALUES, key)) return VALUES[key as LiveKey]
  if (key === PREVIOUS_CREDENTIALS) return jsonText(restoredShops(gateways))
  if (gateways.some(({ enabledKey }) => enabledKey === key)) return flagText
  return gateways.flatMap(({ settings }) => settings).find((one) => one.key === key)?.value
}

/** Whether a setting's row may hold this text. */
export function isSettingValue(
  gateways: readonly GatewayDescriptor[],
  key: string,
  text: string,
): boolean {
  const schema = rowSchemaOf(gateways, key)
  return schema !== undefined && v.is(schema, text)
}
