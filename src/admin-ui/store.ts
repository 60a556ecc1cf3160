/** A value that components follow. */
import { useEffect, useState } from 'preact/hooks'

export interface Store<T> {
  get(): T
  set(value: T): void
  /** Calls back after each change until the answer is called. */
  follow(listener: (value: T) => void): () => void
  /** The value, in a component that is drawn again when it changes. */
  use(): T
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<(value: T) => void>()
  const follow: Store<T>['follow'] = (listener) => {
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
    }
  }
  return {
    follow,
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of [...listeners]) listener(value)
    },
    use() {
      const [, draw] = useState(0)
      useEffect(() => {
        const listener = () => draw((n) => n + 1)
        const unfollow = follow(listener)
        // It may have changed between drawing and listening.
        listener()
        return unfollow
      }, [])
      return value
    },
  }
}
