/** How often something is done, counted in memory by whom or what it is done for. */
import type { Clock } from './clock.ts'

/** At most `most` within `inMs`. */
export interface Rate {
  most: number
  inMs: number
}

/** What a turn counts for, and how many of it there are. */
export type Share = [key: string, ...rates: Rate[]]

export interface Turns {
  /**
   * Takes a turn of all these shares and gives 0; or takes none of them, and gives the milliseconds until there is one of each. A
   * key has the same rates each time.
   */
  take(...shares: Share[]): number | Promise<number>
}

/** Turns of which none was taken yet. Their memory is of the keys that had one within `longestMs`, the longest of all rates. */
export function createTurns({ monotonicMs }: Clock, longestMs: number) {
  /** When each had its turns, oldest first; whose last one is latest is at the end. */
  const taken = new Map<string, number[]>()

  const forget = (now: number) => {
    for (const [key, times] of taken) {
      if ((times.at(-1) as number) > now - longestMs) return
      taken.delete(key)
    }
  }
  const waitMs = (now: number, [key, ...rates]: Share): number => {
    const times = taken.get(key) ?? []
    const waits = rates.map(({ most, inMs }) => {
      const before = times.at(-most)
      return before === undefined ? 0 : before + inMs - now
    })
    return Math.max(0, ...waits)
  }
  const note = (now: number, key: string) => {
    const times = (taken.get(key) ?? []).filter((time) => time > now - longestMs)
    taken.delete(key)
    taken.set(key, [...times, now])
  }
  return {
    take(...shares: Share[]): number {
      const now = monotonicMs()
      forget(now)
      const wait = Math.max(...shares.map((share) => waitMs(now, share)))
      if (wait === 0) for (const [key] of shares) note(now, key)
      return wait
    },
  }
}
