/** How long things wait for the event loop of a process: its stalls as they happened, and what they come to. */
import { writeFileSync } from 'node:fs'

const EVERY_MS = 2
const NOTED_MS = 1

/** A stall: when it ended (milliseconds since 1970) and how late the timer was. */
export type Stall = [endedAt: number, lateMs: number]

/** Notes every stall of this process until its end, then writes them to a file as JSON. */
export function recordStalls(file: string): void {
  const stalls: Stall[] = []
  let due = performance.now() + EVERY_MS
  const look = () => {
    const now = performance.now()
    if (now - due > NOTED_MS) stalls.push([performance.timeOrigin + now, now - due])
    due = now + EVERY_MS
    setTimeout(look, EVERY_MS)
  }
  setTimeout(look, EVERY_MS)
  process.on('exit', () => writeFileSync(file, JSON.stringify(stalls)))
}

/**
 * The wait that 99 % of the moments from `from` to `to` did not exceed: what would come at an instant during a stall of 50 ms
 * waits for the rest of it. Counting stalls instead of moments would hide the long ones.
 */
export function lagP99Ms(stalls: Stall[], from: number, to: number): number {
  const inside = stalls.filter(([endedAt]) => endedAt > from && endedAt <= to)
  const spare = (to - from) * 0.01
  const above = (limit: number) =>
    inside.reduce((sum, [, lateMs]) => sum + Math.max(0, lateMs - limit), 0)
  let low = 0
  let high = Math.max(0, ...inside.map(([, lateMs]) => lateMs))
  while (high - low > 0.01) {
    const middle = (low + high) / 2
    if (above(middle) > spare) low = middle
    else high = middle
  }
  return high
}
