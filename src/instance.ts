/** Which database belongs to which env file: first start, later starts, and the refusals between them. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from '#db/engine/database.ts'
import { isBusy, isDamage, isFull, isOfDatabase } from '#db/engine/failures.ts'
import { storeAt } from '#db/engine/open.ts'
import type { Store, StorePlace } from '#db/engine/store.ts'
import { getInstance, nameInstance } from '#db/instance.ts'
import { type Config, ConfigError } from './config.ts'
import { writeFileAtomic } from './lib/atomic-file.ts'
import { parseEnvFile, setEnvLine } from './lib/env-file.ts'
import { errorCode, errorMessage } from './lib/errors.ts'
import { fromPending } from './lib/pending-env.ts'
import { randomUuid } from './lib/random.ts'

const HEADER = `# Settings of Subpanel, read at its start; the process's own environment wins over this file.
# docs/deploying.md lists every name. What the panel changes is kept in the database.
`

/** Writes INSTANCE_ID, and a developer's default domains, into the env file, keeping its other lines. */
function writeEnvFile(config: Config, instanceId: string): void {
  const text = existsSync(config.envFile) ? readFileSync(config.envFile, 'utf8') : HEADER
  const values: Record<string, string> = { INSTANCE_ID: instanceId }
  if (config.defaultDomains) {
    values.SUB_DOMAIN = config.domains.sub
    values.SITE_DOMAIN = config.domains.site
    values.PANEL_DOMAIN = config.domains.panel
    if (!('PUBLIC_SCHEME' in parseEnvFile(text))) values.PUBLIC_SCHEME = config.publicScheme
  }
  const next = Object.entries(values).reduce(
    (sum, [key, value]) => setEnvLine(sum, key, value),
    text,
  )
  if (next !== text || !existsSync(config.envFile)) writeFileAtomic(config.envFile, next)
}

function refuse(config: Config, found: string): never {
  throw new ConfigError(
    `${config.envFile} belongs to instance ${config.envInstanceId}, but ${found}. ` +
      'Put the right data folder back, or start once with --init to go on with what is there (a new, empty service where nothing is)',
  )
}

/** Makes the folders of data, database and env file, owner-only. Throws ConfigError naming the setting that is at fault. */
export function makeFolders(config: Config): void {
  const folders = {
    DATA_DIR: config.dataDir,
    ...(config.databaseUrl === null && { DATABASE_URL: dirname(config.databasePath) }),
    ENV_FILE: dirname(config.envFile),
  }
  for (const [key, folder] of Object.entries(folders)) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw new ConfigError(`${key} needs the folder ${folder}: ${errorMessage(error)}`)
    }
  }
}

/** What to do where the shop has gone from this file. */
export const movedFrom = ({ name }: Store): string =>
  `the shop went from ${name} to a server (npm run move): set DATABASE_URL to it. What the file had then is in ${name}.moved-…`

/** Refuses a database that the env file does not belong to, before anything in it is touched. */
function checkOwner(config: Config, { name }: Store, known: string | undefined): void {
  const { envInstanceId } = config
  if (envInstanceId === '' || known === envInstanceId) return
  refuse(
    config,
    known === undefined ? `${name} has no INSTANCE_ID` : `${name} belongs to instance ${known}`,
  )
}

/**
 * Writes the env file of a restore whose process was killed between its commit and that. True when it did: settings must be read
 * anew. Call it before `openInstance`.
 */
export async function completeRestore(
  config: StorePlace & Pick<Config, 'envFile'>,
): Promise<boolean> {
  const store = await storeAt(config)
  return store.withStartLock(async () => {
    const pending = await store.read('pending_env')
    const text = fromPending(config, pending)
    if (pending === undefined || text === undefined) return false
    writeFileAtomic(config.envFile, text)
    await store.forget('pending_env', pending)
    return true
  })
}

/**
 * Opens the database of this installation and makes env file and database agree on their INSTANCE_ID. Throws ConfigError when
 * the env file names an instance that is not this database's, unless `init`. Call it inside the store's `withStartLock`.
 */
export async function openInstance(
  config: Config,
  store: Store,
  options: { init: boolean; now: Date },
): Promise<{ db: Database; rebuiltEnvFile: boolean }> {
  const { envInstanceId } = config
  const state = await store.state()
  if (state === 'moved' && !options.init) throw new ConfigError(movedFrom(store))
  if (envInstanceId !== '' && !options.init) {
    if (state === 'missing') refuse(config, `${store.name} does not exist`)
    // Even opening a file would throw away a write-ahead log that lies beside it.
    if (state === 'empty') refuse(config, `${store.name} is empty`)
    if (state === "nobody's") checkOwner(config, store, undefined)
  }
  const db = await store.open({
    now: options.now,
    accept: (instanceId) => {
      if (!options.init) checkOwner(config, store, instanceId)
    },
  })
  try {
    const known = getInstance(db).instanceId
    const instanceId = known ?? randomUuid()
    if (known === null) await db.tx((tx) => nameInstance(tx, instanceId))
    const rebuiltEnvFile = known !== null && !existsSync(config.envFile)
    if (envInstanceId !== instanceId) writeEnvFile(config, instanceId)
    return { db, rebuiltEnvFile }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Why a start failed: a line for the operator and the exit code. Null for a fault of the program. */
export function explainFailure(error: unknown): { line: string; exit: number } | null {
  const reason = errorMessage(error).replace(/\s+/g, ' ')
  const code = errorCode(error) ?? ''
  if (error instanceof ConfigError) return { line: reason, exit: 1 }
  if (isDamage(error)) {
    return { line: `the database is damaged: ${reason} (docs/reliability.md)`, exit: 70 }
  }
  if (isFull(error) || code === 'ENOSPC') return { line: 'the disk is full', exit: 1 }
  if (isBusy(error)) return { line: 'another process keeps the database locked', exit: 1 }
  if (isOfDatabase(error) || /^E[A-Z]+$/.test(code)) {
    return { line: reason, exit: 1 }
  }
  return null
}
