import { expect, test } from 'vitest'
import { formatBytes, formatMemory, formatUptime } from '#src/lib/format.ts'

const KB = 1024

test.each([
  [0, '0 B'],
  [1, '1 B'],
  [1023, '1023 B'],
  [KB, '1.0 KB'],
  [1536, '1.5 KB'],
  [1587, '1.5 KB'],
  [1588, '1.6 KB'],
  [KB ** 2 - 1, '1024.0 KB'],
  [KB ** 2, '1.0 MB'],
  [KB ** 3, '1.0 GB'],
  [12.34 * KB ** 3, '12.3 GB'],
  [KB ** 4, '1.0 TB'],
  [KB ** 5, '1024.0 TB'],
  [Number.MAX_SAFE_INTEGER, '8192.0 TB'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test.each([
  [null, '—'],
  [0, '0м'],
  [59, '0м'],
  [60, '1м'],
  [3599, '59м'],
  [3600, '1ч 0м'],
  [86_399, '23ч 59м'],
  [86_400, '1д 0ч'],
  [90_061, '1д 1ч'],
  [400 * 86_400 + 7200, '400д 2ч'],
])('%s seconds are %s', (seconds, text) => {
  expect(formatUptime(seconds)).toBe(text)
})

test.each([
  [1000, 4000, '1000 / 4000 MB'],
  [0, 0, '0 / 0 MB'],
  [null, 4000, '—'],
  [1000, null, '—'],
  [null, null, '—'],
])('%s of %s MB is %s', (used, total, text) => {
  expect(formatMemory(used, total)).toBe(text)
})
