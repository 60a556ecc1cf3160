/** Opens the database: owner-only files, WAL, migrations under a lock, and the only kind of transaction there is. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { errorCode } from '#src/lib/errors.ts'
import { pause } from '#src/lib/pause.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { createTurn } from '#src/lib/turn.ts'
import { type BetterSQLite3Database, drizzle, readMigrationFiles } from './orm.ts'
import { TRIGGER_STATEMENTS } from './triggers.ts'

/** What queries are built from: the part of drizzle that other dialects have too. Always awaited. */
export type Query = Pick<
  BetterSQLite3Database,
  'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | 'with' | '$count'
>

/** The body of a transaction: `const rows = yield* run(tx.select()…)`. Nothing else can be awaited inside. */
export type TxBody<T> = (tx: Query) => Generator<unknown, T, unknown>

export interface Database {
  /** Reads. A write outside `tx` would block the whole process while another one writes. */
  q: Query
  /** Runs the body in one immediate transaction, rolled back when it throws. */
  tx<T>(body: TxBody<T>): Promise<T>
  /**
   * A statement built once per database, for hot paths. `build` must be a constant function. In a statement made of SQL text a
   * parameter is `+?`: this SQLite plans a statement anew at each run when a bare parameter had a part in its plan
   * (sqlite3_clear_bindings, which the driver calls after each run, expires it), and that costs twice the reading.
   */
  prepared<S>(build: (q: Query, raw: Sqlite.Database) => S): S
  /**
   * Lets all reads until the end of this turn of the event loop share one read transaction, unless a write of this process ends it
   * sooner. Each would else take and give back a lock of the file by itself: 2 µs of a list fetch's 9. What another process commits
   * meanwhile is seen in the next turn, as if the requests of this one had come before it.
   */
  shareReads(): void
  /** The driver, for snapshots, pragmas and tests. */
  raw: Sqlite.Database
  close(): void
}

interface Step {
  _prepare(): { execute(): { sync(): unknown } }
}

/** One query as a step of a transaction. */
export function* run<T>(query: PromiseLike<T>): Generator<unknown, T, unknown> {
  return (yield query) as T
}

function drive<T>(body: TxBody<T>, tx: Query): T {
  const steps = body(tx)
  let step = steps.next()
  while (!step.done) {
    let value: unknown
    try {
      value = (step.value as Step)._prepare().execute().sync()
    } catch (error) {
      step = steps.throw(error)
      continue
    }
    step = steps.next(value)
  }
  return step.value
}

/** Whether a unique or primary key refused a row. */
export function isUniqueViolation(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** Whether the database file can no longer be trusted: the process must end (PostgreSQL's lesson of failed fsyncs). */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(errorCode(error) ?? '')
}

/** A database that this program must leave alone; the message is for the operator. */
export class DatabaseRefused extends Error {}

/** Whether a write failed for want of space. */
export const isFull = (error: unknown): boolean => errorCode(error) === 'SQLITE_FULL'

/** Whether another process held the write lock for longer than the busy timeout. */
export const isBusy = (error: unknown): boolean => /^SQLITE_BUSY/.test(errorCode(error) ?? '')

const MIGRATIONS = join(import.meta.dirname, 'migrations')

function appliedMigration(raw: Sqlite.Database): number {
  raw.exec(
    'CREATE TABLE IF NOT EXISTS __drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)',
  )
  return (raw.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get() ??
    0) as number
}

/** The migrations of this program by their number in `__drizzle_migrations`, oldest first. */
export function migrationNumbers(): number[] {
  return readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(
    (migration) => migration.folderMillis,
  )
}

/**
 * Applies the missing migrations, to the one with the number `upTo` at most, and the triggers in one transaction. Foreign keys are
 * off meanwhile: drizzle-kit rebuilds tables, and with them on the rebuild of a parent deletes its children
 * (drizzle-team/drizzle-orm#4938).
 */
export function migrate(raw: Sqlite.Database, upTo = Number.POSITIVE_INFINITY): void {
  const known = readMigrationFiles({ migrationsFolder: MIGRATIONS }).filter(
    (migration) => migration.folderMillis <= upTo,
  )
  raw.pragma('foreign_keys = OFF')
  raw
    .transaction(() => {
      const last = appliedMigration(raw)
      const missing = known.filter((migration) => migration.folderMillis > last)
      for (const migration of missing) {
        for (const statement of migration.sql) raw.exec(statement)
        raw
          .prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)')
          .run(migration.hash, migration.folderMillis)
      }
      if (missing.length > 0 && (raw.pragma('foreign_key_check') as unknown[]).length > 0) {
        throw new Error('a migration left rows that point nowhere: nothing was changed')
      }
      for (const statement of TRIGGER_STATEMENTS) raw.exec(statement)
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

/** How long a transaction waits for another process's; then SQLITE_BUSY. */
const PATIENCE_MS = 2000
/** SQLite's own waiting blocks the process: it is cut into pieces, with requests let through between them. */
const WAIT_MS = 25
const PAUSE_MS = 25

/** The shared read transaction of a turn: its begin, and its end before the turn's own. */
function createSharedReads(raw: Sqlite.Database) {
  const begin = raw.prepare('BEGIN')
  const commit = raw.prepare('COMMIT')
  let shared = false
  const end = () => {
    if (!shared) return
    shared = false
    // An error of a read may have ended it already.
    if (raw.open && raw.inTransaction) commit.run()
  }
  return {
    end,
    begin() {
      if (raw.inTransaction) return
      begin.run()
      shared = true
      setImmediate(end)
    },
  }
}

/** Of a turn of the event loop, for transactions that run at once: those of 50 logins held everything else up for 100 ms. */
const AT_ONCE_MS = 1
/** For the bodies of those that then waited and are committed together. */
const TOGETHER_MS = 5

interface Waiting {
  body: TxBody<unknown>
  resolve(value: never): void
  reject(error: unknown): void
  /** When it came, on the monotonic clock. */
  sinceMs: number
}

/**
 * Transactions that run at once when nobody else writes and their share of the turn is not used up. Else they wait in line and are
 * committed together, each within a savepoint: one that throws is undone alone, and all share the wait for the disk. The line is
 * tried again and again while another process writes.
 */
function createTransactions(
  raw: Sqlite.Database,
  db: BetterSQLite3Database,
  endSharedReads: () => void,
): Database['tx'] {
  const line: Waiting[] = []
  let running = false
  /** Since when another process has kept this one from writing. */
  let blockedMs: number | null = null
  const turn = createTurn(AT_ONCE_MS)
  const ownWait = raw.pragma('busy_timeout', { simple: true })
  /** Null when another process writes for all of `waitMs`. */
  const attempt = <T>(work: (tx: Query) => T, waitMs: number): { value: T } | null => {
    let begun = false
    const startedAt = performance.now()
    endSharedReads()
    raw.pragma(`busy_timeout = ${waitMs}`)
    try {
      const begin = (tx: Query) => {
        begun = true
        blockedMs = null
        return { value: work(tx) }
      }
      return db.transaction(begin, { behavior: 'immediate' })
    } catch (error) {
      if (begun || !isBusy(error)) throw error
      blockedMs ??= startedAt
      return null
    } finally {
      raw.pragma(`busy_timeout = ${ownWait}`)
      turn.spend(performance.now() - startedAt)
    }
  }
  /** Runs the foremost in a savepoint; what to tell it after the commit. Throws what ended the whole transaction. */
  const runFirst = ({ body, resolve, reject }: Waiting): (() => void) => {
    try {
      const value = db.transaction((tx) => drive(body, tx))
      return () => resolve(value as never)
    } catch (error) {
      if (!raw.inTransaction) throw error
      return () => reject(error)
    }
  }
  /** How long the foremost still waits: time that it took this process itself does not count. */
  const leftMs = () => {
    const now = performance.now()
    return Math.max(line[0]?.sinceMs ?? now, blockedMs ?? now) + PATIENCE_MS - now
  }
  /** Runs as many of the line as have time, in one transaction. False when another process writes. */
  const runTogether = (): boolean => {
    const taken: Waiting[] = []
    const take = () => {
      const first = line.shift() as Waiting
      taken.push(first)
      return first
    }
    const runMany = () => {
      const until = performance.now() + TOGETHER_MS
      const ends = [runFirst(take())]
      while (line.length > 0 && performance.now() < until) ends.push(runFirst(take()))
      return ends
    }
    try {
      const done = attempt(runMany, leftMs() > 0 ? WAIT_MS : 0)
      for (const end of done?.value ?? []) end()
      return done !== null
    } catch (error) {
      if (taken.length === 0) take()
      for (const { reject } of taken) reject(error)
      return true
    }
  }
  const waitOrRefuse = async () => {
    if (leftMs() > 0) await pause(PAUSE_MS)
    else line.shift()?.reject(new Sqlite.SqliteError('the database is locked', 'SQLITE_BUSY'))
  }
  const runLine = async () => {
    running = true
    while (line.length > 0) {
      if (turn.isOver()) await turn.next()
      if (!runTogether()) await waitOrRefuse()
    }
    running = false
  }
  return async (body) => {
    if (!running && !turn.isOver()) {
      const outcome = attempt((tx) => drive(body, tx), WAIT_MS)
      if (outcome) return outcome.value
    }
    const sinceMs = performance.now()
    return new Promise((resolve, reject) => {
      line.push({ body, resolve, reject, sinceMs })
      if (!running) void runLine()
    })
  }
}

/** A database handle over an open driver connection. */
export function wrap(raw: Sqlite.Database): Database {
  const db = drizzle({ client: raw })
  const statements = new Map<unknown, unknown>()
  const reads = createSharedReads(raw)
  return {
    q: db,
    raw,
    tx: createTransactions(raw, db, reads.end),
    shareReads: reads.begin,
    prepared<S>(build: (q: Query, raw: Sqlite.Database) => S): S {
      let statement = statements.get(build) as S | undefined
      if (statement === undefined) {
        statement = build(db, raw)
        statements.set(build, statement)
      }
      return statement
    },
    close: () => {
      reads.end()
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
