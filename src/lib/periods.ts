/** When periods begin that calendars make: days, weeks and months of a time zone, and months from a moment on. */
import { addDays, DAY_MS, dayIn, formatTimestamp, parseTimestamp, startOfDay } from './time.ts'

export type CalendarPeriod = 'day' | 'week' | 'month'

/** A calendar day, so many later. */
const dayLater = (day: string, days: number): string =>
  formatTimestamp(addDays(parseTimestamp(`${day}T00:00:00`), days)).slice(0, 10)

/** The first day of a month that begins so many months after that of `day`. */
function monthLater(day: string, months: number): string {
  const [year = 0, month = 1] = day.split('-').map(Number)
  return formatTimestamp(new Date(Date.UTC(year, month - 1 + months, 1))).slice(0, 10)
}

/** Days since the last Monday. */
const sinceMonday = (day: string): number => (parseTimestamp(`${day}T00:00:00`).getUTCDay() + 6) % 7

/** The first day of the period after the one that a day lies in. */
function nextFirstDay(period: CalendarPeriod, day: string): string {
  if (period === 'day') return dayLater(day, 1)
  return period === 'week' ? dayLater(day, 7 - sinceMonday(day)) : monthLater(day, 1)
}

/** Days that were asked for: of a hundred thousand periods that end at once the next ones begin on a few. */
const REMEMBERED_DAYS = 1000
const starts = new Map<string, Date>()

function beginningOf(timeZone: string, day: string): Date {
  const key = `${timeZone} ${day}`
  const start = starts.get(key) ?? startOfDay(timeZone, day)
  if (starts.size >= REMEMBERED_DAYS) starts.clear()
  starts.set(key, start)
  return start
}

/** When the next day, week (from Monday) or month of a time zone begins. */
export const nextCalendarPeriod = (timeZone: string, period: CalendarPeriod, now: Date): Date =>
  beginningOf(timeZone, nextFirstDay(period, dayIn(timeZone, now)))

/** Making one takes up to a millisecond; a process has one time zone. */
const wallClocks = new Map<string, Intl.DateTimeFormat>()

function wallClockOf(timeZone: string): Intl.DateTimeFormat {
  let format = wallClocks.get(timeZone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium', hourCycle: 'h23' })
    wallClocks.set(timeZone, format)
  }
  return format
}

/** How far the clock on the wall has got since it showed midnight. */
function timeOfDayMs(timeZone: string, at: Date): number {
  return parseTimestamp(`1970-01-01T${wallClockOf(timeZone).format(at)}`).getTime()
}

/** The instant of a day at which the clock on the wall shows a time; where it leaps over that, as long after midnight. */
function atTimeOfDay(timeZone: string, day: string, timeMs: number): Date {
  const elapsed = beginningOf(timeZone, day).getTime() + timeMs
  const behind = timeMs - timeOfDayMs(timeZone, new Date(elapsed))
  // A short day may be over by then: the clock shows the beginning of the next.
  const shown = new Date(elapsed + (behind > DAY_MS / 2 ? behind - DAY_MS : behind))
  return timeOfDayMs(timeZone, shown) === timeMs ? shown : new Date(elapsed)
}

/** The day of a month that is so many months after that of `day`; its last one where it has no such day. */
function sameDayLater(day: string, months: number): string {
  const wanted = Number(day.slice(8))
  const last = dayLater(monthLater(day, months + 1), -1)
  return Number(last.slice(8)) < wanted ? last : `${last.slice(0, 8)}${day.slice(8)}`
}

/** The first moment after `now` that is a whole number of months after `anchor`, by the calendar and the clock of a time zone. */
export function nextMonthFrom(timeZone: string, anchor: Date, now: Date): Date {
  const day = dayIn(timeZone, anchor)
  const timeMs = timeOfDayMs(timeZone, anchor)
  // A month has 31 days at most.
  let months = Math.max(1, Math.floor((now.getTime() - anchor.getTime()) / (31 * DAY_MS)))
  let next = atTimeOfDay(timeZone, sameDayLater(day, months), timeMs)
  while (next <= now) next = atTimeOfDay(timeZone, sameDayLater(day, ++months), timeMs)
  return next
}
