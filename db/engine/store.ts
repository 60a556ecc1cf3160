/** The database of an installation as a whole, whether it is there yet or not: how it is found, opened, copied and replaced. */
import type { Database } from './database.ts'

/** Where it is: a server (DATABASE_URL=postgres://…), or else a file. */
export interface StorePlace {
  databasePath: string
  /** Null: it is the file. */
  databaseUrl: string | null
}

/** What it says of itself, which may be of an earlier version. */
export type OwnFact = 'instance_id' | 'pending_env' | 'backup_key'

export interface Opening {
  now: Date
  /** Is told whose it is, before anything in it is touched; may throw. */
  accept?: (instanceId: string | undefined) => void
}

/**
 * `missing`: nothing is there; `moved`: what was there has gone to a server; `empty`: nothing is in it; `nobody's`: it has our tables, and no
 * INSTANCE_ID.
 */
export type StoreState = 'missing' | 'moved' | 'empty' | "nobody's" | 'there'

export interface Store {
  /** As operators are told of it: never with a password. */
  name: string
  state(): Promise<StoreState>
  /** Runs `work` while no other process does the same with this database: first starts and migrations. */
  withStartLock<T>(work: () => Promise<T>): Promise<T>
  /**
   * Opens and migrates it. Call it within `withStartLock`. Throws DatabaseRefused for one that this program must leave alone, and what `accept` throws; then
   * nothing was touched.
   */
  open(opening: Opening): Promise<Database>
  /** Connects to one that another process has open: nothing of it is checked or changed. Throws DatabaseRefused where it has not the present form. */
  connect(): Promise<Database>
  /** Undefined where it is not there, or says nothing of it. */
  read(fact: OwnFact): Promise<string | undefined>
  /** Takes that out of it where it is this. */
  forget(fact: OwnFact, value: string): Promise<void>
  /** Of disk that a copy of it takes, at about. */
  bytes(): Promise<number>
  /** Copies what is committed at this moment into a new file of SQLite, which is its owner's only. The copy lacks the key of backups. */
  copyInto(path: string): Promise<void>
  /**
   * Runs `change` on the file of SQLite whose path it is given: the database itself, or a copy of it in `folder`, which then takes its place, all or nothing.
   * Others don't write meanwhile. `finish` follows when it is committed; the next change waits for its end.
   */
  replace<T>(
    folder: string,
    change: (path: string) => T,
    finish: (value: T) => Promise<void>,
  ): Promise<T>
  /** A line for every row that breaks an invariant. */
  faults(since: string): Promise<string[]>
  /** Whether it has the form that this program works with. */
  isPresentForm(): Promise<boolean>
  /** Makes what is kept of other rows anew, while nobody else writes. */
  rebuildFacts(): Promise<void>
}
