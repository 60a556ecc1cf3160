/** Live settings as the API shows them. */
import * as v from 'valibot'
import { appCatalogue } from '#src/settings/app-catalogue.ts'
import type { appsView, backupView, providerSettingsView } from '../settings-views.ts'
import { describes } from './fields.ts'
import { providerId } from './payment.ts'

export const botSaved = v.strictObject({
  ok: v.literal(true),
  username: v.string(),
  restarted: v.boolean(),
})

export const appSettings = describes<ReturnType<typeof appsView>>()(
  v.strictObject({ apps: appCatalogue, changed: v.boolean(), schemes: v.array(v.string()) }),
)

export const webhookSecret = v.strictObject({ ok: v.literal(true), secret: v.string() })

export const backupSettings = describes<ReturnType<typeof backupView>>()(
  v.strictObject({ encrypted: v.boolean() }),
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
