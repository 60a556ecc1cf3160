/** Steps of bodies and questions, asked over a connection: each statement is built when it is first asked, and kept. */
import type { ClientBase, QueryConfig, QueryResult } from 'pg'
import { sha256Hex } from '#src/lib/crypto.ts'
import type { Asked, Query, Question, TxBody } from '../database.ts'
import type { Builder } from '../orm.ts'
import { guarded, neutral } from './failures.ts'
import { drizzle } from './orm.ts'
import { numbered, sound } from './sql-text.ts'

/** Who can be asked: a connection, or the pool for what needs no transaction. */
export interface Asking {
  query(config: unknown, values?: unknown[]): Promise<QueryResult>
}

/** A query of drizzle, in so far as it is run here. */
interface Prepared {
  execute(params?: unknown): Promise<unknown>
  queryMetadata?: { type: string; tables: string[] }
}

/** Is told the tables that a body writes. */
export type Note = (table: string) => void

type Step = Asked<never, unknown> | { _prepare(): Prepared }

type Ask = (on: Asking, params: Record<string, unknown>) => Promise<unknown>

export interface Steps {
  /** Builds queries. They are run by `drive` alone. */
  query: Query
  /** Answers a question. */
  ask<In, Out>(on: Asking, question: Question<In, Out>, params: In): Promise<Out>
  /** Runs a body to its end on a connection. */
  drive<T>(on: ClientBase, body: TxBody<T>, note?: Note): Promise<T>
}

/** Whose statements PostgreSQL plans once for each connection. Several processes may share one behind a proxy: names say what they stand for. */
const nameOf = (text: string, rows: string) =>
  `subpanel_${sha256Hex(`${rows} ${text}`).slice(0, 32)}`

const FORMS = {
  objects: (result: QueryResult) => result.rows,
  arrays: (result: QueryResult) => result.rows,
  values: (result: QueryResult) => (result.rows as unknown[][]).map(([value]) => value),
}

/** `keepsPlans`: statements of questions have names, by which each connection keeps their plans. */
export function createSteps(keepsPlans: boolean): Steps {
  /** Whom drizzle asks: it calls within the call of `execute`, or not at all. */
  let current: Asking | null = null
  const client = {
    query(config: unknown, values?: unknown[]) {
      if (current === null) throw new Error('a query was run outside of its step')
      return current.query(config, values?.map(sound))
    },
  }
  const query = drizzle({ client: client as unknown as ClientBase as never }) as unknown as Builder
  const execute = (on: Asking, prepared: Prepared, params?: unknown) => {
    current = on
    try {
      return prepared.execute(params)
    } finally {
      current = null
    }
  }

  const asks = new Map<unknown, Ask>()
  const build = (question: Question<never, unknown>): Ask => {
    if (question.kind === 'built') {
      const prepared = question.build(query).prepare() as Prepared
      return (on, params) => execute(on, prepared, params)
    }
    const { text, names } = numbered(question.text)
    const config: QueryConfig & { rowMode?: 'array' } = {
      text,
      ...(keepsPlans ? { name: nameOf(text, question.rows) } : undefined),
      ...(question.rows === 'objects' ? undefined : { rowMode: 'array' }),
    }
    const form = FORMS[question.rows]
    return async (on, params) =>
      form(await on.query({ ...config, values: names.map((name) => sound(params[name])) }))
  }
  const answer = (on: Asking, question: Question<never, unknown>, params: unknown) => {
    let ask = asks.get(question)
    if (ask === undefined) {
      ask = build(question)
      asks.set(question, ask)
    }
    return ask(on, params as Record<string, unknown>)
  }
  const take = (on: Asking, step: Step, note?: Note) => {
    // What is kept in memory is written by queries of the builder alone.
    if ('question' in step) return answer(on, step.question, step.params)
    const prepared = step._prepare()
    const { type = 'select', tables = [] } = prepared.queryMetadata ?? {}
    if (note && type !== 'select') tables.forEach(note)
    return execute(on, prepared)
  }

  return {
    query,
    ask: <In, Out>(on: Asking, question: Question<In, Out>, params: In) =>
      guarded(answer(on, question, params)) as Promise<Out>,
    async drive(on, body, note) {
      const steps = body(query)
      let step = steps.next()
      while (!step.done) {
        let value: unknown
        try {
          value = await take(on, step.value as Step, note)
        } catch (error) {
          step = steps.throw(neutral(error))
          continue
        }
        step = steps.next(value)
      }
      return step.value
    },
  }
}
