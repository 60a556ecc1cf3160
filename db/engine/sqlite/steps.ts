/** Steps of bodies and questions of a connection: each statement is built when it is first asked, and kept. */
import type Sqlite from 'better-sqlite3'
import type { Asked, Query, Question, TxBody } from '../database.ts'
import { neutral } from './failures.ts'
import type { Builder, SyncBuilder } from './orm.ts'

/** A query of drizzle, in so far as it is run here. */
interface Prepared {
  execute(params?: unknown): { sync(): unknown }
}

/** A question as it is asked of one connection. */
type Ask = (params: unknown) => unknown

export interface Steps {
  /** Answers a question. */
  ask<In, Out>(question: Question<In, Out>, params: In): Out
  /** Runs a body to its end. */
  drive<T>(body: TxBody<T>, tx: SyncBuilder | Query): T
}

const FORMS = {
  objects: (statement: Sqlite.Statement) => statement,
  arrays: (statement: Sqlite.Statement) => statement.raw(),
  values: (statement: Sqlite.Statement) => statement.pluck(),
}

export function createSteps(raw: Sqlite.Database, db: Builder): Steps {
  const asks = new Map<unknown, Ask>()

  const build = (question: Question<never, unknown>): Ask => {
    if (question.kind === 'built') {
      const prepared = question.build(db).prepare() as Prepared
      return (params) => prepared.execute(params).sync()
    }
    const statement = FORMS[question.rows](raw.prepare(question.text))
    return question.text.includes('@') ? (params) => statement.all(params) : () => statement.all()
  }

  const answer = (question: Question<never, unknown>, params: unknown): unknown => {
    let ask = asks.get(question)
    if (ask === undefined) {
      ask = build(question)
      asks.set(question, ask)
    }
    return ask(params)
  }

  const take = (step: Asked<never, unknown> | { _prepare(): Prepared }): unknown =>
    'question' in step ? answer(step.question, step.params) : step._prepare().execute().sync()

  return {
    ask<In, Out>(question: Question<In, Out>, params: In): Out {
      try {
        return answer(question, params) as Out
      } catch (error) {
        throw neutral(error)
      }
    },
    drive(body, tx) {
      const steps = body(tx as Query)
      let step = steps.next()
      while (!step.done) {
        let value: unknown
        try {
          value = take(step.value as Parameters<typeof take>[0])
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
