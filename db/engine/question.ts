/**
 * Statements that are built and planned once for a connection, then asked hundreds of times a second: building one costs several times
 * what running it does. They are constants of the module that asks them; each engine keeps what it made of them by the constant.
 */
import type { Nothing, Query, Question } from './database.ts'
import { BARE } from './dialect.ts'
import { sql } from './orm.ts'

/** One made of the query builder, with `input` and `field` where parameters stand. */
export const built = <In, Out>(build: (q: Query) => { prepare(): unknown }): Question<In, Out> => ({
  kind: 'built',
  build,
})

/** Those that `db.kept` may be asked: an engine that can't answer at once reads them before. */
export const KEPT_QUESTIONS = new Set<Question<Nothing, unknown>>()

/** One about nodes, plans and settings alone, for `db.kept`. */
export function kept<Out>(build: (q: Query) => { prepare(): unknown }): Question<Nothing, Out> {
  const question = built<Nothing, Out>(build)
  KEPT_QUESTIONS.add(question)
  return question
}

/** Parameters of a built question that stand in WHERE (db/engine/dialect.ts says why). */
export const input = (name: string) => sql`${BARE}${sql.placeholder(name)}`

export const field = (name: string) => sql.placeholder(name)

/** One of SQL text with `param(name)` for its parameters, whose rows are objects. */
export const written = <In, Row>(text: string): Question<In, Row[]> => ({
  kind: 'written',
  text,
  rows: 'objects',
})

/** The same whose rows are arrays: for the hottest paths. */
export const writtenArrays = <In, Row extends unknown[]>(text: string): Question<In, Row[]> => ({
  kind: 'written',
  text,
  rows: 'arrays',
})

/** The same of one column: its values. */
export const writtenValues = <In, Value>(text: string): Question<In, Value[]> => ({
  kind: 'written',
  text,
  rows: 'values',
})
