/** Random histories of customers and their money, against a model: nobody has what they neither paid for nor were given, and no money is lost. */
import { expect, test } from 'vitest'
import { playHistory } from '#test/support/rows/money-history.ts'

const FIRST = Number(process.env.SEED ?? 1)
const TIME_MS = process.env.FULL === '1' ? 600_000 : 25_000

test.each([
  ['without restores', false, 40],
  ['with restores', true, 25],
] as const)('histories %s', { timeout: TIME_MS + 120_000 }, async (name, restores, length) => {
  const until = performance.now() + TIME_MS
  let seed = FIRST
  for (; performance.now() < until; seed++) await playHistory(seed, restores, length)
  console.log(`${seed - FIRST} histories ${name} of ${length} steps, from seed ${FIRST}`)
  expect(seed).toBeGreaterThan(FIRST)
})
