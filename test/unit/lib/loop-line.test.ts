import { expect, test } from 'vitest'
import { nextTurn } from '#src/lib/event-loop.ts'
import { createLoopLine } from '#src/lib/loop-line.ts'

const work = () => {
  const end = performance.now() + 1
  while (performance.now() < end);
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
    )
  return { begun, come, all: Array.from({ length: size }, () => come('crowd')) }
}

test('who comes alone is served at once', () => {
  const begin = createLoopLine()
  const whose = () => {
    throw new Error('nobody needs to know')
  }
  expect(begin(whose, () => 7)).toBe(7)
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
    ),
  )
  await expect(fault).rejects.toThrow('a fault')
  await Promise.all(all)
})
