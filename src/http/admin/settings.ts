/** Live settings that an admin changes: device limit, bot, brand, webhook, alerts, receipts; and the passphrase of backups. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { requireSecondFactor } from '#src/domain/accounts/rules.ts'
import { setBackupPassphrase } from '#src/domain/installation/backup-passphrase.ts'
import { saveBotToken } from '#src/domain/installation/bot-settings.ts'
import {
  botToken,
  brandHue,
  brandName,
  fallbackLimit,
  optionalEvents,
  receiptEmail,
  receiptMode,
  vatCode,
} from '#src/domain/installation/setting-values.ts'
import { appCatalogue } from '#src/domain/lists/apps.ts'
import { saveAlertRecipients } from '#src/domain/notify/alert-settings.ts'
import { tickedEvents } from '#src/domain/notify/events.ts'
import { rotateWebhookSecret, saveWebhook } from '#src/domain/notify/webhook-settings.ts'
import { readSettings, saveSettings } from '#src/domain/settings.ts'
import { badRequest } from '#src/lib/errors.ts'
import { newPassphrase } from '#src/lib/new-passphrase.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag, integer, line } from '#src/lib/values.ts'
import { loginOf, requireConfirmed } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import {
  alertsView,
  appsView,
  backupView,
  botView,
  brandView,
  hwidView,
  receiptsView,
  securityView,
  webhookView,
} from '../settings-views.ts'
import { readChanges, readJson } from '../validate.ts'

export const hwidSettings = v.strictObject({
  enabled: v.optional(flag),
  fallback_limit: v.optional(fallbackLimit),
})

export const botSettings = v.object({ token: botToken })

export const brandSettings = v.object({
  brand_name: v.optional(brandName),
  brand_hue: v.optional(brandHue),
})

/** `null` brings back the catalogue that comes with the service. */
export const appSettings = v.object({ apps: v.optional(v.nullable(appCatalogue)) })

export const webhookSettings = v.object({
  url: v.optional(line(2048)),
  events: v.optional(optionalEvents),
})

const ids = v.pipe(
  v.array(integer(1, Number.MAX_SAFE_INTEGER), 'must be a list of Telegram ids'),
  v.maxLength(100, 'must have at most 100 ids'),
)
export const alertSettings = v.object({ admin_tg_ids: v.optional(ids) })

export const securitySettings = v.object({ require_2fa: flag })

export const receiptSettings = v.object({
  mode: v.optional(receiptMode),
  email: v.optional(receiptEmail),
  vat_code: v.optional(vatCode),
})

/** `null` ends the encryption. */
export const backupSettings = v.object({ passphrase: v.nullable(newPassphrase) })

export function settingsRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/hwid-settings', (c) => c.json(hwidView(readSettings(s))))
    .post('/hwid-settings', async (c) => {
      const { enabled, fallback_limit } = await readChanges(c, hwidSettings)
      await saveSettings(
        s,
        c.get('actor'),
        omitUndefined({
          HWID_LIMIT_ENABLED: enabled?.toString(),
          HWID_FALLBACK_LIMIT: fallback_limit?.toString(),
        }),
      )
      return c.json(hwidView(readSettings(s)))
    })
    .get('/settings/bot', (c) => c.json(botView(readSettings(s))))
    .post('/settings/bot', async (c) => {
      requireConfirmed(c)
      const { token } = await readJson(c, botSettings)
      return c.json({ ok: true, ...(await saveBotToken(s, c.get('actor'), token)) })
    })
    .get('/settings/brand', (c) => c.json(brandView(readSettings(s))))
    .post('/settings/brand', async (c) => {
      requireConfirmed(c)
      const { brand_name, brand_hue } = await readChanges(c, brandSettings)
      await saveSettings(
        s,
        c.get('actor'),
        omitUndefined({ BRAND_NAME: brand_name, BRAND_HUE: brand_hue?.toString() }),
      )
      return c.json(brandView(readSettings(s)))
    })
    .get('/settings/apps', (c) => c.json(appsView(readSettings(s))))
    .post('/settings/apps', async (c) => {
      requireConfirmed(c)
      const { apps } = await readChanges(c, appSettings)
      await saveSettings(s, c.get('actor'), {
        APP_CATALOGUE: apps ? JSON.stringify(apps) : null,
      })
      return c.json(appsView(readSettings(s)))
    })
    .get('/settings/webhook', (c) => c.json(webhookView(readSettings(s))))
    .post('/settings/webhook', async (c) => {
      requireConfirmed(c)
      const changes = await readJson(c, webhookSettings)
      if (changes.url === undefined && changes.events === undefined) {
        throw badRequest('url is missing or of the wrong type')
      }
      const saved = await saveWebhook(s, c.get('actor'), changes)
      const settings = readSettings(s)
      return c.json({
        ok: true,
        url: changes.url ?? settings.text('WEBHOOK_URL'),
        ...saved,
        ...(changes.events && { events: tickedEvents(settings) }),
      })
    })
    .post('/settings/webhook/rotate-secret', async (c) => {
      requireConfirmed(c)
      return c.json({ ok: true, secret: await rotateWebhookSecret(s, c.get('actor')) })
    })
    .get('/settings/alerts', (c) => c.json(alertsView(readSettings(s))))
    .post('/settings/alerts', async (c) => {
      requireConfirmed(c)
      const { admin_tg_ids = [] } = await readChanges(c, alertSettings)
      await saveAlertRecipients(s, c.get('actor'), [...new Set(admin_tg_ids)])
      return c.json(alertsView(readSettings(s)))
    })
    .get('/settings/backup', (c) => c.json(backupView(s)))
    .post('/settings/backup', async (c) => {
      requireConfirmed(c)
      const { passphrase } = await readJson(c, backupSettings)
      await setBackupPassphrase(s, loginOf(c), passphrase)
      return c.json(backupView(s))
    })
    .get('/settings/security', (c) => c.json(securityView(readSettings(s))))
    .post('/settings/security', async (c) => {
      requireConfirmed(c)
      const { require_2fa } = await readJson(c, securitySettings)
      await requireSecondFactor(s, loginOf(c), require_2fa)
      return c.json(securityView(readSettings(s)))
    })
    .get('/settings/receipts', (c) => c.json(receiptsView(readSettings(s))))
    .post('/settings/receipts', async (c) => {
      requireConfirmed(c)
      const { mode, email, vat_code } = await readChanges(c, receiptSettings)
      await saveSettings(
        s,
        c.get('actor'),
        omitUndefined({
          RECEIPT_MODE: mode,
          RECEIPT_EMAIL: email,
          VAT_CODE: vat_code?.toString(),
        }),
      )
      return c.json(receiptsView(readSettings(s)))
    })
}
