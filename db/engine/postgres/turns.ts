/** Who waits for a connection: in lines of their own, each of so many at once, so that what strangers ask for keeps nobody's changes waiting, nor what changes keep lists. */
import { DatabaseFailure, isAway } from '../failures.ts'
import { crowded } from './failures.ts'

/** Who has waited for so long is told so: what a server needs for those before them, it needs for them, too. */
const PATIENCE_MS = 5000
/** More are told at once. */
const MOST_WAITING = 500

export interface Turns {
  /** Runs work in its turn. Throws a DatabaseFailure when it has to wait for too long: `busy` where others come through, `away` where nobody does. */
  <T>(work: () => Promise<T>): Promise<T>
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
  const line: Waiting[] = []

  const refusal = () =>
    performance.now() - lastDone < PATIENCE_MS
      ? crowded()
      : new DatabaseFailure('away', 'the server has answered nobody for five seconds')
  const watch = () => {
    const now = performance.now()
    while (line[0] && now - line[0].since >= PATIENCE_MS) line.shift()?.refuse(refusal())
    const [first] = line
    isWatched = first !== undefined
    if (first) setTimeout(watch, first.since + PATIENCE_MS - now)
  }
  const turn = () =>
    new Promise<void>((begin, refuse) => {
      line.push({ since: performance.now(), begin, refuse })
      if (isWatched) return
      isWatched = true
      setTimeout(watch, PATIENCE_MS)
    })
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < atOnce) running++
    else if (line.length >= MOST_WAITING) throw refusal()
    else await turn()
    try {
      const value = await work()
      lastDone = performance.now()
      return value
    } catch (error) {
      if (!isAway(error)) lastDone = performance.now()
      throw error
    } finally {
      const next = line.shift()
      if (next) next.begin()
      else running--
    }
  }
  return Object.assign(run, { waiting: () => line.length })
}
