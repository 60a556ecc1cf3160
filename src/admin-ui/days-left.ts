/** The days of a subscription as people count them. */

const DAY_MS = 86_400_000
/** When something ends that has no end. */
export const ENDLESS = '9999-12-31T23:59:59'

const moment = (timestamp: string) => Date.parse(`${timestamp}Z`)

/** The days to the end of what runs, a begun one counted. */
export const daysUntil = (end: string, now = Date.now()): number =>
  Math.max(0, Math.ceil((moment(end) - now) / DAY_MS))

/** Of a delayed start. */
interface Delayed {
  start_seconds?: number
  started_at?: string | null
}

/** Whether a subscription waits for its first use. */
export const isWaiting = ({ start_seconds, started_at }: Delayed): boolean =>
  start_seconds !== undefined && started_at === null

/** The days that it has from then on. */
export const waitingDays = ({ start_seconds = 0 }: Delayed): number =>
  Math.ceil((start_seconds * 1000) / DAY_MS)

/**
 * The days that are left, a begun one counted: 30 right after a grant of 30 days, 1 on the last. `days_left` of the interface
 * counts whole ones, by the service's clock; a held one's stand still.
 */
export function daysToGo(
  one: Delayed & { expires_at: string; held_at: string | null; days_left: number },
  now = Date.now(),
): number {
  if (isWaiting(one)) return waitingDays(one)
  if (one.held_at !== null) return daysUntil(one.expires_at, moment(one.held_at))
  return one.days_left + (moment(one.expires_at) > now ? 1 : 0)
}
