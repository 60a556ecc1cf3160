import { beforeEach, expect, test, vi } from 'vitest'
import { type Counts, type CountWord, createCounts, joinCounts } from '#src/lib/counts.ts'
import type { Share } from '#src/lib/turns.ts'
import { createHandClock } from '#test/support/worlds/world.ts'

let clock: ReturnType<typeof createHandClock>
let first: Counts
beforeEach(() => {
  clock = createHandClock('2026-03-01T12:00:00')
  first = createCounts(clock)
})

/** Another process that counts with the first one; what they say passes as between processes. */
function join() {
  const pass = <T extends CountWord>(word: T): T => structuredClone(word)
  const member = joinCounts(clock, (word) => void there.hear(pass(word)))
  const there = first.admit((word) => member.hear(pass(word)))
  const part = () => {
    there.leave()
    member.leave()
  }
  return { ...member.counts, part }
}

const TWICE: Share = ['a', { most: 2, inMs: 1000 }]

test('turns are counted once for all, by their name', async () => {
  const [second, third] = [join(), join()]
  const all = [first, second, third].map((one) => one.turnsOf('some', 1000))
  const waits = []
  for (const turns of all) waits.push(await turns.take(TWICE))
  expect(waits).toEqual([0, 0, 1000])
  expect(await second.turnsOf('others', 1000).take(TWICE)).toBe(0)
  clock.advance(1000)
  expect(await third.turnsOf('some', 1000).take(TWICE)).toBe(0)
})

test('a rest that one is told of all keep', () => {
  const [second, third] = [join(), join()]
  second.rests.rest('gateway', 5000)
  expect([first, second, third].map((one) => one.rests.leftMs('gateway'))).toEqual(
    Array(3).fill(5000),
  )
  first.rests.rest('gateway', 9000)
  clock.advance(1000)
  expect([second, third].map((one) => one.rests.leftMs('gateway'))).toEqual([8000, 8000])
})

test('one that has no answer counts by itself', async () => {
  vi.useFakeTimers()
  const member = joinCounts(clock, () => {})
  const turns = member.counts.turnsOf('some', 1000)
  const under = turns.take(TWICE)
  await vi.advanceTimersByTimeAsync(1000)
  expect(await under).toBe(0)
  vi.useRealTimers()
  member.leave()
  expect([await turns.take(TWICE), await turns.take(TWICE)]).toEqual([0, 1000])

  const second = join()
  second.part()
  first.rests.rest('gateway', 5000)
  expect(second.rests.leftMs('gateway')).toBe(0)
})
