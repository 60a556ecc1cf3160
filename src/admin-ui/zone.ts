/** Times of `datetime-local` fields, in the zone that the panel shows times in. */
import { boot } from './boot.ts'
import { moment, toTimestamp } from './format.ts'

const MINUTE_MS = 60_000

const parts = new Intl.DateTimeFormat('en-CA', {
  timeZone: boot.timezone,
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** The wall clock of the zone at a moment, as if it were UTC. */
function wallClock(at: number): number {
  const found = Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]))
  return Date.UTC(
    Number(found.year),
    Number(found.month) - 1,
    Number(found.day),
    Number(found.hour),
    Number(found.minute),
  )
}

/** A timestamp of the API as the value of a field. */
export const fieldTime = (timestamp: string) =>
  new Date(wallClock(moment(timestamp).getTime())).toISOString().slice(0, 16)

/** The value of a field as a timestamp of the API; what is no time stays as it is, for the service to refuse. */
export function timestampOfField(value: string): string {
  const wall = Date.parse(`${value}Z`)
  if (Number.isNaN(wall)) return value
  // The offset at the wall's own moment may be another than at the one looked for: two steps meet it.
  let at = wall
  for (let step = 0; step < 2; step++) {
    at = wall - (wallClock(at) - Math.floor(at / MINUTE_MS) * MINUTE_MS)
  }
  return toTimestamp(new Date(at))
}
