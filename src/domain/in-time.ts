/** Bounds how long a caller waits for work that goes on by itself. */

/** What `work` resolves to, or `late` when it takes longer than `timeoutMs`. */
export async function inTime<T>(work: Promise<T>, timeoutMs: number, late: T): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLate = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), timeoutMs)
  })
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
