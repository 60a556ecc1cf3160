/** Live settings that an admin changes: device limit, bot, brand, webhook, alerts, receipts. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { appCatalogue } from '#src/domain/apps.ts'
import { saveBotToken } from '#src/domain/bot-settings.ts'
import { readSettings, saveSettings } from '#src/domain/settings.ts'
import { rotateWebhookSecret, saveWebhookUrl } from '#src/domain/webhook-settings.ts'
import { given } from '#src/lib/given.ts'
import type { AppEnv, Http } from '../context.ts'
import {
  alertsView,
  appsView,
  botView,
  brandView,
  hwidView,
  receiptsView,
  webhookView,
} from '../settings-views.ts'
import { flag, integer, line, readChanges, readJson, secretText } from '../validate.ts'

export const hwidSettings = v.strictObject({
  enabled: v.optional(flag),
  fallback_limit: v.optional(integer(1, 1000)),
})

export const botSettings = v.object({ token: secretText(256) })

export const brandSettings = v.object({
  brand_name: v.optional(v.pipe(line(64), v.minLength(1, 'must not be empty'))),
  brand_hue: v.optional(integer(0, 360)),
})

/** `null` brings back the catalogue that comes with the service. */
export const appSettings = v.object({ apps: v.optional(v.nullable(appCatalogue)) })

export const webhookSettings = v.object({ url: line(2048) })

const ids = v.pipe(
  v.array(integer(1, Number.MAX_SAFE_INTEGER), 'must be a list of Telegram ids'),
  v.maxLength(100, 'must have at most 100 ids'),
)
export const alertSettings = v.object({ admin_tg_ids: v.optional(ids) })

const email = v.pipe(line(254), v.regex(/^([^\s@]+@[^\s@]+)?$/, 'must be an e-mail address'))
export const receiptSettings = v.object({
  mode: v.optional(v.picklist(['off', 'auto', 'on'], 'must be off, auto or on')),
  email: v.optional(email),
  vat_code: v.optional(integer(1, 12)),
})

export function settingsRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/hwid-settings', (c) => c.json(hwidView(readSettings(s))))
    .post('/hwid-settings', async (c) => {
      const { enabled, fallback_limit } = await readChanges(c, hwidSettings)
      await saveSettings(
        s,
        c.get('actor'),
        given({
          HWID_LIMIT_ENABLED: enabled?.toString(),
          HWID_FALLBACK_LIMIT: fallback_limit?.toString(),
        }),
      )
      return c.json(hwidView(readSettings(s)))
    })
    .get('/settings/bot', (c) => c.json(botView(readSettings(s))))
    .post('/settings/bot', async (c) => {
      const { token } = await readJson(c, botSettings)
      return c.json({ ok: true, ...(await saveBotToken(s, c.get('actor'), token)) })
    })
    .get('/settings/brand', (c) => c.json(brandView(readSettings(s))))
    .post('/settings/brand', async (c) => {
      const { brand_name, brand_hue } = await readChanges(c, brandSettings)
      await saveSettings(
        s,
        c.get('actor'),
        given({ BRAND_NAME: brand_name, BRAND_HUE: brand_hue?.toString() }),
      )
      return c.json(brandView(readSettings(s)))
    })
    .get('/settings/apps', (c) => c.json(appsView(readSettings(s))))
    .post('/settings/apps', async (c) => {
      const { apps } = await readChanges(c, appSettings)
      await saveSettings(s, c.get('actor'), {
        APP_CATALOGUE: apps ? JSON.stringify(apps) : null,
      })
      return c.json(appsView(readSettings(s)))
    })
    .get('/settings/webhook', (c) => c.json(webhookView(readSettings(s))))
    .post('/settings/webhook', async (c) => {
      const { url } = await readJson(c, webhookSettings)
      return c.json({ ok: true, url, ...(await saveWebhookUrl(s, c.get('actor'), url)) })
    })
    .post('/settings/webhook/rotate-secret', async (c) => {
      return c.json({ ok: true, secret: await rotateWebhookSecret(s, c.get('actor')) })
    })
    .get('/settings/alerts', (c) => c.json(alertsView(readSettings(s))))
    .post('/settings/alerts', async (c) => {
      const { admin_tg_ids = [] } = await readChanges(c, alertSettings)
      await saveSettings(s, c.get('actor'), {
        ADMIN_TG_IDS: [...new Set(admin_tg_ids)].join(' '),
      })
      return c.json(alertsView(readSettings(s)))
    })
    .get('/settings/receipts', (c) => c.json(receiptsView(readSettings(s))))
    .post('/settings/receipts', async (c) => {
      const { mode, email, vat_code } = await readChanges(c, receiptSettings)
      await saveSettings(
        s,
        c.get('actor'),
        given({
          RECEIPT_MODE: mode,
          RECEIPT_EMAIL: email,
          VAT_CODE: vat_code?.toString(),
        }),
      )
      return c.json(receiptsView(readSettings(s)))
    })
}
