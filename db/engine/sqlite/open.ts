/** Opens the database: owner-only files, WAL, migrations under a lock. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { formatTimestamp } from '#src/lib/time.ts'
import { DatabaseRefused } from '../failures.ts'
import { configure } from './configure.ts'
import { damaged, guarded } from './failures.ts'
import { type SqliteDatabase, wrap } from './handle.ts'
import { appliedMigration, isPresentForm, migrate, migrationNumbers } from './migrate.ts'
import { peekInstance } from './peek.ts'

/** How long a statement waits for another process's lock. */
const BUSY_MS = 2000

/** Copies the database beside itself. One copy per migration: a start that fails again and again must not fill the disk. */
function snapshotBefore(raw: Sqlite.Database, path: string, applied: number, now: Date): void {
  const directory = join(dirname(path), 'snapshots')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const prefix = `before-migration-from-${applied}-`
  const earlier = readdirSync(directory).filter((name) => name.startsWith(prefix))
  const temporary = join(directory, 'before-migration.new')
  rmSync(temporary, { force: true })
  raw.prepare('VACUUM INTO ?').run(temporary)
  const name = `${prefix}${formatTimestamp(now).replace(/[-:]/g, '')}.db`
  renameSync(temporary, join(directory, name))
  for (const old of earlier) if (old !== name) rmSync(join(directory, old))
}

/** Throws for a file whose pages are damaged: what is read from it could be anything. */
function checkPages(raw: Sqlite.Database): void {
  // All pages are read, and none is to stay: the cache gets its size after this.
  raw.pragma('cache_size = -2048')
  const found = raw.pragma('quick_check(1)', { simple: true })
  if (found !== 'ok') throw damaged(String(found).replace(/\s+/g, ' '))
}

/** What else must hold of a database that was there before it is touched. Throws DatabaseRefused. */
function examine(raw: Sqlite.Database, path: string, now: Date): void {
  const tables = raw
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all()
  if (tables.length === 0) return
  if (!tables.includes('__drizzle_migrations')) {
    throw new DatabaseRefused(`${path} is the database of another program`)
  }
  const applied = appliedMigration(raw)
  const newest = migrationNumbers().at(-1) ?? 0
  if (applied > newest) {
    throw new DatabaseRefused(
      `${path} was written by a newer version of Subpanel: update the program`,
    )
  }
  if (applied > 0 && applied < newest) snapshotBefore(raw, path, applied, now)
}

/**
 * Runs `work` while no other process of this machine does the same for this database: first starts and migrations.
 * The lock is a second SQLite file, because opening WAL is itself not safe to race.
 */
export async function withStartLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  process.umask(0o077)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = guarded(() => new Sqlite(`${path}.lock`, { timeout: 60_000 }))
  try {
    guarded(() => lock.exec('BEGIN EXCLUSIVE'))
    return await work()
  } finally {
    lock.close()
  }
}

/** Opens a connection and has `prepare` make a handle of it; closed again where that throws. */
function open(
  path: string,
  options: Sqlite.Options,
  prepare: (raw: Sqlite.Database) => void,
): SqliteDatabase {
  return guarded(() => {
    const raw = new Sqlite(path, options)
    try {
      prepare(raw)
      return wrap(raw)
    } catch (error) {
      raw.close()
      throw error
    }
  })
}

/** A handle that only reads, for a thread of its own beside those that write. */
export const openForReading = (path: string): SqliteDatabase =>
  open(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS }, (raw) => {
    raw.pragma('trusted_schema = OFF')
    raw.pragma('cell_size_check = ON')
    raw.pragma('temp_store = MEMORY')
    raw.pragma('cache_size = -32768')
  })

/**
 * Opens a database that another process of the same service has brought to this form, and has open: nothing of it is checked or
 * changed. Throws DatabaseRefused where the program is another one by now.
 */
export const joinDatabase = (path: string): SqliteDatabase =>
  open(path, { fileMustExist: true, timeout: BUSY_MS }, (raw) => {
    if (!isPresentForm(raw)) {
      throw new DatabaseRefused('the program was changed while the service ran: restart it')
    }
    configure(raw)
  })

/**
 * Opens and migrates the database at `path` (`:memory:` in tests). Call it inside `withStartLock`. A database with rows is
 * copied to `DIR/snapshots` before a migration touches it; a damaged one throws its failure, and one that is not ours to
 * change, or whose INSTANCE_ID `accept` refuses, is left as it is.
 */
export function openDatabase(
  path: string,
  options: {
    now: Date
    busyTimeoutMs?: number
    accept?: (instanceId: string | undefined) => void
  },
): SqliteDatabase {
  const existed = path !== ':memory:' && existsSync(path)
  return open(path, { timeout: options.busyTimeoutMs ?? BUSY_MS }, (raw) => {
    if (existed) {
      checkPages(raw)
      options.accept?.(peekInstance(raw, 'instance_id'))
      examine(raw, path, options.now)
    }
    configure(raw)
    // A table that is rebuilt leaves a log of its size, which would stay as long as the process.
    if (migrate(raw)) raw.pragma('wal_checkpoint(TRUNCATE)')
  })
}
