/** What a database is to its readers and writers: questions, and transactions whose bodies are generators. No engine's type is in here. */
import type { Builder } from './orm.ts'

/** What reading queries are built from: the part of drizzle that other dialects have too. */
export type Reading = Pick<Builder, 'select' | 'selectDistinct'>

/** The same for those that write, too. */
export type Query = Reading & Pick<Builder, 'insert' | 'update' | 'delete'>

/** What the rows of SQL text are given as. */
export type RowForm = 'objects' | 'arrays' | 'values'

interface Built {
  kind: 'built'
  build(q: Query): { prepare(): unknown }
}

interface Written {
  kind: 'written'
  text: string
  rows: RowForm
}

/**
 * A statement that is built once for a connection (question.ts). Takes parameters by their names, and gives rows; nothing where it changes rows and returns
 * none.
 */
export type Question<In, Out> = (Built | Written) & {
  /** For the compiler alone. */
  types?: (params: In) => Out
}

/** The parameters of a question without any. */
export type Nothing = Record<string, never>

/** A question with its parameters, as a body yields it. */
export interface Asked<In, Out> {
  question: Question<In, Out>
  params: In
}

/** How a body goes on: `const rows = yield* run(q.select()…)`. Nothing else can be awaited inside. */
export type Steps<T> = Generator<unknown, T, unknown>

/** The body of a read. What it asks for can be asked in a transaction as well. */
export type ReadBody<T> = (q: Reading) => Steps<T>

/** The body of a transaction. */
export type TxBody<T> = (tx: Query) => Steps<T>

/** What may be there at once. */
export type MaybePromise<T> = T | Promise<T>

export interface Database {
  /** Runs a body that only reads; all its steps see the database as of one moment. It waits for nobody who writes. */
  read<T>(body: ReadBody<T>): Promise<T>
  /**
   * The same on a connection that keeps 2 MB. For what goes through much of an index again and again: on the one that answers
   * requests it would take the place of what they need, and 64 MB.
   */
  scan<T>(body: ReadBody<T>): Promise<T>
  /** Runs the body in one transaction, rolled back when it throws. */
  tx<T>(body: TxBody<T>): Promise<T>
  /**
   * The same without waiting for the disk, which the thread that answers requests would do in SQLite: a power cut may undo the last ones of
   * them. For long work in portions that is found to be due again then.
   */
  txUnsynced<T>(body: TxBody<T>): Promise<T>
  /**
   * The same for what is worthless after a power cut, which may undo it, in statements that each name the row which they change: nothing that was read
   * before is sure to be so any more (PostgreSQL's READ COMMITTED). It does not wait for the disk. Leases and heartbeats are
   * written all the time, by the thread that answers requests, and while a backup fills the disk's queue each wait takes 10 to 100 ms.
   */
  txVolatile<T>(body: TxBody<T>): Promise<T>
  /**
   * The same database for what somebody asks for, named by a key (a network): where reads and transactions wait in line, each key takes its
   * turns with all others, so that a crowd keeps itself waiting.
   */
  onBehalfOf(whose: string): Database
  /** Whether transactions of this process wait in line: what can be put off should be. */
  isCrowded(): boolean
  /**
   * Answers one question, at once where the engine can: for list fetches alone. All that is asked until the end of this turn of the
   * event loop shares one read transaction, unless a write of this process ends it sooner. Each would else take and give back a lock
   * of the file by itself: 2 µs of a list fetch's 9. What another process commits meanwhile is seen in the next turn, as if the
   * requests of this one had come before it.
   */
  ask<In, Out>(question: Question<In, Out>, params: In): MaybePromise<Out>
  /** The revision of nodes, plans and settings: what is made of them holds while it stands. */
  revision(): number
  /**
   * The answer to a question about these alone, kept while their revision stands: nobody waits for it, and nobody may change it. What
   * of a node is in no list (health, setup) does not count, and may be older.
   */
  kept<Out>(question: Question<Nothing, Out>): Out
  /** Reads what others have changed of what is kept, where that is not seen at once. */
  refresh(): Promise<void>
  close(): void
}

/** One query as a step of a body. */
export function* run<T>(query: PromiseLike<T>): Steps<T> {
  return (yield query) as T
}

/** One question as a step of a body. */
export function* ask<In, Out>(question: Question<In, Out>, params: In): Steps<Out> {
  const step: Asked<In, Out> = { question, params }
  return (yield step) as Out
}
