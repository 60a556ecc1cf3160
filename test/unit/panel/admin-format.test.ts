import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { PanelBoot } from '#src/web/panel-page.ts'

type Format = typeof import('#src/admin-ui/format.ts')

let format: Format
beforeAll(async () => {
  const boot: Partial<PanelBoot> = { lang: 'en', timezone: 'UTC', currency: 'RUB' }
  const element = { dataset: { boot: JSON.stringify(boot) } }
  vi.stubGlobal('document', { getElementById: () => element })
  format = await import('#src/admin-ui/format.ts')
  vi.useFakeTimers({ now: new Date('2026-11-22T12:00:00Z') })
})
afterAll(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

test.each([
  [40, 'in 40 sec.'],
  [5 * MINUTE, 'in 5 min.'],
  [23 * HOUR, 'in 23 hr.'],
  [DAY, 'tomorrow'],
  [45 * DAY, 'in 45 days'],
  [89 * DAY, 'in 89 days'],
  [90 * DAY, 'in 3 mo.'],
  [700 * DAY, 'in 23 mo.'],
  [730 * DAY, 'in 2 yr.'],
  [-5 * MINUTE, '5 min. ago'],
  [-45 * DAY, '45 days ago'],
  [-89 * DAY, '89 days ago'],
  [-90 * DAY, '3 mo. ago'],
])('what is %i seconds away is "%s"', (seconds, text) => {
  expect(format.relative(format.toTimestamp(new Date(Date.now() + seconds * 1000)))).toBe(text)
})

test.each([
  [0, '0 B', '0 B/s'],
  [1023, '1,023 B', '1,023 B/s'],
  [1024, '1 kB', '1 kB/s'],
  [1_600_000, '1.5 MB', '1.5 MB/s'],
  [5 * 1024 ** 3, '5 GB', '5 GB/s'],
])('%i bytes are "%s", and "%s" each second', (n, size, rate) => {
  expect(format.bytes(n)).toBe(size)
  expect(format.rate(n)).toBe(rate)
})
