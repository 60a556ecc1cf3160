/** Bytes that may be held at once, by whoever shares them. */
export interface ByteBudget {
  /** False, and nothing taken, where there are not so many left. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export function createByteBudget(most: number): ByteBudget {
  let held = 0
  return {
    take(bytes) {
      if (held + bytes > most) return false
      held += bytes
      return true
    },
    give(bytes) {
      held -= bytes
    },
  }
}
