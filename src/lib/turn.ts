/** A share of each turn of the event loop, for synchronous work that comes in bursts. */

/** Resolves in the next turn of the event loop, when all else that was ready has had its own. */
export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The items in slices, between which all else has its turn. */
export async function* slices<T>(items: T[], size: number): AsyncGenerator<T[]> {
  for (let start = 0; start < items.length; start += size) {
    if (start > 0) await nextTurn()
    yield items.slice(start, start + size)
  }
}

export interface Turn {
  /** Whether the share of this turn is used up. */
  isOver(): boolean
  /** Counts time that was spent just now. */
  spend(ms: number): void
  /** Resolves when the event loop has gone around, and all else that was ready has had its turn. */
  next(): Promise<void>
}

/** At most about `shareMs` of a turn, for who asks `isOver` before each piece of work. */
export function createTurn(shareMs: number): Turn {
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
