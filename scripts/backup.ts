/** `npm run backup [-- FILE]`: an archive of database and env file, also while the service runs. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, loadConfig } from '#src/config.ts'
import { backupName } from '#src/domain/backup.ts'
import { createDataFiles } from '#src/integrations/data-files.ts'
import { syncFolder } from '#src/lib/atomic-file.ts'
import { systemClock } from '#src/lib/clock.ts'
import { errorCode } from '#src/lib/errors.ts'
import { silentLog } from '#src/lib/log.ts'
import { readArguments, requireDatabase, runCommand } from './operator.ts'

const USAGE = `usage: npm run backup [-- FILE]
  FILE   where the archive goes; - is stdout (with npm run --silent); by default backup-<date>-<time>.tar.gz in this folder
Run it where the service runs, as its user. The archive opens everything that the service knows: keep it where only you read.
`

async function writeAll(stream: ReadableStream<Uint8Array>, file: number): Promise<void> {
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at)
  }
}

/** Opens a new file of the owner. Throws ConfigError where this user may not write. */
function openNew(path: string): number {
  try {
    return openSync(path, 'w', 0o600)
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
  const { word } = readArguments(USAGE)
  const config = loadConfig(process.env, process.cwd())
  requireDatabase(config.databasePath)
  const now = systemClock.now()
  const path = resolve(word ?? backupName(now))
  if (word !== '-' && existsSync(path)) throw new ConfigError(`${path} is there already`)
  const pack = () => createDataFiles({ config, log: silentLog }).pack(now)
  if (word === '-') await writeAll(await pack(), 1)
  else {
    await writeFile(pack, path)
    process.stdout.write(`${path}\n`)
  }
  return 0
})
