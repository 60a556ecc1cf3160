import { expect, test } from 'vitest'
import { createLoopBudget } from '#src/lib/loop-budget.ts'
import { createWorld } from '#test/support/worlds/world.ts'

test('the share of a turn is used up until the event loop has gone around', async () => {
  const budget = createLoopBudget(5)
  budget.spend(3)
  expect(budget.isOver()).toBe(false)
  budget.spend(3)
  expect(budget.isOver()).toBe(true)
  await Promise.resolve()
  expect(budget.isOver()).toBe(true)
  let aroundFirst = false
  setImmediate(() => {
    aroundFirst = true
  })
  await budget.next()
  expect(budget.isOver()).toBe(false)
  expect(aroundFirst).toBe(false)
  await budget.next()
})

test('a burst of transactions lets other things in between, and keeps its order', async () => {
  const w = await createWorld()
  const order: number[] = []
  const block = (ms: number) => {
    const end = performance.now() + ms
    while (performance.now() < end);
  }
  const burst = Array.from({ length: 20 }, (_, i) =>
    // biome-ignore lint/correctness/useYield: it stands for a transaction of 2 ms
    w.s.db.tx(function* () {
      block(2)
      order.push(i)
    }),
  )
  // Ready at once: it waits for one share, not for the 40 ms of the whole burst.
  const done = await new Promise<number>((resolve) => setTimeout(() => resolve(order.length), 0))
  expect(done).toBeLessThan(12)
  await Promise.all(burst)
  expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i))
  w.close()
})
