/** Opens the database: owner-only files, WAL, migrations under a lock. Its transactions: db/transactions.ts. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Database } from './database.ts'
import { areFactsKept, dropFactTriggers, rebuildFacts } from './facts.ts'
import { drizzle, readMigrationFiles } from './orm.ts'
import { createSharedReads, createTransactions } from './transactions.ts'
import { TRIGGER_STATEMENTS } from './triggers.ts'

/** A database that this program must leave alone; the message is for the operator. */
export class DatabaseRefused extends Error {}

const MIGRATIONS = join(import.meta.dirname, 'migrations')

/** The table of the migrations, as it has always been. */
export const MIGRATIONS_TABLE =
  '__drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)'

function appliedMigration(raw: Sqlite.Database): number {
  raw.exec(`CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE}`)
  return (raw.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get() ??
    0) as number
}

/** The migrations of this program by their number in `__drizzle_migrations`, oldest first. */
export function migrationNumbers(): number[] {
  return readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(
    (migration) => migration.folderMillis,
  )
}

/** Whether the database has the form that this program works with. Changes nothing. */
export function isPresentForm(raw: Sqlite.Database): boolean {
  const [newest] = raw
    .prepare('SELECT max(created_at) FROM __drizzle_migrations')
    .pluck()
    .all() as (number | null)[]
  return newest === migrationNumbers().at(-1)
}

/** Applies these migrations. Without the triggers of facts: a table that is rebuilt would be missing to them. */
function apply(raw: Sqlite.Database, missing: ReturnType<typeof readMigrationFiles>): void {
  dropFactTriggers(raw)
  for (const migration of missing) {
    for (const statement of migration.sql) raw.exec(statement)
    raw
      .prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)')
      .run(migration.hash, migration.folderMillis)
  }
  if ((raw.pragma('foreign_key_check') as unknown[]).length > 0) {
    throw new Error('a migration left rows that point nowhere: nothing was changed')
  }
}

/**
 * Applies the missing migrations, to the one with the number `upTo` at most, and the triggers in one transaction; facts are made
 * anew after them, and wherever their triggers are not those of this version. Foreign keys are off meanwhile: drizzle-kit rebuilds tables, and with them on the rebuild of a parent
 * deletes its children (drizzle-team/drizzle-orm#4938).
 */
export function migrate(raw: Sqlite.Database, upTo = Number.POSITIVE_INFINITY): void {
  const known = readMigrationFiles({ migrationsFolder: MIGRATIONS })
  const isWhole = upTo >= (known.at(-1)?.folderMillis ?? 0)
  raw.pragma('foreign_keys = OFF')
  raw
    .transaction(() => {
      const last = appliedMigration(raw)
      const missing = known.filter(
        ({ folderMillis }) => folderMillis > last && folderMillis <= upTo,
      )
      if (missing.length > 0) apply(raw, missing)
      for (const statement of TRIGGER_STATEMENTS) raw.exec(statement)
      if (isWhole && !areFactsKept(raw)) rebuildFacts(raw)
    })
    .immediate()
  raw.pragma('foreign_keys = ON')
}

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

/** Throws SQLITE_CORRUPT for a file whose pages are damaged: what is read from it could be anything. */
function checkPages(raw: Sqlite.Database): void {
  // All pages are read, and none is to stay: the cache gets its size after this.
  raw.pragma('cache_size = -2048')
  const found = raw.pragma('quick_check(1)', { simple: true })
  if (found !== 'ok') {
    throw new Sqlite.SqliteError(String(found).replace(/\s+/g, ' '), 'SQLITE_CORRUPT')
  }
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

/** Sets what every connection to the live database must have. */
export function configure(raw: Sqlite.Database): void {
  raw.pragma('journal_mode = WAL')
  // better-sqlite3 re-opens WAL databases with synchronous=NORMAL, which loses acknowledged commits in a power cut.
  raw.pragma('synchronous = FULL')
  raw.pragma('foreign_keys = ON')
  raw.pragma('trusted_schema = OFF')
  raw.pragma('cell_size_check = ON')
  raw.pragma('temp_store = MEMORY')
  // Half of what SQLite would wait for: the commit that finds so many pages in the log takes them into the file, and the thread with it.
  raw.pragma('wal_autocheckpoint = 500')
  // 64 MB, taken as it is needed: what is not in it costs a list fetch 2 µs a page.
  raw.pragma('cache_size = -65536')
}

/**
 * Runs `work` while no other process of this machine does the same for this database: first starts and migrations.
 * The lock is a second SQLite file, because opening WAL is itself not safe to race.
 */
export async function withStartLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  process.umask(0o077)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const lock = new Sqlite(`${path}.lock`, { timeout: 60_000 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return await work()
  } finally {
    lock.close()
  }
}

/** A handle that only reads, for a thread of its own beside those that write. */
export function openForReading(path: string): Database {
  const raw = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: 2000 })
  try {
    raw.pragma('trusted_schema = OFF')
    raw.pragma('cell_size_check = ON')
    raw.pragma('temp_store = MEMORY')
    raw.pragma('cache_size = -32768')
    return wrap(raw)
  } catch (error) {
    raw.close()
    throw error
  }
}

/** Opens the connection that goes through indexes. A database in memory has but one. */
function openScanner(raw: Sqlite.Database): Sqlite.Database {
  if (raw.memory) return raw
  const scanner = new Sqlite(raw.name, { readonly: true })
  scanner.pragma('trusted_schema = OFF')
  scanner.pragma('cell_size_check = ON')
  scanner.pragma('cache_size = -2048')
  return scanner
}

/** Builds each statement once. */
function createStatements() {
  const statements = new Map<unknown, unknown>()
  return <S>(build: unknown, make: () => S): S => {
    let statement = statements.get(build) as S | undefined
    if (statement === undefined) {
      statement = make()
      statements.set(build, statement)
    }
    return statement
  }
}

/** A database handle over an open driver connection. */
export function wrap(raw: Sqlite.Database): Database {
  const db = drizzle({ client: raw })
  const statements = createStatements()
  let scanner: Sqlite.Database | null = null
  const reads = createSharedReads(raw)
  return {
    q: db,
    raw,
    ...createTransactions(raw, db, reads.end),
    shareReads: reads.begin,
    prepared: (build) => statements(build, () => build(db, raw)),
    scanning: (build) =>
      statements(build, () => {
        scanner ??= openScanner(raw)
        return build(scanner)
      }),
    close: () => {
      reads.end()
      scanner?.close()
      if (raw.open) raw.close()
    },
  }
}

/**
 * Opens and migrates the database at `path` (`:memory:` in tests). Call it inside `withStartLock`. A database with rows is
 * copied to `DIR/snapshots` before a migration touches it; a damaged one throws its SQLITE_* error, and one that is not ours to
 * change, or that `accept` refuses, is left as it is.
 */
export function openDatabase(
  path: string,
  options: { now: Date; busyTimeoutMs?: number; accept?: (raw: Sqlite.Database) => void },
): Database {
  const existed = path !== ':memory:' && existsSync(path)
  const raw = new Sqlite(path, { timeout: options.busyTimeoutMs ?? 2000 })
  try {
    if (existed) {
      checkPages(raw)
      options.accept?.(raw)
      examine(raw, path, options.now)
    }
    configure(raw)
    migrate(raw)
    return wrap(raw)
  } catch (error) {
    raw.close()
    throw error
  }
}
