/**
 * What of nodes, plans and settings everybody reads without waiting: read anew when their revision has changed. This process knows of its
 * own changes by the time they are told as committed, of those of others by a notice of the server, and without notices within a second.
 */
import type { Pool } from 'pg'
import { type Steps as Body, type Nothing, type Question, ask as step } from '../database.ts'
import { DatabaseFailure } from '../failures.ts'
import { KEPT_QUESTIONS, writtenValues } from '../question.ts'
import type { Steps } from './steps.ts'
import { READING, within } from './transactions.ts'

const REVISION = writtenValues<Nothing, number>("select n from revisions where name = 'lists'")

interface State {
  revision: number
  answers: ReadonlyMap<unknown, unknown>
}

export interface Memory {
  revision(): number
  answer<Out>(question: Question<Nothing, Out>): Out
  /** Reads what others have committed by now. */
  catchUp(): Promise<void>
}

/** Empty until it has caught up for the first time. */
export function createMemory(pool: Pool, steps: Steps): Memory {
  let state: State = { revision: -1, answers: new Map() }

  function* readChanged(): Body<State> {
    const [revision = 0] = yield* step(REVISION, {})
    if (revision === state.revision) return state
    const answers = new Map<unknown, unknown>()
    for (const question of KEPT_QUESTIONS) answers.set(question, yield* step(question, {}))
    return { revision, answers }
  }
  const read = async () => {
    state = await within(pool, steps, READING, readChanged)
  }

  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  const start = () => {
    running = read().finally(() => {
      running = null
    })
    return running
  }
  return {
    revision: () => state.revision,
    answer<Out>(question: Question<Nothing, Out>): Out {
      if (!state.answers.has(question)) {
        throw new DatabaseFailure('other', 'a question that is not among KEPT_QUESTIONS was kept')
      }
      return state.answers.get(question) as Out
    },
    // One that has begun may have read before what its caller knows of: all of these share the next.
    catchUp() {
      if (running === null) return start()
      next ??= running
        .catch(() => {})
        .then(() => {
          next = null
          return start()
        })
      return next
    },
  }
}
