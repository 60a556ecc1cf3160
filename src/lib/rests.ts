/** Who wants to be left alone, and for how long yet; in memory. */
import type { Clock } from './clock.ts'

export interface Rests {
  /** Leaves `name` alone for `ms` from now, or for longer where it wanted that before. */
  rest(name: string, ms: number): void
  /** Milliseconds for which it is still to be left alone; 0: not at all. */
  leftMs(name: string): number
}

export function createRests({ monotonicMs }: Clock): Rests {
  const until = new Map<string, number>()
  const leftMs = (name: string) => Math.max(0, (until.get(name) ?? 0) - monotonicMs())
  return {
    leftMs,
    rest(name, ms) {
      if (ms > leftMs(name)) until.set(name, monotonicMs() + ms)
    },
  }
}
