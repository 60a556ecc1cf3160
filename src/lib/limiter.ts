/** A cap on how many costly things run at a time; the others wait in order. */
import { unavailable } from './errors.ts'

export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

/** At most `atATime` run and `queue` wait; more are refused with 503. */
export function createLimiter(atATime: number, queue = Number.POSITIVE_INFINITY): Limiter {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= atATime && waiting.length >= queue) throw unavailable('too busy, try again')
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
