/** Backup and restore of the whole installation, as an admin asks for them. */
import { raiseWantedGeneration } from '#db/bot-state.ts'
import { fileStamp, formatTimestamp } from '#src/lib/time.ts'
import type { RestoreOutcome, Services } from '#src/services.ts'
import { alert } from './alerts.ts'
import { type Actor, audit } from './audit.ts'
import { awaitBotRestart } from './bot-restart.ts'
import { readSettings } from './settings.ts'

/** The name of an archive of this moment: `backup-YYYYMMDD-HHMMSS.tar.gz`, UTC. */
export const backupName = (at: Date): string => `backup-${fileStamp(at)}.tar.gz`

/** An archive of database and env file as they are now, packed as it is read. */
export async function downloadBackup(
  s: Pick<Services, 'db' | 'clock' | 'config' | 'dataFiles'>,
  actor: Actor,
): Promise<{ name: string; stream: ReadableStream<Uint8Array> }> {
  const now = s.clock.now()
  const at = formatTimestamp(now)
  await s.db.tx(function* (tx) {
    yield* audit(tx, actor, at, { action: 'backup.download' })
    yield* alert(tx, s, at, { about: 'backup-downloaded', ...actor })
  })
  return { name: backupName(now), stream: await s.dataFiles.pack(now) }
}

type Deps = Pick<
  Services,
  | 'db'
  | 'clock'
  | 'config'
  | 'log'
  | 'dataFiles'
  | 'nodeSync'
  | 'background'
  | 'seenDevices'
  | 'writeKnownHosts'
>

/**
 * Puts an archive in place of the present data. Everything is checked before anything changes (400); then the rows change in one
 * transaction, all sessions end, no client is removed from a node until an admin forces it, and the bot begins anew where its
 * settings may be others. Throws 401 when the session that asks has ended meanwhile.
 */
export async function restoreBackup(
  s: Deps,
  actor: Actor & { sessionId: number | null },
  archive: string,
): Promise<RestoreOutcome & { restartedBot: boolean }> {
  const tokenBefore = readSettings(s).text('BOT_TOKEN')
  s.seenDevices.flush()
  const outcome = await s.dataFiles.restore(archive, { at: s.clock.now(), ...actor })
  s.log.warn('a backup was restored', {
    by: actor.admin,
    copies: outcome.safetyCopies.join(' '),
    reviews: outcome.reviews,
  })
  await s.writeKnownHosts()
  s.background.run('sync after a restore', () =>
    s.nodeSync.syncAll({ force: false, remove: false }),
  )
  const { admin, ip } = actor
  const at = formatTimestamp(s.clock.now())
  await s.db.tx((tx) => alert(tx, s, at, { about: 'restored', admin, ip }))
  const concernsBot = outcome.restoredEnv || readSettings(s).text('BOT_TOKEN') !== tokenBefore
  return { ...outcome, restartedBot: concernsBot && (await restartBot(s)) }
}

async function restartBot(s: Pick<Services, 'db' | 'clock'>): Promise<boolean> {
  const generation = await s.db.tx(raiseWantedGeneration)
  return awaitBotRestart(s, generation)
}
