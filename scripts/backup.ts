/** `npm run backup -- [FILE]`: an archive of database and env file, also while the service runs. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import * as v from 'valibot'
import type { Store } from '#db/engine/store.ts'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { backupName } from '#src/domain/installation/backup.ts'
import { createDataFiles } from '#src/integrations/files/data-files.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { syncFolder } from '#src/lib/atomic-file.ts'
import { systemClock } from '#src/lib/clock.ts'
import { errorCode } from '#src/lib/errors.ts'
import { silentLog } from '#src/lib/log.ts'
import { newPassphrase } from '#src/lib/new-passphrase.ts'
import {
  derivePassphraseKey,
  type PassphraseKey,
  parsePassphraseKey,
} from '#src/lib/passphrase-key.ts'
import { readArguments, requireStore, runCommand, UsageError } from './operator.ts'
import { readPassphrase } from './passphrase.ts'

const USAGE = `usage: npm run backup -- [FILE] [--encrypt | --plain]
  FILE        where the archive goes; - is stdout (with npm run --silent); by default backup-<date>-<time>.tar.gz in this folder
  --encrypt   encrypts it to a passphrase that is asked for (or read from stdin, or from the file BACKUP_PASSPHRASE_FILE)
  --plain     does not encrypt it, although the panel has a passphrase for backups
Without either it is encrypted to the panel's passphrase, where there is one; an encrypted archive is named .tar.gz.enc.
Run it where the service runs, as its user. The archive opens everything that the service knows: keep it where only you read.
`

/** The key that the archive is encrypted with; null for none. */
async function keyFor(
  config: Config,
  store: Store,
  given: Set<string>,
): Promise<PassphraseKey | null> {
  if (given.has('--plain')) return null
  if (given.has('--encrypt')) {
    const passphrase = v.safeParse(newPassphrase, await readPassphrase(config, { isNew: true }))
    if (!passphrase.success) throw new ConfigError(`the passphrase ${passphrase.issues[0].message}`)
    return derivePassphraseKey(passphrase.output)
  }
  const own = await store.read('backup_key')
  return own === undefined ? null : parsePassphraseKey(own)
}

async function writeAll(stream: ReadableStream<Uint8Array>, file: number): Promise<void> {
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at)
  }
}

/** Opens a new file of the owner, never one that somebody else has put there. Throws ConfigError where this user may not write. */
function openNew(path: string): number {
  try {
    // What a killed backup has left.
    rmSync(path, { force: true })
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if (!/^(?:EACCES|EPERM|EROFS|ENOENT)$/.test(errorCode(error) ?? '')) throw error
    throw new ConfigError(
      `${dirname(path)} is no folder that this user can write to: name a FILE elsewhere (npm run backup -- FILE)`,
    )
  }
}

/** Writes the archive so that a file of that name is a whole one. */
async function writeFile(
  pack: () => Promise<ReadableStream<Uint8Array>>,
  path: string,
): Promise<void> {
  const temporary = `${path}.part`
  const file = openNew(temporary)
  try {
    await writeAll(await pack(), file)
    fsyncSync(file)
    renameSync(temporary, path)
    syncFolder(dirname(path))
  } finally {
    closeSync(file)
    rmSync(temporary, { force: true })
  }
}

await runCommand(async () => {
  const { word, given } = readArguments(USAGE, ['--encrypt', '--plain'])
  if (given.size > 1) throw new UsageError(USAGE)
  const config = loadConfig(process.env, process.cwd(), GATEWAYS)
  const store = await requireStore(config)
  const now = systemClock.now()
  const key = await keyFor(config, store, given)
  const path = resolve(word ?? backupName(now, key !== null))
  if (word !== '-' && existsSync(path)) throw new ConfigError(`${path} is there already`)
  const pack = () => createDataFiles({ config, log: silentLog }).pack(now, key)
  if (word === '-') await writeAll(await pack(), 1)
  else {
    await writeFile(pack, path)
    process.stdout.write(`${path}\n`)
  }
  return 0
})
