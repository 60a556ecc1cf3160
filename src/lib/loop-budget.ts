/** A share of each turn of the event loop, for synchronous work that comes in bursts. */

export interface LoopBudget {
  /** Whether the share of this turn is used up. */
  isOver(): boolean
  /** Counts time that was spent just now. */
  spend(ms: number): void
  /** Resolves when the event loop has gone around, and all else that was ready has had its turn. */
  next(): Promise<void>
}

/** At most about `shareMs` of a turn, for who asks `isOver` before each piece of work. */
export function createLoopBudget(shareMs: number): LoopBudget {
  let spentMs = 0
  let around: Promise<void> | null = null
  const goAround = (resolve: () => void) =>
    setImmediate(() => {
      spentMs = 0
      around = null
      resolve()
    })
  return {
    isOver: () => spentMs > shareMs,
    spend(ms) {
      spentMs += ms
      around ??= new Promise<void>(goAround)
    },
    async next() {
      await around
    },
  }
}
