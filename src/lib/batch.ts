/** Collects single notes and hands them on together. */

export interface Batch<T> {
  add(item: T): void
  /** Hands on what was collected, now. */
  flush(): void
}

/** Hands the distinct items of each `delayMs` to `deliver`. */
export function createBatch<T>(delayMs: number, deliver: (items: T[]) => void): Batch<T> {
  const items = new Set<T>()
  let timer: ReturnType<typeof setTimeout> | null = null
  const flush = () => {
    if (timer) clearTimeout(timer)
    timer = null
    if (items.size === 0) return
    const delivered = [...items]
    items.clear()
    deliver(delivered)
  }
  return {
    add(item) {
      items.add(item)
      timer ??= setTimeout(flush, delayMs)
    },
    flush,
  }
}
