/** What a database is to its readers and writers: queries, and transactions whose bodies are generators. */
import type Sqlite from 'better-sqlite3'
import type { BetterSQLite3Database } from './orm.ts'

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
   * The same for what is worthless after a power cut, which may undo it: it does not wait for the disk. Leases and heartbeats are
   * written all the time, by the thread that answers requests, and while a backup fills the disk's queue each wait takes 10 to 100 ms.
   */
  txVolatile<T>(body: TxBody<T>): Promise<T>
  /** Whether transactions of this process wait in line: what can be put off should be. */
  isCrowded(): boolean
  /**
   * A statement built once per database, for hot paths. `build` must be a constant function. In a statement made of SQL text a
   * parameter is `+?`: this SQLite plans a statement anew at each run when a bare parameter had a part in its plan
   * (sqlite3_clear_bindings, which the driver calls after each run, expires it), and that costs twice the reading.
   */
  prepared<S>(build: (q: Query, raw: Sqlite.Database) => S): S
  /**
   * The same on a connection that only reads and keeps 2 MB. For what goes through much of an index again and again: on the one
   * that answers requests it would take the place of what they need, and 64 MB.
   */
  scanning<S>(build: (raw: Sqlite.Database) => S): S
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

/** One query as a step of a transaction. */
export function* run<T>(query: PromiseLike<T>): Generator<unknown, T, unknown> {
  return (yield query) as T
}
