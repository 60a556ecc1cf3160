/** Which database belongs to which env file: first start, later starts, and the refusals between them. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { type Database, openDatabase } from '#db/open.ts'
import { findInstanceId, putInstanceId } from '#db/settings.ts'
import { type Config, ConfigError } from './config.ts'
import { parseEnvFile, setEnvLine } from './lib/env-file.ts'
import { randomUuid } from './lib/random.ts'

const HEADER = `# Settings of Subpanel, read at its start; the process's own environment wins over this file.
# docs/deploying.md lists every name. What the panel changes is kept in the database.
`

/** Replaces a file so that a crash leaves the old or the new text, owner-only. */
function writeFileAtomic(path: string, text: string): void {
  const temporary = `${path}.new`
  const file = openSync(temporary, 'w', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  renameSync(temporary, path)
  const directory = openSync(dirname(path), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

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
      'Put the right data folder back, or start once with --init to go on with what is there',
  )
}

/**
 * Opens the database of this installation and makes env file and database agree on their INSTANCE_ID. Throws ConfigError when
 * the env file names an instance that is not this database's, unless `init`. Call it inside `withStartLock`.
 */
export async function openInstance(
  config: Config,
  options: { init: boolean; now: Date },
): Promise<{ db: Database; instanceId: string }> {
  const { databasePath, envInstanceId } = config
  if (!existsSync(databasePath) && envInstanceId !== '' && !options.init) {
    refuse(config, `${databasePath} does not exist`)
  }
  const db = openDatabase(databasePath, options)
  try {
    const known = await findInstanceId(db)
    if (known !== undefined && envInstanceId !== '' && known !== envInstanceId && !options.init) {
      refuse(config, `${databasePath} belongs to instance ${known}`)
    }
    const instanceId = known ?? randomUuid()
    if (known === undefined) await db.tx((tx) => putInstanceId(tx, instanceId))
    if (envInstanceId !== instanceId) writeEnvFile(config, instanceId)
    return { db, instanceId }
  } catch (error) {
    db.close()
    throw error
  }
}
