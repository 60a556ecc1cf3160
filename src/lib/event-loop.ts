/** Pauses in long synchronous work, so that the event loop goes around. */

/** Resolves in the next turn of the event loop, when all else that was ready has had its own. */
export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The items in slices, between which all else has its turn. */
export async function* slices<T>(items: T[], size: number): AsyncGenerator<T[]> {
  for (let start = 0; start < items.length; start += size) {
    if (start > 0) await nextTurn()
    yield items.slice(start, start + size)
  }
}
