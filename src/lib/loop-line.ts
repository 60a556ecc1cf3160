/** Who comes to be answered while the event loop has much to do waits for its next turns, in which all else that is ready goes on, too. */
import { createFairLine } from './fair-line.ts'

/** What begins in a turn while nobody waits: a page takes a millisecond or less, a list some 60 µs. */
const SHARE_MS = 5
/** So many at most of those who wait begin in a turn. */
const BEGUN_IN_TURN = 16
/**
 * So many wait. Who has left meanwhile is in line as well, and Bun takes any number in one turn: without a bound one stranger, who came and
 * left 6,000 times a second, had 700 MB of requests kept within a minute.
 */
const MOST_WAITING = 5000

/**
 * Does work in its turn, or what is done in its place where the line is full; `whose` names for whom, and is asked where there is a line
 * alone.
 */
export type LoopLine = <T>(
  whose: () => string,
  work: () => T | Promise<T>,
  refused: () => T,
) => T | Promise<T>

/**
 * A line before work that comes in bursts: what a turn has no time for begins in the next ones, of each of those for whom it is in turn. What
 * asks a database server goes around once for each answer, so that a turn with the pages of 200 connections of one stranger had been waited
 * for 40 times by whoever changed a plan.
 */
export function createLoopLine(): LoopLine {
  const line = createFairLine<(isTurn: boolean) => void>(MOST_WAITING)
  /** When the first of this turn began. */
  let begunMs: number | null = null

  const isOver = () => begunMs === null || performance.now() - begunMs >= SHARE_MS
  /**
   * Begins the next ones of a turn while that has time, each when the one before has gone as far as it can go at once. A list of 300 entries
   * takes 20 ms: 16 of them in a turn, which one link of a customer can ask for, kept everybody else waiting for seconds on Node.
   */
  const beginSome = (most: number) => {
    line.next()?.(true)
    if (most > 1 && line.size() > 0) queueMicrotask(() => isOver() || beginSome(most - 1))
  }
  const goAround = () => {
    begunMs = null
    if (line.size() === 0) return
    noteBegun()
    beginSome(BEGUN_IN_TURN)
  }
  function noteBegun() {
    if (begunMs !== null) return
    begunMs = performance.now()
    setImmediate(goAround)
  }
  const hasTime = () =>
    line.size() === 0 && (begunMs === null || performance.now() - begunMs < SHARE_MS)
  return (whose, work, refused) => {
    if (hasTime()) {
      noteBegun()
      return work()
    }
    noteBegun()
    const turn = new Promise<boolean>((begin) => line.add(whose(), begin)?.(false))
    return turn.then((isTurn) => (isTurn ? work() : refused()))
  }
}
