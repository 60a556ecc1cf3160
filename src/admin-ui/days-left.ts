/** The days of a subscription as people count them. */

const DAY_MS = 86_400_000
const moment = (timestamp: string) => Date.parse(`${timestamp}Z`)

/**
 * The days that are left, a begun one counted: 30 right after a grant of 30 days, 1 on the last. `days_left` of the interface
 * counts whole ones, by the service's clock; a held one's stand still.
 */
export function daysToGo(
  one: { expires_at: string; held_at: string | null; days_left: number },
  now = Date.now(),
): number {
  const end = moment(one.expires_at)
  if (one.held_at !== null) return Math.max(0, Math.ceil((end - moment(one.held_at)) / DAY_MS))
  return one.days_left + (end > now ? 1 : 0)
}
