import { beforeEach, describe, expect, test } from 'vitest'
import { createRests } from '#src/lib/rests.ts'
import { createTurns, type Share } from '#src/lib/turns.ts'
import { createHandClock } from '#test/support/worlds/world.ts'

let clock: ReturnType<typeof createHandClock>
beforeEach(() => {
  clock = createHandClock('2026-03-01T12:00:00')
})

describe('turns', () => {
  const pair = (key: string): Share => [key, { most: 2, inMs: 1000 }, { most: 3, inMs: 5000 }]

  test('are counted by key and by each rate; one that is refused does not count', () => {
    const turns = createTurns(clock, 5000)
    expect([turns.take(pair('a')), turns.take(pair('a'))]).toEqual([0, 0])
    clock.advance(400)
    for (let i = 0; i < 10; i++) expect(turns.take(pair('a'))).toBe(600)
    expect(turns.take(pair('b'))).toBe(0)
    clock.advance(600)
    expect(turns.take(pair('a'))).toBe(0)
    expect(turns.take(pair('a'))).toBe(4000)
    clock.advance(4000)
    expect([turns.take(pair('a')), turns.take(pair('a'))]).toEqual([0, 0])
  })

  test('of several shares are taken together or not at all', () => {
    const turns = createTurns(clock, 5000)
    const one = (key: string): Share => [key, { most: 1, inMs: 1000 }]
    expect(turns.take(one('a'), pair('both'))).toBe(0)
    for (let i = 0; i < 5; i++) expect(turns.take(one('a'), pair('both'))).toBe(1000)
    expect(turns.take(one('b'), pair('both'))).toBe(0)
    expect(turns.take(one('c'), pair('both'))).toBe(1000)
    // The third was refused for the other share alone.
    expect(turns.take(one('c'))).toBe(0)
  })

  test('are there for a new key whatever fractions of a millisecond the clock has', () => {
    const turns = createTurns(clock, 60_000)
    for (let i = 0; i < 1000; i++) {
      clock.advance(Math.SQRT2 * i)
      const rates = [5000, 60_000].map((inMs) => ({ most: 1, inMs }))
      expect(turns.take([`key ${i}`, ...rates])).toBe(0)
    }
  })

  test('do not follow the wall clock', () => {
    const turns = createTurns(clock, 5000)
    turns.take(['a', { most: 1, inMs: 1000 }])
    clock.jump(-3_600_000)
    clock.advance(1000)
    expect(turns.take(['a', { most: 1, inMs: 1000 }])).toBe(0)
  })
})

test('a rest lasts until the latest end that was asked for, for whoever asked', () => {
  const rests = createRests(clock)
  expect(rests.leftMs('a')).toBe(0)
  rests.rest('a', 1000)
  rests.rest('a', 500)
  expect([rests.leftMs('a'), rests.leftMs('b')]).toEqual([1000, 0])
  clock.advance(900)
  rests.rest('a', 500)
  expect(rests.leftMs('a')).toBe(500)
  clock.advance(500)
  expect(rests.leftMs('a')).toBe(0)
})
