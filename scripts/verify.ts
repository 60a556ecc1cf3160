/** `npm run verify`: whether what must always hold does, in the database, a backup, and on the nodes (docs/reliability.md). */
import { closeSync, existsSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { storeAt } from '#db/engine/open.ts'
import { withConnection } from '#db/engine/sqlite/snapshot.ts'
import { sqliteStore } from '#db/engine/sqlite/store.ts'
import type { Store } from '#db/engine/store.ts'
import { rebuild, UploadRefused, wrongValues } from '#db/upload.ts'
import { createCores, createHostFile } from '#src/compose.ts'
import { type Config, ConfigError, loadConfig } from '#src/config.ts'
import { compareNodes } from '#src/domain/installation/verify.ts'
import {
  ArchiveRefused,
  isEncryptedArchive,
  unpackArchive,
} from '#src/integrations/files/archive.ts'
import { GATEWAY_IDS, GATEWAYS } from '#src/integrations/payments/index.ts'
import { systemClock } from '#src/lib/clock.ts'
import { createLog } from '#src/lib/log.ts'
import { DAY_MS, timestampBefore } from '#src/lib/time.ts'
import { readArguments, requireStore, runCommand } from './operator.ts'
import { readPassphrase } from './passphrase.ts'

const USAGE = `usage: npm run verify -- [FILE] [--nodes] [--rebuild]
  FILE      a database or a backup to look at instead of the service's database. The passphrase of an encrypted backup is asked for
            (or read from stdin, or from the file BACKUP_PASSPHRASE_FILE)
  --nodes   asks the nodes too whether they have exactly the clients that they should
  --rebuild makes what lists and statistics are counted by anew first; changes wait meanwhile, some seconds for 100,000 users
Prints a line for every row that is not as it must be; exit code 1 when there is one.
`

/** Messages are kept for 30 days after they are done; a day less, because the cleanup is not to the second. */
const RETENTION_MS = 29 * DAY_MS

const MAX_VALUES = 20

const since = () => timestampBefore(systemClock.now(), RETENTION_MS)

/** The values in a file of SQLite for which no backup of it could be restored. */
const wrongValuesOf = (database: string) =>
  withConnection(database, (raw) => [
    ...wrongValues(raw, GATEWAY_IDS)
      .take(MAX_VALUES)
      .map(
        ({ table, column, rowid }) =>
          `I8 no restore would take it: the column ${column} of ${table} where rowid = ${rowid}`,
      ),
  ])

/** What is wrong in a database in a file. */
const faultsOf = async (database: string) => [
  ...(await sqliteStore(database).faults(since())),
  ...wrongValuesOf(database),
]

/** Runs `work` with a folder that is gone afterwards. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-verify-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What is wrong in a database on a server, which is copied for it as for a backup. */
const faultsOnServer = (store: Store) =>
  inFolder(async (folder) => {
    const copy = join(folder, 'panel.db')
    await store.copyInto(copy)
    return [...(await store.faults(since())), ...wrongValuesOf(copy)]
  })

/** Unpacks a backup and takes it in as a restore would. */
const faultsOfArchive = (archive: string, passphrase: string | null) =>
  inFolder(async (folder) => {
    const [uploaded, clean] = [join(folder, 'uploaded.db'), join(folder, 'clean.db')]
    try {
      await unpackArchive(archive, uploaded, Number.MAX_SAFE_INTEGER, passphrase)
      rebuild(uploaded, clean, GATEWAY_IDS)
      await sqliteStore(clean).rebuildFacts()
      return await faultsOf(clean)
    } catch (error) {
      if (error instanceof ArchiveRefused || error instanceof UploadRefused) return [error.message]
      throw error
    }
  })

/** What a file is by its first bytes: sqlite.org/fileformat2.html, RFC 1952. */
function kindOf(path: string): 'archive' | 'encrypted' | 'database' | null {
  if (isEncryptedArchive(path)) return 'encrypted'
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(16)
    readSync(file, head)
    if (head[0] === 0x1f && head[1] === 0x8b) return 'archive'
    return head.toString('latin1') === 'SQLite format 3\0' ? 'database' : null
  } finally {
    closeSync(file)
  }
}

async function faultsIn(config: Config, path: string): Promise<string[]> {
  if (!existsSync(path)) throw new ConfigError(`there is no file ${path}`)
  const kind = kindOf(path)
  if (kind === null) throw new ConfigError(`${path} is neither a backup nor a database`)
  if (kind === 'database') return faultsOf(path)
  const passphrase = kind === 'encrypted' ? await readPassphrase(config, { isNew: false }) : null
  return faultsOfArchive(path, passphrase)
}

async function faultsOnNodes(config: Config): Promise<string[]> {
  const db = await (await storeAt(config)).connect()
  const clock = systemClock
  const log = createLog(config.logLevel, clock.now, (line) => process.stderr.write(`${line}\n`))
  const writeKnownHosts = createHostFile({ config, db, clock, log, fatal: () => {} })
  const cores = createCores({ config, db, clock, log, writeKnownHosts })
  try {
    return await compareNodes({ db, clock, cores })
  } finally {
    cores.close()
    db.close()
  }
}

/** What is wrong in the service's own database. */
async function ownFaults(config: Config): Promise<string[]> {
  const store = await requireStore(config)
  return config.databaseUrl === null ? faultsOf(config.databasePath) : faultsOnServer(store)
}

async function rebuildFactsOf(store: Store): Promise<void> {
  if (!(await store.isPresentForm())) {
    throw new ConfigError(
      'the database has the form of another version: a start of the service brings an older one up to date, and makes all this anew',
    )
  }
  await store.rebuildFacts()
}

await runCommand(async () => {
  const { word, given } = readArguments(USAGE, ['--nodes', '--rebuild'])
  const config = loadConfig(process.env, process.cwd(), GATEWAYS)
  const path = word === undefined ? null : resolve(word)
  if (given.has('--rebuild')) {
    if (path !== null) throw new ConfigError("--rebuild is for the service's own database")
    await rebuildFactsOf(await storeAt(config))
  }
  const faults = path === null ? await ownFaults(config) : await faultsIn(config, path)
  if (given.has('--nodes')) faults.push(...(await faultsOnNodes(config)))
  process.stdout.write(faults.length === 0 ? 'all is well\n' : `${faults.join('\n')}\n`)
  return faults.length === 0 ? 0 : 1
})
