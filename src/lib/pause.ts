/** Waiting that can be called off, and that has a limit. */

/** Resolves after `ms`, or as soon as `signal` is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

/** What `work` resolves to, or `late` when it takes longer than `timeoutMs`; it goes on by itself. Rejects as `work` does. */
export async function inTime<T>(work: Promise<T>, timeoutMs: number, late: T): Promise<T> {
  const over = new AbortController()
  try {
    return await Promise.race([work, pause(timeoutMs, over.signal).then(() => late)])
  } finally {
    over.abort()
  }
}

/** What `work` resolves to; rejects with the signal's reason as soon as it is aborted, and `work` goes on by itself. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** True as soon as `work` has ended, false after `ms`. Rejects as `work` does. */
export const within = (ms: number, work: Promise<unknown>): Promise<boolean> =>
  inTime(
    work.then(() => true),
    ms,
    false,
  )
