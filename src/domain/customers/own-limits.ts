/** How often customers may do by their own hand what costs more than a row. */
import { tooMany } from '#src/lib/errors.ts'
import { DAY_MS, formatTimestamp, parseTimestamp, timestampBefore } from '#src/lib/time.ts'

const MOST = 3
const WINDOW_MS = DAY_MS

/**
 * The times at which somebody did something, newest first, with one more: those that count. Throws 429 where it was done 3 times in
 * the 24 hours before.
 */
export function countOwn(times: string[] | null, at: Date): string[] {
  const now = formatTimestamp(at)
  const since = timestampBefore(at, WINDOW_MS)
  // Times to come are those of a clock that was wrong, or of somebody's archive: they would count for ever.
  const counted = (times ?? []).filter((when) => when > since && when <= now)
  const oldest = counted[MOST - 1]
  if (oldest !== undefined) {
    throw tooMany((parseTimestamp(oldest).getTime() + WINDOW_MS - at.getTime()) / 1000)
  }
  return [now, ...counted]
}
