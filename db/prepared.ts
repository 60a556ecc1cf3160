/** Statements that are built and planned once for a connection, as steps of transactions that run hundreds of times a second. */
import { type Query, run } from './database.ts'
import { sql } from './orm.ts'

interface Prepared<R> {
  execute(params: Record<string, unknown>): PromiseLike<R>
}

/** `preparedStep` parameters that stand in WHERE: a bare one has SQLite plan the statement anew at each run (see Database.prepared). */
export const input = (name: string) => sql`+${sql.placeholder(name)}`

export const field = (name: string) => sql.placeholder(name)

/** A query with placeholders; building it costs several times what running it does. `build` is called once for a connection. */
export function preparedStep<P extends Record<string, unknown>, R>(
  build: (q: Query) => { prepare(): unknown },
): (tx: Query, params: P) => Generator<unknown, R, unknown> {
  const statements = new WeakMap<object, Prepared<R>>()
  return function* (tx, params) {
    // A transaction has the session of its database: what they share is the connection.
    const { session } = tx as unknown as { session: object }
    let statement = statements.get(session)
    if (!statement) {
      statement = build(tx).prepare() as Prepared<R>
      statements.set(session, statement)
    }
    const bound = statement
    const step = { _prepare: () => ({ execute: () => bound.execute(params) }) }
    return yield* run(step as unknown as PromiseLike<R>)
  }
}
