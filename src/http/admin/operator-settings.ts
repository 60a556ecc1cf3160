/** Live settings of the operator: who is alerted, the passphrase of backups, two-factor login for all, receipts. */
import * as v from 'valibot'
import { requireSecondFactor } from '#src/domain/accounts/rules.ts'
import { setBackupPassphrase } from '#src/domain/installation/backup-passphrase.ts'
import { receiptEmail, receiptMode, vatCode } from '#src/domain/installation/setting-values.ts'
import { saveAlertRecipients } from '#src/domain/notify/alert-settings.ts'
import { readSettings, saveSettings } from '#src/domain/settings.ts'
import { newPassphrase } from '#src/lib/new-passphrase.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag, integer } from '#src/lib/values.ts'
import { adminOperations, operation } from '../operation.ts'
import {
  alertSettings,
  backupSettings,
  receiptSettings,
  securitySettings,
} from '../schemas/settings.ts'
import { alertsView, backupView, receiptsView, securityView } from '../settings-views.ts'

const ids = v.pipe(
  v.array(integer(1, Number.MAX_SAFE_INTEGER), 'must be a list of Telegram ids'),
  v.maxLength(100, 'must have at most 100 ids'),
)
const alertsBody = v.object({ admin_tg_ids: v.optional(ids) })

const receiptsBody = v.object({
  mode: v.optional(receiptMode),
  email: v.optional(receiptEmail),
  vat_code: v.optional(vatCode),
})

/** `null` ends the encryption. */
const backupBody = v.object({ passphrase: v.nullable(newPassphrase) })

export const operatorSettingsOperations = adminOperations('Settings', [
  operation(
    {
      method: 'get',
      path: '/settings/alerts',
      scope: 'settings:read',
      summary: 'Who is alerted',
      ok: alertSettings,
    },
    ({ s }) => alertsView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/alerts',
      scope: 'settings:write',
      summary: 'Change who is alerted',
      confirmed: true,
      body: alertsBody,
      changes: true,
      ok: alertSettings,
    },
    async ({ s, actor, body }) => {
      const { admin_tg_ids = [] } = await body()
      await saveAlertRecipients(s, actor, [...new Set(admin_tg_ids)])
      return alertsView(readSettings(s))
    },
  ),
  operation(
    {
      method: 'get',
      path: '/settings/backup',
      scope: 'settings:read',
      summary: 'Whether backups and snapshots are encrypted',
      ok: backupSettings,
    },
    ({ s }) => backupView(s),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/backup',
      scope: 'backup:write',
      summary: 'Encrypt backups and snapshots to a passphrase from now on; null ends it',
      confirmed: true,
      body: backupBody,
      ok: backupSettings,
    },
    async ({ s, login, body }) => {
      const { passphrase } = await body()
      await setBackupPassphrase(s, login, passphrase)
      return backupView(s)
    },
  ),
  operation(
    {
      method: 'get',
      path: '/settings/security',
      scope: 'settings:read',
      summary: 'Whether all admins need two-factor login',
      ok: securitySettings,
    },
    ({ s }) => securityView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/security',
      scope: 'admins:write',
      summary: 'Require two-factor login of all admins, or of none',
      confirmed: true,
      body: v.object({ require_2fa: flag }),
      ok: securitySettings,
    },
    async ({ s, login, body }) => {
      const { require_2fa } = await body()
      await requireSecondFactor(s, login, require_2fa)
      return securityView(readSettings(s))
    },
  ),
  operation(
    {
      method: 'get',
      path: '/settings/receipts',
      scope: 'settings:read',
      summary: 'What receipts of payments say',
      ok: receiptSettings,
    },
    ({ s }) => receiptsView(readSettings(s)),
  ),
  operation(
    {
      method: 'post',
      path: '/settings/receipts',
      scope: 'settings:write',
      summary: 'Change what receipts of payments say',
      confirmed: true,
      body: receiptsBody,
      changes: true,
      ok: receiptSettings,
    },
    async ({ s, actor, body }) => {
      const { mode, email, vat_code } = await body()
      const changes = {
        RECEIPT_MODE: mode,
        RECEIPT_EMAIL: email,
        VAT_CODE: vat_code?.toString(),
      }
      await saveSettings(s, actor, omitUndefined(changes))
      return receiptsView(readSettings(s))
    },
  ),
])
