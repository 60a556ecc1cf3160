/** Work that outlives the answer which caused it: awaited at shutdown and in tests. */

export interface Background {
  /** Runs the work now; a failure goes to `onError` and nowhere else. */
  run(name: string, work: () => Promise<unknown>): void
  /** Resolves when nothing is under way, work started meanwhile included. */
  idle(): Promise<void>
}

export function createBackground(onError: (name: string, error: unknown) => void): Background {
  const running = new Set<Promise<unknown>>()
  return {
    run(name, work) {
      const task = work()
        .catch((error: unknown) => onError(name, error))
        .finally(() => running.delete(task))
      running.add(task)
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}
