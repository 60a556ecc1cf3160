/** Days, weeks and months as calendars and clocks of a time zone have them. */
import { expect, test } from 'vitest'
import { nextCalendarPeriod, nextMonthFrom } from '#src/lib/periods.ts'
import { formatTimestamp, parseTimestamp } from '#src/lib/time.ts'

const BERLIN = 'Europe/Berlin'

const calendar = (period: 'day' | 'week' | 'month', now: string, zone = BERLIN) =>
  formatTimestamp(nextCalendarPeriod(zone, period, parseTimestamp(now)))
const monthFrom = (anchor: string, now: string, zone = BERLIN) =>
  formatTimestamp(nextMonthFrom(zone, parseTimestamp(anchor), parseTimestamp(now)))

test.each([
  ['day', '2026-03-01T12:00:00', '2026-03-01T23:00:00'],
  ['day', '2026-03-01T23:00:00', '2026-03-02T23:00:00'],
  // The nights in which clocks change: a day of 23 hours, and one of 25.
  ['day', '2026-03-28T23:00:00', '2026-03-29T22:00:00'],
  ['day', '2026-10-24T22:00:00', '2026-10-25T23:00:00'],
  // From Monday: Sunday's end, and a Monday's own.
  ['week', '2026-03-01T12:00:00', '2026-03-01T23:00:00'],
  ['week', '2026-03-02T12:00:00', '2026-03-08T23:00:00'],
  ['week', '2026-03-28T12:00:00', '2026-03-29T22:00:00'],
  ['month', '2026-01-31T22:59:59', '2026-01-31T23:00:00'],
  ['month', '2026-01-31T23:00:00', '2026-02-28T23:00:00'],
  ['month', '2026-12-31T23:00:00', '2027-01-31T23:00:00'],
  ['month', '2026-03-15T00:00:00', '2026-03-31T22:00:00'],
] as const)('the %s after %s begins at %s', (period, now, next) => {
  expect(calendar(period, now)).toBe(next)
})

test('periods are those of their time zone', () => {
  expect(calendar('day', '2026-03-01T12:00:00', 'Asia/Tokyo')).toBe('2026-03-01T15:00:00')
  expect(calendar('month', '2026-03-31T16:00:00', 'Asia/Tokyo')).toBe('2026-04-30T15:00:00')
  expect(calendar('month', '2026-03-31T16:00:00', 'America/New_York')).toBe('2026-04-01T04:00:00')
})

test('a month of 31 days from the last of January ends with each month, and is the 31st again', () => {
  const anchor = '2026-01-31T10:30:15'
  const ends: string[] = []
  let now = anchor
  for (let i = 0; i < 6; i++) {
    now = monthFrom(anchor, now, 'UTC')
    ends.push(now)
  }
  expect(ends).toEqual([
    '2026-02-28T10:30:15',
    '2026-03-31T10:30:15',
    '2026-04-30T10:30:15',
    '2026-05-31T10:30:15',
    '2026-06-30T10:30:15',
    '2026-07-31T10:30:15',
  ])
})

test.each([
  ['of a leap year', '2028-01-30T00:00:00', '2028-02-01T00:00:00', '2028-02-29T00:00:00'],
  ['after years', '2020-05-17T08:00:00', '2026-05-17T08:00:00', '2026-06-17T08:00:00'],
  ['a second before', '2026-01-15T08:00:00', '2026-03-15T07:59:59', '2026-03-15T08:00:00'],
])('a month from a moment: %s', (_name, anchor, now, next) => {
  expect(monthFrom(anchor, now, 'UTC')).toBe(next)
})

test('a month from a moment keeps the time on the wall when clocks change', () => {
  // 9:00 in Berlin: an hour earlier in UTC from the end of March on, and again later from the end of October on.
  expect(monthFrom('2026-03-15T08:00:00', '2026-03-15T08:00:00')).toBe('2026-04-15T07:00:00')
  expect(monthFrom('2026-03-15T08:00:00', '2026-10-20T00:00:00')).toBe('2026-11-15T08:00:00')
})

test('the end of a short day is of that day', () => {
  // 23:30 of the 29th of March, which has 23 hours in Berlin.
  expect(monthFrom('2026-01-29T22:30:00', '2026-03-01T00:00:00')).toBe('2026-03-29T21:30:00')
})

test('a time that the clock leaps over comes as long after midnight as it would have', () => {
  // 02:30 of the 29th of March is none in Berlin.
  expect(monthFrom('2026-01-29T01:30:00', '2026-03-01T00:00:00')).toBe('2026-03-29T01:30:00')
})

test('whatever the moment, the next month is later than now and at most 31 days and an hour away', () => {
  let state = 7
  const random = (most: number) => {
    state = (state * 48271) % 2147483647
    return state % most
  }
  for (let i = 0; i < 2000; i++) {
    const anchor = new Date(Date.UTC(2024, 0, 1) + random(2 * 365 * 86400) * 1000)
    const now = new Date(anchor.getTime() + random(3 * 365 * 86400) * 1000)
    const next = nextMonthFrom(BERLIN, anchor, now)
    expect(next > now).toBe(true)
    expect(next.getTime() - now.getTime()).toBeLessThanOrEqual((31 * 24 + 1) * 3_600_000)
  }
})
