/** What the database of a world is, whatever engine it has. */
import type { SqliteDatabase } from '#db/engine/sqlite/handle.ts'

/** What tests do with it behind the service's back. */
export interface WorldDatabase {
  db: SqliteDatabase
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  rows(sql: string, ...values: unknown[]): any[]
  change(sql: string, ...values: unknown[]): void
  changeMany(sql: string, rows: unknown[][]): void
  /** The same as `change` beside what the service does at the moment, which it may have to wait for. */
  changeBeside(sql: string, ...values: unknown[]): Promise<void>
  /** Has every such change fail from now on, those for which `when` holds of OLD or NEW; gives what ends that. */
  obstruct(change: 'insert' | 'update' | 'delete', table: string, when?: string): () => void
  faults(since: string): string[]
  dump(except: string[]): string
  /** Waits until the service knows what was changed: before each request, as other processes would have it. */
  settle(): Promise<void>
  /** Waits until no transaction of the service is open. */
  quiet(): Promise<void>
  close(): void
}

export type Fill = (db: SqliteDatabase) => Promise<void>

/**
 * A database of its own at `path`, a new file or `:memory:`, with the rows that `fill` writes. What `fill` writes is the same for every
 * call with this key.
 */
export type OpenWorldDatabase = (
  key: string,
  path: string,
  now: Date,
  fill: Fill,
) => Promise<WorldDatabase>
