/** Backup and restore of the whole installation, as an admin asks for them. */
import { raiseWantedGeneration } from '#db/bot-state.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import type { Alert } from '#src/domain/notify/alert-texts.ts'
import { alert, alertOthers } from '#src/domain/notify/alerts.ts'
import { awaitBotRestart } from '#src/domain/notify/bot-restart.ts'
import { emitToFormer } from '#src/domain/notify/event-delivery.ts'
import { emitTicked, securityData } from '#src/domain/notify/events.ts'
import type { AlertMessage } from '#src/domain/notify/messages.ts'
import { readSettings } from '#src/domain/settings.ts'
import type { PassphraseKey } from '#src/lib/passphrase-key.ts'
import { fileStamp, formatTimestamp } from '#src/lib/time.ts'
import type { RestoreOutcome } from '#src/ports/data-files.ts'
import type { Services } from '#src/services.ts'

/** How the names of archives end. */
export const archiveSuffix = (isEncrypted: boolean) => (isEncrypted ? '.tar.gz.enc' : '.tar.gz')

/** The name of an archive of this moment: `backup-YYYYMMDD-HHMMSS.tar.gz`, UTC, with `.enc` behind it when it is encrypted. */
export const backupName = (at: Date, isEncrypted: boolean): string =>
  `backup-${fileStamp(at)}${archiveSuffix(isEncrypted)}`

/** An archive of database and env file as they are now, packed as it is read, and encrypted where there is a key. */
export async function downloadBackup(
  s: Pick<Services, 'db' | 'clock' | 'config' | 'dataFiles'>,
  actor: Actor,
  key: PassphraseKey | null,
): Promise<{ name: string; stream: ReadableStream<Uint8Array> }> {
  const now = s.clock.now()
  const at = formatTimestamp(now)
  await s.db.tx(function* (tx) {
    yield* audit(tx, actor, at, { action: 'backup.download' })
    yield* alert(tx, s, at, { about: 'backup-downloaded', ...actor })
    yield* emitTicked(tx, s, at, 'backup.downloaded', securityData(actor))
  })
  return { name: backupName(now, key !== null), stream: await s.dataFiles.pack(now, key) }
}

type Deps = Pick<
  Services,
  | 'db'
  | 'clock'
  | 'config'
  | 'log'
  | 'dataFiles'
  | 'eventSender'
  | 'nodeSync'
  | 'background'
  | 'seenDevices'
  | 'writeKnownHosts'
>

/**
 * Puts an archive in place of the present data, opened by its passphrase where it has one. Everything is checked before anything changes (400); then the rows change in one
 * transaction, all sessions end, no client is removed from a node until an admin forces it, and the bot begins anew where its
 * settings may be others. Throws 401 when the session that asks has ended meanwhile.
 */
export async function restoreBackup(
  s: Deps,
  actor: Actor & { sessionId: number | null },
  archive: string,
  passphrase: string | null,
): Promise<RestoreOutcome & { restartedBot: boolean }> {
  const tokenBefore = readSettings(s).text('BOT_TOKEN')
  s.seenDevices.flush()
  const request = { at: s.clock.now(), ...actor, passphrase, message: restoredMessage(actor) }
  const outcome = await s.dataFiles.restore(archive, request, () => readSettings(s).live)
  await s.db.refresh()
  s.log.warn('a backup was restored', {
    by: actor.admin,
    copies: outcome.safetyCopies.join(' '),
    reviews: outcome.reviews,
  })
  await s.writeKnownHosts()
  s.background.run('sync after a restore', () =>
    s.nodeSync.syncAll({ force: false, remove: false }),
  )
  const tellFormer = await tellOfRestore(s, actor, outcome)
  s.background.run('the former webhook of a restore', tellFormer)
  const concernsBot = outcome.restoredEnv || readSettings(s).text('BOT_TOKEN') !== tokenBefore
  return { ...outcome, restartedBot: concernsBot && (await restartBot(s)) }
}

/** What admins are told of a restore. */
export const restoredMessage = ({ admin, ip }: Actor): AlertMessage & { payload: Restored } => ({
  kind: 'alert',
  payload: { about: 'restored', admin, ip },
})

type Restored = Extract<Alert, { about: 'restored' }>

/**
 * Tells those whom the restored settings name, and their webhook; who was alerted before it is told by the restore itself. Gives
 * what tells the webhook of before, where that is another one: at most 10 s.
 */
export async function tellOfRestore(
  s: Pick<Services, 'db' | 'clock' | 'config' | 'eventSender'>,
  actor: Actor,
  { alerted, formerReceiver, passphraseTaken }: RestoreOutcome,
): Promise<() => Promise<void>> {
  const at = formatTimestamp(s.clock.now())
  const data = securityData(actor)
  const send = await s.db.tx(function* (tx) {
    const { payload } = restoredMessage(actor)
    const what = passphraseTaken ? { ...payload, passphraseTaken } : payload
    yield* alertOthers(tx, s, at, alerted, what)
    yield* emitTicked(tx, s, at, 'backup.restored', data)
    if (!formerReceiver) return null
    return yield* emitToFormer(tx, s, at, formerReceiver, { event: 'backup.restored', data })
  })
  return async () => {
    await send?.()
  }
}

async function restartBot(s: Pick<Services, 'db' | 'clock'>): Promise<boolean> {
  const generation = await s.db.tx(raiseWantedGeneration)
  return awaitBotRestart(s, generation)
}
