import { describe, expect, test } from 'vitest'
import {
  addDays,
  dayIn,
  daysLeft,
  daysToGo,
  formatDay,
  formatTimestamp,
  lastDays,
  later,
  parseTimestamp,
  timestampBefore,
} from '#src/lib/time.ts'

const at = (text: string) => new Date(`${text}Z`)

describe('timestamps', () => {
  test.each([
    ['2026-03-01T12:00:00.000', '2026-03-01T12:00:00'],
    ['2026-03-01T12:00:00.999', '2026-03-01T12:00:00'],
    ['1970-01-01T00:00:00.000', '1970-01-01T00:00:00'],
    ['2024-02-29T23:59:59.001', '2024-02-29T23:59:59'],
  ])('%s is written %s', (date, text) => {
    expect(formatTimestamp(at(date))).toBe(text)
  })

  test.each([
    '1970-01-01T00:00:00',
    '2024-02-29T23:59:59',
    '2038-01-19T03:14:08',
    '9999-12-31T23:59:59',
  ])('%s is read as UTC and written back', (text) => {
    expect(parseTimestamp(text).getTime()).toBe(at(text).getTime())
    expect(formatTimestamp(parseTimestamp(text))).toBe(text)
  })

  test.each([
    '',
    '2026-03-01',
    '2026-03-01 12:00:00',
    '2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00+00:00',
    '2026-03-01T12:00:00.000',
    '2026-3-1T12:00:00',
    ' 2026-03-01T12:00:00',
    '2026-03-01T12:00:00\n',
    '٢٠٢٦-03-01T12:00:00',
  ])('%j is refused', (text) => {
    expect(() => parseTimestamp(text)).toThrow('not a timestamp')
  })

  test('the refusal repeats no more than a little of a long text', () => {
    expect(() => parseTimestamp('x'.repeat(500))).toThrow(/^not a timestamp: x{40}$/)
  })

  test('a date that no timestamp can say is a fault, and none is made later than the last one', () => {
    const last = at('9999-12-31T23:59:59')
    expect(() => formatTimestamp(new Date(last.getTime() + 1000))).toThrow('no timestamp can say')
    expect(() => formatTimestamp(new Date(-1e14))).toThrow('no timestamp can say')
    expect(later(last, 1).getTime()).toBe(last.getTime())
    expect(formatTimestamp(later(at('2026-03-01T12:00:00'), 1000))).toBe('2026-03-01T12:00:01')
  })

  test('days are 24 hours, whatever a calendar does', () => {
    expect(formatTimestamp(addDays(at('2026-03-28T12:00:00'), 2))).toBe('2026-03-30T12:00:00')
    expect(formatTimestamp(addDays(at('2024-02-28T00:00:00'), 1))).toBe('2024-02-29T00:00:00')
    expect(timestampBefore(at('2026-03-01T00:00:00.500'), 1000)).toBe('2026-02-28T23:59:59')
  })
})

describe('days left', () => {
  test.each([
    ['2026-03-31T12:00:00', '2026-03-01T12:00:00', 30, 30],
    ['2026-03-31T11:59:59', '2026-03-01T12:00:00', 29, 30],
    ['2026-03-02T12:00:00', '2026-03-01T12:00:00.001', 0, 1],
    ['2026-03-02T12:00:00', '2026-03-01T12:00:00', 1, 1],
    ['2026-03-01T12:00:01', '2026-03-01T12:00:00', 0, 1],
    ['2026-03-01T12:00:00', '2026-03-01T12:00:00', 0, 0],
    ['2026-03-01T11:59:59', '2026-03-01T12:00:00', 0, 0],
    ['2020-01-01T00:00:00', '2026-03-01T12:00:00', 0, 0],
    ['2027-03-01T12:00:00', '2026-03-01T12:00:00', 365, 365],
    ['9999-12-31T23:59:59', '9999-01-01T00:00:00', 364, 365],
  ])('until %s from %s: %i whole ones, %i with a begun one', (expiresAt, reference, days, toGo) => {
    expect(daysLeft(expiresAt, at(reference))).toBe(days)
    expect(daysToGo(expiresAt, at(reference))).toBe(toGo)
  })
})

describe('calendar days', () => {
  test.each([
    ['UTC', '2026-03-31T23:59:59', '31.03.2026'],
    ['Europe/Moscow', '2026-03-31T20:59:59', '31.03.2026'],
    ['Europe/Moscow', '2026-03-31T21:00:00', '01.04.2026'],
    ['America/New_York', '2026-04-01T03:59:59', '31.03.2026'],
    ['Europe/Berlin', '2026-03-29T00:59:59', '29.03.2026'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00', '01.01.2027'],
    ['UTC', '2026-01-05T00:00:00', '05.01.2026'],
  ])('in %s %s is %s', (zone, date, day) => {
    expect(formatDay(zone, at(date))).toBe(day)
  })

  test('sort as text', () => {
    expect(dayIn('UTC', at('2026-01-05T00:00:00'))).toBe('2026-01-05')
  })
})

describe('lastDays', () => {
  test.each([
    ['UTC', '2026-03-01T23:59:59', '2026-03-01', '2026-03-01T00:00:00', '2026-03-02T00:00:00'],
    [
      'Asia/Tokyo',
      '2026-03-01T15:00:00',
      '2026-03-02',
      '2026-03-01T15:00:00',
      '2026-03-02T15:00:00',
    ],
    [
      'Pacific/Kiritimati',
      '2026-03-01T09:59:59',
      '2026-03-01',
      '2026-02-28T10:00:00',
      '2026-03-01T10:00:00',
    ],
    [
      'Etc/GMT+12',
      '2026-03-01T12:00:00',
      '2026-03-01',
      '2026-03-01T12:00:00',
      '2026-03-02T12:00:00',
    ],
    [
      'Asia/Kathmandu',
      '2026-03-01T18:15:00',
      '2026-03-02',
      '2026-03-01T18:15:00',
      '2026-03-02T18:15:00',
    ],
    [
      'Europe/Berlin',
      '2026-03-29T12:00:00',
      '2026-03-29',
      '2026-03-28T23:00:00',
      '2026-03-29T22:00:00',
    ],
    [
      'Europe/Berlin',
      '2026-10-25T12:00:00',
      '2026-10-25',
      '2026-10-24T22:00:00',
      '2026-10-25T23:00:00',
    ],
    // Summer time begins at midnight: the day begins at one.
    [
      'Africa/Cairo',
      '2026-04-24T12:00:00',
      '2026-04-24',
      '2026-04-23T22:00:00',
      '2026-04-24T21:00:00',
    ],
    // The one day that Samoa never had.
    [
      'Pacific/Apia',
      '2011-12-31T00:00:00',
      '2011-12-31',
      '2011-12-30T10:00:00',
      '2011-12-31T10:00:00',
    ],
  ])('in %s at %s is the day %s from %s to %s', (zone, now, day, from, to) => {
    expect(lastDays(zone, at(now), 1)).toEqual([{ day, from, to }])
  })

  test('lie side by side over a year, each as long as its clock says', () => {
    const days = lastDays('America/Sao_Paulo', at('2018-12-31T12:00:00'), 365)
    expect(days.map(({ day }) => day).slice(0, 2)).toEqual(['2018-01-01', '2018-01-02'])
    expect(days.slice(1).map(({ from }) => from)).toEqual(days.slice(0, -1).map(({ to }) => to))
    const hours = days.map(
      ({ from, to }) => (parseTimestamp(to).getTime() - parseTimestamp(from).getTime()) / 3_600_000,
    )
    expect([...new Set(hours)].sort()).toEqual([23, 24, 25])
  })
})
