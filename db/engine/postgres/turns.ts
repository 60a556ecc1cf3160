/**
 * Who waits for a connection: in lines of their own, each of so many at once, so that what strangers ask for keeps nobody's changes waiting,
 * nor what changes keep lists. In a line, whoever is asked for (a network) takes turns with all others, and what the service asks for of
 * itself or an admin every second one: a crowd keeps itself waiting.
 */

import { createFairLine } from '#src/lib/fair-line.ts'
import { DatabaseFailure, isAway } from '../failures.ts'
import { crowded } from './failures.ts'

/** Who has waited for so long is told so: what a server needs for those before them, it needs for them, too. */
const PATIENCE_MS = 5000
/** Of more those are told at once of whom most wait. */
const MOST_WAITING = 500

/** No address is this. */
const OURS = ''

export interface Turns {
  /** Runs work in its turn; `whose`: on whose behalf, nobody's in particular where it is left out. Throws a DatabaseFailure when it has to wait for too long: `busy` where others come through, `away` where nobody does. */
  <T>(work: () => Promise<T>, whose?: string): Promise<T>
  /** How many wait. */
  waiting(): number
}

interface Waiting {
  since: number
  begin(): void
  refuse(error: DatabaseFailure): void
}

/** A line of which `atOnce` are at it at a time. */
export function createTurns(atOnce: number): Turns {
  let running = 0
  let lastDone = Number.NEGATIVE_INFINITY
  let isWatched = false
  const line = createFairLine<Waiting>(MOST_WAITING, OURS)

  const refusal = () =>
    performance.now() - lastDone < PATIENCE_MS
      ? crowded()
      : new DatabaseFailure('away', 'the server has answered nobody for five seconds')
  const oldest = () => {
    let first: Waiting | undefined
    for (const head of line.heads()) if (!first || head.since < first.since) first = head
    return first
  }
  const watch = () => {
    const now = performance.now()
    for (const late of line.leave(({ since }) => now - since >= PATIENCE_MS)) late.refuse(refusal())
    const first = oldest()
    isWatched = first !== undefined
    if (first) setTimeout(watch, first.since + PATIENCE_MS - now)
  }
  const turn = (whose: string) =>
    new Promise<void>((begin, refuse) => {
      const left = line.add(whose, { since: performance.now(), begin, refuse })
      left?.refuse(refusal())
      if (isWatched) return
      isWatched = true
      setTimeout(watch, PATIENCE_MS)
    })
  const run = async <T>(work: () => Promise<T>, whose = OURS): Promise<T> => {
    if (running < atOnce) running++
    else await turn(whose)
    try {
      const value = await work()
      lastDone = performance.now()
      return value
    } catch (error) {
      if (!isAway(error)) lastDone = performance.now()
      throw error
    } finally {
      const next = line.next()
      if (next) next.begin()
      else running--
    }
  }
  return Object.assign(run, { waiting: line.size })
}
