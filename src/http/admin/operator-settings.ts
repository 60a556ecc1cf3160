/** Live settings of the operator: who is alerted, the passphrase of backups, two-factor login for all, receipts. */
import * as v from 'valibot'
import { requireSecondFactor } from '#src/domain/accounts/rules.ts'
import { setBackupPassphrase } from '#src/domain/installation/backup-passphrase.ts'
import { saveAlertRecipients } from '#src/domain/notify/alert-settings.ts'
import { readSettings } from '#src/domain/settings.ts'
import { newPassphrase } from '#src/lib/new-passphrase.ts'
import type { LiveSetting } from '#src/settings/setting.ts'
import { adminOperations, operation } from '../operation.ts'
import { backupSettings } from '../schemas/settings.ts'
import { formOf, saveForm } from '../settings-form.ts'
import { backupView } from '../settings-views.ts'

/** `null` ends the encryption. */
const backupBody = v.object({ passphrase: v.nullable(newPassphrase) })

export function operatorSettingsOperations(own: readonly LiveSetting[]) {
  const alerts = formOf(own, 'alerts')
  const security = formOf(own, 'security')
  const receipts = formOf(own, 'receipts')
  return adminOperations('Settings', [
    operation(
      {
        method: 'get',
        path: '/settings/alerts',
        scope: 'settings:read',
        summary: 'Who is alerted',
        ok: alerts.shown,
      },
      ({ s }) => alerts.view(readSettings(s)),
    ),
    operation(
      {
        method: 'post',
        path: '/settings/alerts',
        scope: 'settings:write',
        summary: 'Change who is alerted',
        confirmed: true,
        body: v.object(alerts.given),
        changes: true,
        ok: alerts.shown,
      },
      async ({ s, actor, body }) => {
        const { admin_tg_ids = [] } = await body()
        await saveAlertRecipients(s, actor, [...new Set(admin_tg_ids)])
        return alerts.view(readSettings(s))
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
        ok: security.shown,
      },
      ({ s }) => security.view(readSettings(s)),
    ),
    operation(
      {
        method: 'post',
        path: '/settings/security',
        scope: 'admins:write',
        summary: 'Require two-factor login of all admins, or of none',
        confirmed: true,
        body: v.object({ require_2fa: security.given.require_2fa.wrapped }),
        ok: security.shown,
      },
      async ({ s, login, body }) => {
        const { require_2fa } = await body()
        await requireSecondFactor(s, login, require_2fa)
        return security.view(readSettings(s))
      },
    ),
    operation(
      {
        method: 'get',
        path: '/settings/receipts',
        scope: 'settings:read',
        summary: 'What receipts of payments say',
        ok: receipts.shown,
      },
      ({ s }) => receipts.view(readSettings(s)),
    ),
    operation(
      {
        method: 'post',
        path: '/settings/receipts',
        scope: 'settings:write',
        summary: 'Change what receipts of payments say',
        confirmed: true,
        body: v.object(receipts.given),
        changes: true,
        ok: receipts.shown,
      },
      async ({ s, actor, body }) => saveForm(s, actor, receipts, await body()),
    ),
  ])
}
