/** Days of a subscription in the panel. */
import { expect, test } from 'vitest'
import { daysToGo, daysUntil } from '#src/admin-ui/days-left.ts'
import { daysLeft } from '#src/lib/time.ts'

const NOW = new Date('2026-03-01T12:00:00.400Z')

test.each([
  ['30 right after a grant of 30 days', '2026-03-31T12:00:00', 30],
  ['30 an hour later', '2026-03-31T11:00:00', 30],
  ['29 a day later', '2026-03-30T12:00:00', 29],
  ['1 on the last day', '2026-03-02T11:59:59', 1],
  ['1 in the last second', '2026-03-01T12:00:01', 1],
  ['0 when it has ended', '2026-03-01T12:00:00', 0],
  ['0 long after it', '2026-01-01T12:00:00', 0],
])('%s', (_name, expires_at, days) => {
  const one = { expires_at, held_at: null, days_left: daysLeft(expires_at, NOW) }
  expect(daysToGo(one, NOW.getTime())).toBe(days)
  expect(daysUntil(expires_at, NOW.getTime())).toBe(days)
})

test.each([
  ['stand still: 30 where it was held in the second of its grant', '2026-02-01T12:00:00', 30],
  ['stand still: 29 a day after it', '2026-02-02T12:00:00', 29],
  ['stand still: a begun one counts', '2026-03-03T11:00:00', 1],
])('%s', (_name, held_at, days) => {
  const expires_at = '2026-03-03T12:00:00'
  const one = { expires_at, held_at, days_left: 0 }
  expect(daysToGo(one, NOW.getTime())).toBe(days)
})
