import { expect, test } from 'vitest'
import { countOwn } from '#src/domain/customers/own-limits.ts'

const AT = new Date('2026-03-02T12:00:00Z')
const NOW = '2026-03-02T12:00:00'

test.each<[string, string[] | null, string[]]>([
  ['the first', null, [NOW]],
  ['one within the day', ['2026-03-01T12:00:01'], [NOW, '2026-03-01T12:00:01']],
  ['one of the same moment', [NOW], [NOW, NOW]],
  ['those before it', ['2026-03-01T12:00:00', '2026-02-01T12:00:00', '2026-01-01T12:00:00'], [NOW]],
  ['those to come', Array(3).fill('9999-12-31T23:59:59'), [NOW]],
])('counts %s', (_, times, counted) => {
  expect(countOwn(times, AT)).toEqual(counted)
})

test('says after the third when the oldest of them is a day old', () => {
  const times = ['2026-03-02T11:00:00', '2026-03-01T18:00:00', '2026-03-01T12:00:30']
  expect(() => countOwn(times, AT)).toThrow(
    expect.objectContaining({ status: 429, headers: { 'Retry-After': '30' } }),
  )
})
