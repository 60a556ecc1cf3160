/** Timestamps as the interface has them: `YYYY-MM-DDTHH:MM:SS`, UTC, no offset. */

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})$/

/** A date as a timestamp; fractions of a second are cut. */
export function formatTimestamp(date: Date): string {
  return date.toISOString().slice(0, 19)
}

/** The date of a timestamp. Throws on anything else: such a string in the database is a fault. */
export function parseTimestamp(text: string): Date {
  const parts = TIMESTAMP.exec(text)
  if (!parts) throw new Error(`not a timestamp: ${text.slice(0, 40)}`)
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second))
}

export function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS)
}

/** The timestamp `ms` milliseconds before `date`. */
export function timestampBefore(date: Date, ms: number): string {
  return formatTimestamp(new Date(date.getTime() - ms))
}

/** Whole days from `reference` to `expiresAt`, never below 0. */
export function daysLeft(expiresAt: string, reference: Date): number {
  return Math.max(
    0,
    Math.floor((parseTimestamp(expiresAt).getTime() - reference.getTime()) / DAY_MS),
  )
}

/** Making one takes 30 µs; a process has one time zone. */
const dayFormats = new Map<string, Intl.DateTimeFormat>()

/** The calendar day of an instant in a time zone, as `YYYY-MM-DD`. */
export function dayIn(timeZone: string, date: Date): string {
  let format = dayFormats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
    dayFormats.set(timeZone, format)
  }
  return format.format(date)
}

/** dd.mm.yyyy, as messages and pages show dates. */
export function formatDay(timeZone: string, date: Date): string {
  const [year, month, day] = dayIn(timeZone, date).split('-')
  return `${day}.${month}.${year}`
}
