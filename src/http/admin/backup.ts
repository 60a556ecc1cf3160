/** The download of a backup, and the upload that restores one. */
import { Hono } from 'hono'
import { backupName, downloadBackup, restoreBackup } from '#src/domain/backup.ts'
import { loginOf } from '../auth.ts'
import type { AppEnv, Http } from '../context.ts'
import { receiveFile } from '../multipart.ts'

const headersOf = (name: string) => ({
  'Content-Type': 'application/gzip',
  'Content-Disposition': `attachment; filename="${name}"`,
})

export function backupRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/', async (c) => {
      if (c.req.raw.method === 'HEAD') {
        // Nobody has to copy the database for it.
        return new Response(null, { headers: headersOf(backupName(s.clock.now())) })
      }
      const { name, stream } = await downloadBackup(s, c.get('actor'))
      return new Response(stream, { headers: headersOf(name) })
    })
    .post('/restore', async (c) => {
      const { sessionId, actor } = loginOf(c)
      const outcome = await s.dataFiles.withUpload(
        (write) => receiveFile(c.req.raw, 'file', s.config.restoreMaxBytes, write),
        (archive) => restoreBackup(s, { ...actor, sessionId }, archive),
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
      })
    })
}
