/** Reads of the API, shared by key: shown at once from memory, asked for again when old. And actions, whose faults become toasts. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { toastError } from './kit/toast.tsx'
import { online, session } from './session.ts'

interface Entry {
  data: unknown
  error: Error | null
  /** When it was last answered; 0 before. */
  at: number
  running: Promise<void> | null
  load: () => Promise<unknown>
  listeners: Set<() => void>
}

const entries = new Map<string, Entry>()

function run(entry: Entry): Promise<void> {
  entry.running ??= entry
    .load()
    .then(
      (data) => {
        entry.data = data
        entry.error = null
      },
      (error: Error) => {
        entry.error = error
      },
    )
    .then(() => {
      entry.at = Date.now()
      entry.running = null
      for (const listener of [...entry.listeners]) listener()
    })
  return entry.running
}

function entryOf(key: string, load: () => Promise<unknown>): Entry {
  let entry = entries.get(key)
  if (!entry) {
    entry = { data: undefined, error: null, at: 0, running: null, load, listeners: new Set() }
    entries.set(key, entry)
  }
  entry.load = load
  return entry
}

export interface Query<T> {
  /** The last answer; of another key while the one for this key is on its way. */
  data: T | undefined
  error: Error | null
  /** Nothing for this key has been answered yet. */
  busy: boolean
  reload: () => Promise<void>
}

const STALE_MS = 5000

/** The answer of `load`, kept under `key`: name what it depends on in the key. `every`: asks again after so many ms. */
export function useQuery<T>(
  key: string,
  load: () => Promise<T>,
  options: { every?: number; stale?: number } = {},
): Query<T> {
  const [, draw] = useState(0)
  const [previous, setPrevious] = useState<T | undefined>(undefined)
  const entry = entryOf(key, load)
  const { every = 0, stale = STALE_MS } = options
  useEffect(() => {
    const listener = () => {
      draw((n) => n + 1)
      if (entry.data !== undefined) setPrevious(() => entry.data as T)
    }
    entry.listeners.add(listener)
    if (entry.data !== undefined) setPrevious(() => entry.data as T)
    if (Date.now() - entry.at > stale) void run(entry)
    const timer =
      every > 0 && setInterval(() => document.visibilityState === 'visible' && run(entry), every)
    return () => {
      entry.listeners.delete(listener)
      if (timer) clearInterval(timer)
    }
  }, [key])
  return {
    // What another key answered must not pass for the answer of one that fails.
    data: (entry.data as T | undefined) ?? (entry.error ? undefined : previous),
    error: entry.error,
    busy: entry.at === 0,
    reload: () => run(entry),
  }
}

/** Asks ahead of the screen that will show it. */
export function askAhead(key: string, load: () => Promise<unknown>): void {
  void run(entryOf(key, load))
}

/** Asks again for all whose key starts so: at once when shown, else when next looked at. */
export function invalidate(...prefixes: string[]): void {
  for (const [key, entry] of entries) {
    if (!prefixes.some((prefix) => key.startsWith(prefix))) continue
    const again = () => {
      entry.at = entry.data === undefined ? 0 : 1
      if (entry.listeners.size > 0) void run(entry)
    }
    // What is on its way was asked before the change.
    if (entry.running) void entry.running.then(again)
    else again()
  }
}

/** Forgets everything: another admin may be next. */
export function forgetAll(): void {
  entries.clear()
}

const refresh = () => {
  if (session.get() === 'in' && document.visibilityState === 'visible') {
    for (const entry of entries.values()) {
      if (entry.listeners.size > 0 && Date.now() - entry.at > STALE_MS) void run(entry)
    }
  }
}
addEventListener('focus', refresh)

// All that is shown is asked for again once there is a session, or a connection, again.
let was = session.get()
session.follow((now) => {
  if (now === 'in' && was === 'expired') invalidate('')
  was = now
})
online.follow((now) => {
  if (now) invalidate('')
})

/** An action of the user: not twice at once; a fault becomes a toast, and the answer is undefined. */
export function useAction<A extends unknown[], R>(work: (...args: A) => Promise<R>) {
  const [busy, setBusy] = useState(false)
  // Not state, which is that of the last drawing: two taps may come before the next one.
  const running = useRef(false)
  const start = async (...args: A): Promise<R | undefined> => {
    if (running.current) return undefined
    running.current = true
    setBusy(true)
    try {
      return await work(...args)
    } catch (error) {
      toastError(error)
      return undefined
    } finally {
      running.current = false
      setBusy(false)
    }
  }
  return { run: start, busy }
}
