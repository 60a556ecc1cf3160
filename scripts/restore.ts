/** `npm run restore -- FILE`: puts a backup in place, on a machine that has nothing yet or beside a running service. */
import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { raiseWantedGeneration } from '#db/bot-state.ts'
import { storeAt } from '#db/engine/open.ts'
import type { Store } from '#db/engine/store.ts'
import { createHostFile } from '#src/compose.ts'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { restoredMessage, tellOfRestore } from '#src/domain/installation/backup.ts'
import { completeRestore, makeFolders, openInstance } from '#src/instance.ts'
import { isEncryptedArchive } from '#src/integrations/files/archive.ts'
import { createDataFiles } from '#src/integrations/files/data-files.ts'
import { presentEnv } from '#src/integrations/files/env-text.ts'
import { createOutbound } from '#src/integrations/outbound.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { createEventSender } from '#src/integrations/webhook.ts'
import { writeFileAtomic } from '#src/lib/atomic-file.ts'
import { systemClock } from '#src/lib/clock.ts'
import { createLog } from '#src/lib/log.ts'
import type { RestoreOutcome } from '#src/ports/data-files.ts'
import { readArguments, runCommand, UsageError } from './operator.ts'
import { readPassphrase } from './passphrase.ts'

const USAGE = `usage: npm run restore -- FILE [--init]
  FILE     an archive of the panel, of npm run backup, or a snapshot. The passphrase of an encrypted one is asked for (or read
           from stdin, or from the file BACKUP_PASSPHRASE_FILE)
  --init   go on although env file and database do not belong together
Run it as the user of the service. On a new machine write its own settings (PORT, TRUSTED_PROXIES, ...) into the env file first or
afterwards: of the archive's only live settings, the three domains and a few more are taken. A running service goes on with the
restored data; what was there before is kept in DATA_DIR/safety.
`

/** Undoes what a refused restore began where there was no shop; `env`: its env file's text, null without one. */
async function removeNew(config: Config, store: Store, env: string | null): Promise<void> {
  if (env === null) rmSync(config.envFile, { force: true })
  else writeFileAtomic(config.envFile, env)
  if (config.databaseUrl === null) {
    for (const suffix of ['', '-wal', '-shm', '.lock', '.restore-lock']) {
      rmSync(config.databasePath + suffix, { force: true })
    }
    return
  }
  // On a server its tables stay, and are nobody's.
  const instanceId = await store.read('instance_id')
  if (instanceId !== undefined) await store.forget('instance_id', instanceId)
}

async function restore(
  config: Config,
  store: Store,
  { archive, passphrase }: { archive: string; passphrase: string | null },
  { init, noteRestored }: { init: boolean; noteRestored: () => void },
): Promise<RestoreOutcome> {
  const now = systemClock.now()
  const log = createLog('info', systemClock.now, (line) => process.stderr.write(`${line}\n`))
  const { db } = await store.withStartLock(() => openInstance(config, store, { init, now }))
  try {
    const actor = { admin: null, ip: 'local' }
    const message = restoredMessage(actor)
    const request = { at: now, ...actor, sessionId: null, passphrase, message }
    const outcome = await createDataFiles({ config, log }).restore(
      archive,
      request,
      () => config.live,
    )
    noteRestored()
    const s = { db, config, clock: systemClock, log }
    const outbound = createOutbound({ denyPrivate: config.outboundDenyPrivate })
    const eventSender = createEventSender({ outbound })
    const tellFormer = await tellOfRestore({ ...s, eventSender }, actor, outcome)
    await db.tx(raiseWantedGeneration)
    await createHostFile({ ...s, fatal: () => {} })()
    await tellFormer()
    return outcome
  } finally {
    db.close()
  }
}

function report(outcome: RestoreOutcome, isNew: boolean): void {
  const lines = [
    'Restored. All admins log in anew; no client is removed from a node until you send the sync with force.',
  ]
  if (!isNew)
    lines.push(`What was there before: ${outcome.safetyCopies.join(' ')} in DATA_DIR/safety`)
  if (outcome.passphraseTaken)
    lines.push('Backups and snapshots are encrypted to this passphrase from now on.')
  if (outcome.reviews > 0)
    lines.push(`Paid payments that the backup does not know, up for review: ${outcome.reviews}`)
  if (outcome.dropped.length > 0)
    lines.push(`Not taken from the backup: ${outcome.dropped.join(' ')}`)
  if (outcome.kept.length > 0)
    lines.push(`Not in the backup's env file, as before here: ${outcome.kept.join(' ')}`)
  if (outcome.restartNeeded.length > 0)
    lines.push(`Count from the next start: ${outcome.restartNeeded.join(' ')}`)
  process.stdout.write(`${lines.join('\n')}\n`)
}

await runCommand(async () => {
  const { word, given } = readArguments(USAGE, ['--init'])
  if (word === undefined) throw new UsageError(USAGE)
  const archive = resolve(word)
  if (!existsSync(archive)) throw new ConfigError(`there is no file ${archive}`)
  let config = loadConfig(process.env, process.cwd(), GATEWAYS)
  const passphrase = isEncryptedArchive(archive)
    ? await readPassphrase(config, { isNew: false })
    : null
  makeFolders(config)
  const store = await storeAt(config)
  const state = await store.state()
  const hasNone = state === 'empty' || state === "nobody's"
  const isNew = state === 'missing' || (hasNone && config.databaseUrl !== null)
  const env = presentEnv(config.envFile, undefined)
  if (await completeRestore(config)) config = loadConfig(process.env, process.cwd(), GATEWAYS)
  let isRestored = false
  try {
    const init = isNew || given.has('--init')
    const noteRestored = () => {
      isRestored = true
    }
    const from = { archive, passphrase }
    report(await restore(config, store, from, { init, noteRestored }), isNew)
  } catch (error) {
    if (isNew && !isRestored) await removeNew(config, store, env)
    throw error
  }
  return 0
})
