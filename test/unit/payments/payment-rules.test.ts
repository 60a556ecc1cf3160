import { describe, expect, test } from 'vitest'
import { isAmount, nextCheckAt } from '#src/domain/payments/rules.ts'
import { formatTimestamp, parseTimestamp } from '#src/lib/time.ts'

describe('isAmount', () => {
  test.each(['199', '199.0', '199.00', '199.', '0199', ' 199 ', '199.000000'])(
    '%j is 199',
    (text) => {
      expect(isAmount(text, 199)).toBe(true)
    },
  )
  test.each([
    ...['', '.', '198', '1990', '199.01', '199.001', '199,00', '-199', '+199', '1.99e2', '0xc7'],
    ...['199.00 RUB', '199 00', 'NaN', 'Infinity', '١٩٩', '199\n200', '199.0.0'],
  ])('%j is not 199', (text) => {
    expect(isAmount(text, 199)).toBe(false)
  })
  test('0 is no amount that stands for nothing', () => {
    expect([isAmount('0', 0), isAmount('', 0), isAmount('.00', 0)]).toEqual([true, false, false])
  })
})

describe('nextCheckAt', () => {
  const created = '2026-03-01T12:00:00'
  const at = (seconds: number) => new Date(parseTimestamp(created).getTime() + seconds * 1000)
  const HOUR = 3600
  test.each([
    [0, 60],
    [HOUR - 1, 60],
    [HOUR, 300],
    [6 * HOUR - 1, 300],
    [6 * HOUR, 1800],
    [24 * HOUR - 1, 1800],
    [24 * HOUR, 86_400],
    [168 * HOUR - 1, 86_400],
    // Of a clock that was set back.
    [-HOUR, 60],
  ])('at an age of %i s it is asked again in %i s', (age, wait) => {
    expect(nextCheckAt(created, at(age))).toBe(formatTimestamp(at(age + wait)))
  })
  test('after a week it is not asked again', () => {
    expect(nextCheckAt(created, at(168 * HOUR))).toBeNull()
  })
  test('a provider that wants to be left alone longer is', () => {
    expect(nextCheckAt(created, at(0), 90_000)).toBe(formatTimestamp(at(90)))
    expect(nextCheckAt(created, at(0), 1000)).toBe(formatTimestamp(at(60)))
  })
})
