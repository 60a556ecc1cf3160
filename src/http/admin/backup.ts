/** The download of a backup, and the upload that restores one. */
import * as v from 'valibot'
import type { Actor } from '#src/domain/audit.ts'
import { backupName, downloadBackup, restoreBackup } from '#src/domain/installation/backup.ts'
import { backupKey } from '#src/domain/installation/backup-passphrase.ts'
import { newPassphrase } from '#src/lib/new-passphrase.ts'
import { derivePassphraseKey, type PassphraseKey } from '#src/lib/passphrase-key.ts'
import { download } from '../answers.ts'
import type { Context, Http } from '../context.ts'
import { receiveForm } from '../multipart.ts'
import { adminOperations, operation } from '../operation.ts'
import { restored } from '../schemas/stats.ts'

/** A passphrase for one backup alone. */
const oneBackup = v.object({ passphrase: newPassphrase })

const FORM = { file: 'file', texts: ['passphrase'] } as const

const headersOf = (name: string, isEncrypted: boolean) => ({
  'Content-Type': isEncrypted ? 'application/octet-stream' : 'application/gzip',
  'Content-Disposition': `attachment; filename="${name}"`,
})

interface Asked {
  s: Http
  c: Context
  actor: Actor
}

async function answerBackup({ s, c, actor }: Asked, key: PassphraseKey | null): Promise<Response> {
  c.env?.unhurried?.()
  const { name, stream } = await downloadBackup(s, actor, key)
  return new Response(stream, { headers: headersOf(name, key !== null) })
}

export const backupOperations = adminOperations('Data', [
  operation(
    {
      method: 'get',
      path: '/backup',
      scope: 'backup:read',
      summary: 'Download a backup: it opens every node, keep it safe',
      confirmed: true,
      // It copies the database and sends an alert.
      acts: true,
      ok: download('application/gzip', 'application/octet-stream'),
    },
    ({ s, c, actor }) => {
      const key = backupKey(s)
      if (c.req.raw.method === 'HEAD') {
        // Nobody has to copy the database for it.
        const isEncrypted = key !== null
        const headers = headersOf(backupName(s.clock.now(), isEncrypted), isEncrypted)
        return new Response(null, { headers })
      }
      return answerBackup({ s, c, actor }, key)
    },
  ),
  operation(
    {
      method: 'post',
      path: '/backup',
      scope: 'backup:write',
      summary: 'Download a backup that is encrypted to this passphrase',
      confirmed: true,
      body: oneBackup,
      ok: download('application/octet-stream'),
    },
    async ({ s, c, actor, body }) => {
      const { passphrase } = await body()
      const key = await s.hashing(() => derivePassphraseKey(passphrase))
      return answerBackup({ s, c, actor }, key)
    },
  ),
  operation(
    {
      method: 'post',
      path: '/backup/restore',
      scope: 'backup:write',
      summary: 'Put a backup in place of the present data; ends all sessions',
      // Before an upload is read.
      confirmed: true,
      body: 'archive',
      ok: restored,
    },
    async ({ s, c, login: { sessionId, actor } }) => {
      c.env?.unhurried?.()
      const outcome = await s.dataFiles.withUpload(
        (write) => receiveForm(c.req.raw, FORM, s.config.restoreMaxBytes, write),
        (archive, { passphrase }) =>
          restoreBackup(s, { ...actor, sessionId }, archive, passphrase || null),
      )
      return {
        ok: true,
        restored_db: true as const,
        restored_env: outcome.restoredEnv,
        restart_needed: outcome.restartNeeded,
        dropped: outcome.dropped,
        kept: outcome.kept,
        safety_copies: outcome.safetyCopies,
        reviews: outcome.reviews,
        restarted_bot: outcome.restartedBot,
        ...(outcome.passphraseTaken && { passphrase_taken: true as const }),
      }
    },
  ),
])
