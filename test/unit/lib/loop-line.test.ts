import { expect, test } from 'vitest'
import { nextTurn } from '#src/lib/event-loop.ts'
import { createLoopLine } from '#src/lib/loop-line.ts'

const work = (ms = 1) => {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const NEVER = () => {
  throw new Error('there is room')
}

/** Has a crowd come at once; the order in which all are begun. */
function crowd(begin: ReturnType<typeof createLoopLine>, size: number) {
  const begun: string[] = []
  const come = (whose: string) =>
    begin(
      () => whose,
      () => {
        work()
        begun.push(whose)
      },
      NEVER,
    )
  return { begun, come, all: Array.from({ length: size }, () => come('crowd')) }
}

test('who comes alone is served at once', () => {
  const begin = createLoopLine()
  const whose = () => {
    throw new Error('nobody needs to know')
  }
  expect(begin(whose, () => 7, NEVER)).toBe(7)
})

test('a turn begins what it has time for, then a few at a time until all are served', async () => {
  const { begun, all } = crowd(createLoopLine(), 100)
  const inTurns = [begun.length]
  while (begun.length < 100) {
    await nextTurn()
    inTurns.push(begun.length)
  }
  expect(inTurns[0]).toBeLessThanOrEqual(6)
  for (const [i, count] of inTurns.entries()) {
    expect(count - (inTurns[i - 1] ?? 0)).toBeLessThanOrEqual(16)
  }
  await Promise.all(all)
})

test('of what takes longer than a turn has, one begins in it', async () => {
  const begin = createLoopLine()
  let begun = 0
  const long = () => {
    work(6)
    begun++
  }
  const all = Array.from({ length: 12 }, () => begin(() => 'crowd', long, NEVER))
  while (begun < 12) {
    const before = begun
    await nextTurn()
    expect(begun - before).toBeLessThanOrEqual(1)
  }
  await Promise.all(all)
})

test('whoever comes behind a crowd has their turn before it is through', async () => {
  const { begun, come, all } = crowd(createLoopLine(), 100)
  await come('somebody')
  expect(begun.indexOf('somebody')).toBeLessThan(30)
  await Promise.all(all)
  expect(begun).toHaveLength(101)
})

test('what fails is its own', async () => {
  const begin = createLoopLine()
  const { all } = crowd(begin, 20)
  const fault = Promise.resolve(
    begin(
      () => 'one',
      () => {
        throw new Error('a fault')
      },
      NEVER,
    ),
  )
  await expect(fault).rejects.toThrow('a fault')
  await Promise.all(all)
})

test('so many wait; whoever has most of them makes room for one who comes', async () => {
  const begin = createLoopLine()
  const come = (whose: string) =>
    begin(
      () => whose,
      () => whose,
      () => 'refused',
    )
  // The first takes all that its turn has time for.
  const first = begin(
    () => 'crowd',
    () => {
      for (let i = 0; i < 6; i++) work()
    },
    NEVER,
  )
  const crowd = Array.from({ length: 6000 }, () => come('crowd'))
  const others = ['one', 'two'].map(come)
  const said = await Promise.all(crowd)
  expect(said.filter((word) => word === 'refused')).toHaveLength(1002)
  expect(await Promise.all(others)).toEqual(['one', 'two'])
  await first
})
