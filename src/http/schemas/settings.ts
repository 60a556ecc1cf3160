/** Live settings as the API shows them. */
import * as v from 'valibot'
import { count, telegramId } from '#db/values.ts'
import { appCatalogue } from '#src/domain/lists/apps.ts'
import { OPTIONAL_EVENTS } from '#src/domain/notify/optional-events.ts'
import type {
  alertsView,
  appsView,
  backupView,
  botView,
  brandView,
  hwidView,
  legalView,
  planSettingsView,
  providerSettingsView,
  receiptsView,
  webhookView,
} from '../settings-views.ts'
import { describes } from './fields.ts'
import { providerId } from './payment.ts'

export const hwidSettings = describes<ReturnType<typeof hwidView>>()(
  v.strictObject({ enabled: v.boolean(), fallback_limit: count }),
)

export const botSettings = describes<ReturnType<typeof botView>>()(
  v.strictObject({ username: v.string(), token_masked: v.pipe(v.string(), v.minLength(3)) }),
)

export const botSaved = v.strictObject({
  ok: v.literal(true),
  username: v.string(),
  restarted: v.boolean(),
})

export const brandSettings = describes<ReturnType<typeof brandView>>()(
  v.strictObject({ brand_name: v.string(), brand_hue: count }),
)

export const appSettings = describes<ReturnType<typeof appsView>>()(
  v.strictObject({ apps: appCatalogue, changed: v.boolean(), schemes: v.array(v.string()) }),
)

/** The optional events that are sent. */
const events = v.array(v.picklist(OPTIONAL_EVENTS))

export const webhookSettings = describes<ReturnType<typeof webhookView>>()(
  v.strictObject({
    url: v.string(),
    has_secret: v.boolean(),
    events: v.exactOptional(events),
  }),
)

/** With the secret only where it was made just now. */
export const webhookSaved = v.strictObject({
  ok: v.literal(true),
  url: v.string(),
  secret: v.exactOptional(v.string()),
  events: v.exactOptional(events),
})

export const webhookSecret = v.strictObject({ ok: v.literal(true), secret: v.string() })

export const alertSettings = describes<ReturnType<typeof alertsView>>()(
  v.strictObject({ admin_tg_ids: v.array(telegramId) }),
)

export const backupSettings = describes<ReturnType<typeof backupView>>()(
  v.strictObject({ encrypted: v.boolean() }),
)

export const receiptSettings = describes<ReturnType<typeof receiptsView>>()(
  v.strictObject({
    mode: v.pipe(v.string(), v.metadata({ enum: ['off', 'auto', 'on'] })),
    email: v.string(),
    vat_code: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(12)),
  }),
)

export const securitySettings = v.strictObject({ require_2fa: v.boolean() })

export const legalSettings = describes<ReturnType<typeof legalView>>()(
  v.strictObject({
    LEGAL_NAME: v.string(),
    LEGAL_INN: v.string(),
    REFUND_HOURS: v.string(),
    SUPPORT_CONTACT: v.string(),
    SUPPORT_EMAIL: v.string(),
    OFFER_EFFECTIVE_DATE: v.pipe(v.string(), v.regex(/^(\d{2}\.\d{2}\.\d{4})?$/)),
  }),
)

export const legalSaved = v.strictObject({ ok: v.literal(true), settings: legalSettings })

export const planSettings = describes<ReturnType<typeof planSettingsView>>()(
  v.strictObject({ payments_enabled: v.boolean(), prices: v.record(v.string(), count) }),
)

const words = v.strictObject({ en: v.string(), ru: v.string() })

/** What a form for a gateway's settings is made of. */
export const providerSettings = describes<ReturnType<typeof providerSettingsView>>()(
  v.strictObject({
    id: providerId,
    note: v.nullable(words),
    fields: v.array(
      v.strictObject({
        name: v.string(),
        label: words,
        secret: v.boolean(),
        optional: v.boolean(),
        is_address: v.boolean(),
        is_set: v.boolean(),
        value: v.string(),
        options: v.nullable(v.array(v.strictObject({ value: v.string(), label: words }))),
      }),
    ),
  }),
)

export const credentialsSaved = v.strictObject({
  ok: v.literal(true),
  restarted_bot: v.boolean(),
})

export const provider = v.strictObject({
  id: providerId,
  label: v.string(),
  enabled: v.boolean(),
  configured: v.boolean(),
})
