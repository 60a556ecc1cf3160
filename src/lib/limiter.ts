/** A cap on how many costly things run at a time; the others wait in order. */
import { tooBusy } from './errors.ts'

/** `gone`: aborted when nobody waits for the work any more. It is then not begun, and its caller gets the signal's reason. */
export type Limiter = <T>(work: () => Promise<T>, gone?: AbortSignal) => Promise<T>

/** A place at the end of a line; it is left again when the signal is aborted, which rejects with its reason. */
function turnIn(line: (() => void)[], gone: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      gone?.removeEventListener('abort', leave)
      resolve()
    }
    const leave = () => {
      line.splice(line.indexOf(begin), 1)
      reject(gone?.reason)
    }
    line.push(begin)
    gone?.addEventListener('abort', leave, { once: true })
  })
}

/** At most `atATime` run and `queue` wait; more are refused with 503. */
export function createLimiter(atATime: number, queue = Number.POSITIVE_INFINITY): Limiter {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work, gone) => {
    gone?.throwIfAborted()
    if (running >= atATime && waiting.length >= queue) throw tooBusy()
    if (running >= atATime) await turnIn(waiting, gone)
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

/**
 * A line of its own in front of a limiter: as many of it as may run at a time stand in the other's line, so that whoever comes there
 * waits for so many at most. `queue` wait; more are refused with 503.
 */
export function lineBefore(limiter: Limiter, atATime: number, queue: number): Limiter {
  const line = createLimiter(atATime, queue)
  return (work, gone) => line(() => limiter(work, gone), gone)
}
