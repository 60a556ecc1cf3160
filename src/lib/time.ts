/** Timestamps as the interface has them: `YYYY-MM-DDTHH:MM:SS`, UTC, no offset. */

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
export const DAY_SECONDS = DAY_MS / SECOND_MS

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})$/

/** The last moment that a timestamp can say: beyond it the year has five digits. */
export const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59)

/** When something ends that has no end: the last moment that a timestamp can say. */
export const ENDLESS = '9999-12-31T23:59:59'

/** What is said of an end beside it where it is none. */
export const endlessOf = (expiresAt: string): { endless?: true } =>
  expiresAt === ENDLESS ? { endless: true } : {}

/** A date as a timestamp; fractions of a second are cut. Throws outside the years 0 to 9999. */
export function formatTimestamp(date: Date): string {
  const text = date.toISOString()
  if (text.length !== 24) throw new Error(`no timestamp can say ${text}`)
  return text.slice(0, 19)
}

/** `YYYYMMDD-HHMMSS`, as files are named by their moment, UTC. */
export const fileStamp = (date: Date): string =>
  formatTimestamp(date).replace(/[-:]/g, '').replace('T', '-')

/** The date `ms` later, at most the last one that a timestamp can say. */
export function later(date: Date, ms: number): Date {
  return new Date(Math.min(date.getTime() + ms, LAST_MS))
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

const daysBetween = (expiresAt: string, reference: Date): number =>
  Math.max(0, (parseTimestamp(expiresAt).getTime() - reference.getTime()) / DAY_MS)

/** Whole days from `reference` to `expiresAt`, never below 0: `days_left` of the interface. */
export const daysLeft = (expiresAt: string, reference: Date): number =>
  Math.floor(daysBetween(expiresAt, reference))

/** The days that are left as people count them, a begun one counted: 30 right after buying 30, 1 on the last, 0 after the end. */
export const daysToGo = (expiresAt: string, reference: Date): number =>
  Math.ceil(daysBetween(expiresAt, reference))

/** Making one takes up to a millisecond; a process has one time zone. */
const dayFormats = new Map<string, Intl.DateTimeFormat>()

function dayFormatOf(timeZone: string): Intl.DateTimeFormat {
  let format = dayFormats.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
    dayFormats.set(timeZone, format)
  }
  return format
}

/** Whether the runtime knows a time zone of this name (IANA's database). */
export function isTimeZone(name: string): boolean {
  try {
    dayFormatOf(name)
    return true
  } catch {
    return false
  }
}

/** The calendar day of an instant in a time zone, as `YYYY-MM-DD`. */
export const dayIn = (timeZone: string, date: Date): string => dayFormatOf(timeZone).format(date)

/** dd.mm.yyyy, as messages and pages show dates. */
export function formatDay(timeZone: string, date: Date): string {
  const [year, month, day] = dayIn(timeZone, date).split('-')
  return `${day}.${month}.${year}`
}

/** Whether a calendar day begins at an instant. */
const isStart = (timeZone: string, day: string, at: Date): boolean =>
  dayIn(timeZone, at) >= day && dayIn(timeZone, new Date(at.getTime() - SECOND_MS)) < day

/**
 * The first instant of a calendar day in a time zone, by what `dayIn` says. `likely` is where it is looked for first: days without a
 * change of clocks begin 24 hours apart, and asking `dayIn` is what costs.
 */
export function startOfDay(timeZone: string, day: string, likely?: Date): Date {
  if (likely && isStart(timeZone, day, likely)) return likely
  const midnight = parseTimestamp(`${day}T00:00:00`).getTime()
  // No zone is further than 15 hours from UTC.
  let before = midnight - 15 * HOUR_MS
  let reached = midnight + 15 * HOUR_MS
  while (reached - before > SECOND_MS) {
    const middle = before + Math.floor((reached - before) / 2 / SECOND_MS) * SECOND_MS
    if (dayIn(timeZone, new Date(middle)) < day) before = middle
    else reached = middle
  }
  return new Date(reached)
}

export interface DaySpan {
  /** `YYYY-MM-DD` in the time zone. */
  day: string
  /** Timestamps: the day is [from, to). */
  from: string
  to: string
}

/** The last `count` calendar days of a time zone, oldest first; the last one is today. */
export function lastDays(timeZone: string, now: Date, count: number): DaySpan[] {
  const today = parseTimestamp(`${dayIn(timeZone, now)}T00:00:00`)
  const days = Array.from({ length: count + 1 }, (_, i) =>
    formatTimestamp(addDays(today, i + 1 - count)).slice(0, 10),
  )
  let start: Date | undefined
  const starts = days.map((day) => {
    start = startOfDay(timeZone, day, start && addDays(start, 1))
    return formatTimestamp(start)
  })
  return starts.slice(1).map((to, i) => ({
    day: days[i] as string,
    from: starts[i] as string,
    to,
  }))
}
