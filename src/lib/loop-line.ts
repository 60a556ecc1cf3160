/** Who comes to be answered while the event loop has much to do waits for its next turns, in which all else that is ready goes on, too. */
import { createFairLine } from './fair-line.ts'

/** What begins in a turn while nobody waits: a page takes a millisecond or less, a list some 60 µs. */
const SHARE_MS = 5
/** So many of those who wait begin in a turn. */
const BEGUN_IN_TURN = 16

/** Does work in its turn; `whose` names for whom, and is asked where there is a line alone. */
export type LoopLine = <T>(whose: () => string, work: () => T | Promise<T>) => T | Promise<T>

/**
 * A line before work that comes in bursts: what a turn has no time for begins in the next ones, of each of those for whom it is in turn. What
 * asks a database server goes around once for each answer, so that a turn with the pages of 200 connections of one stranger had been waited
 * for 40 times by whoever changed a plan.
 */
export function createLoopLine(): LoopLine {
  const line = createFairLine<() => void>(Number.POSITIVE_INFINITY)
  /** When the first of this turn began. */
  let begunMs: number | null = null

  const goAround = () => {
    begunMs = null
    if (line.size() === 0) return
    noteBegun()
    for (let i = 0; i < BEGUN_IN_TURN; i++) line.next()?.()
  }
  function noteBegun() {
    if (begunMs !== null) return
    begunMs = performance.now()
    setImmediate(goAround)
  }
  const hasTime = () =>
    line.size() === 0 && (begunMs === null || performance.now() - begunMs < SHARE_MS)
  return (whose, work) => {
    if (hasTime()) {
      noteBegun()
      return work()
    }
    noteBegun()
    return new Promise<void>((begin) => line.add(whose(), begin)).then(work)
  }
}
