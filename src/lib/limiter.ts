/** A cap on how many costly things run at a time; the others wait in order. */

export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

export function createLimiter(atATime: number): Limiter {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= atATime) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
