/** The download of a backup, and the upload that restores one. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { backupName, downloadBackup, restoreBackup } from '#src/domain/installation/backup.ts'
import { backupKey } from '#src/domain/installation/backup-passphrase.ts'
import { newPassphrase } from '#src/lib/new-passphrase.ts'
import { derivePassphraseKey, type PassphraseKey } from '#src/lib/passphrase-key.ts'
import { loginOf, requireConfirmed } from '../auth.ts'
import type { AppEnv, Context, Http } from '../context.ts'
import { receiveForm } from '../multipart.ts'
import { readJson } from '../validate.ts'

/** A passphrase for one backup alone. */
export const oneBackup = v.object({ passphrase: newPassphrase })

const FORM = { file: 'file', texts: ['passphrase'] } as const

const headersOf = (name: string, isEncrypted: boolean) => ({
  'Content-Type': isEncrypted ? 'application/octet-stream' : 'application/gzip',
  'Content-Disposition': `attachment; filename="${name}"`,
})

async function answerBackup(s: Http, c: Context, key: PassphraseKey | null): Promise<Response> {
  c.env?.unhurried?.()
  const { name, stream } = await downloadBackup(s, c.get('actor'), key)
  return new Response(stream, { headers: headersOf(name, key !== null) })
}

export function backupRoutes(s: Http) {
  return new Hono<AppEnv>()
    .use(async (c, next) => {
      // Before an upload is read.
      requireConfirmed(c)
      await next()
    })
    .get('/', async (c) => {
      const key = backupKey(s)
      if (c.req.raw.method === 'HEAD') {
        // Nobody has to copy the database for it.
        const isEncrypted = key !== null
        const headers = headersOf(backupName(s.clock.now(), isEncrypted), isEncrypted)
        return new Response(null, { headers })
      }
      return answerBackup(s, c, key)
    })
    .post('/', async (c) => {
      const { passphrase } = await readJson(c, oneBackup)
      const key = await s.hashing(() => derivePassphraseKey(passphrase))
      return answerBackup(s, c, key)
    })
    .post('/restore', async (c) => {
      const { sessionId, actor } = loginOf(c)
      c.env?.unhurried?.()
      const outcome = await s.dataFiles.withUpload(
        (write) => receiveForm(c.req.raw, FORM, s.config.restoreMaxBytes, write),
        (archive, { passphrase }) =>
          restoreBackup(s, { ...actor, sessionId }, archive, passphrase || null),
      )
      return c.json({
        ok: true,
        restored_db: true,
        restored_env: outcome.restoredEnv,
        restart_needed: outcome.restartNeeded,
        dropped: outcome.dropped,
        kept: outcome.kept,
        safety_copies: outcome.safetyCopies,
        reviews: outcome.reviews,
        restarted_bot: outcome.restartedBot,
        ...(outcome.passphraseTaken && { passphrase_taken: true as const }),
      })
    })
}
