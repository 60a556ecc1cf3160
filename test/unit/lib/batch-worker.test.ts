import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBatchWorker } from '#src/lib/batch-worker.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** A worker over a list of numbers; work on a number takes so many milliseconds. */
function workerOf(waiting: number[], slots: number, isUrgent = () => false) {
  const noted: number[][] = []
  const asked: number[] = []
  let under = 0
  let most = 0
  let failures = 0
  const worker = createBatchWorker<number, number>({
    slots,
    isUrgent,
    async exchange(results, free) {
      if (failures > 0) {
        failures--
        throw new Error('the database is locked')
      }
      asked.push(free)
      if (results.length > 0) noted.push(results)
      return waiting.splice(0, free)
    },
    async work(ms) {
      most = Math.max(most, ++under)
      await new Promise((resolve) => setTimeout(resolve, ms))
      under--
      return ms
    },
  })
  const fail = (times: number) => {
    failures = times
  }
  return { worker, noted, asked, most: () => most, fail }
}

test('nothing is looked for in the turn of whoever starts it', async () => {
  const { worker, asked } = workerOf([1], 2)
  void worker.start()
  await Promise.resolve()
  expect(asked).toEqual([])
  await pass(10)
  expect(asked).toEqual([2])
})

test('no more than its slots is done at a time, and all is done and noted once', async () => {
  const { worker, noted, most } = workerOf(
    Array.from({ length: 100 }, (_, i) => 1 + (i % 7)),
    5,
  )
  let ended = false
  void worker.start()?.then(() => {
    ended = true
  })
  await pass(2000)
  expect(ended).toBe(true)
  expect(noted.flat()).toHaveLength(100)
  expect(most()).toBe(5)
})

test('what ends at about the same time is noted together', async () => {
  const { worker, noted } = workerOf([20, 21, 22, 23], 4)
  void worker.start()
  await pass(100)
  expect(noted).toEqual([[20, 21, 22, 23]])
})

test('slow work holds up nothing that comes while it runs', async () => {
  const waiting = [10_000]
  const { worker, noted } = workerOf(waiting, 4)
  const first = worker.start()
  await pass(50)
  waiting.push(1, 2)
  expect(worker.start()).toBeNull()
  await pass(50)
  expect(noted.flat()).toEqual([1, 2])
  await pass(10_000)
  await first
  expect(noted.flat()).toEqual([1, 2, 10_000])
})

test('a start in the very moment of its end is not lost', async () => {
  const waiting = [5]
  const { worker, noted } = workerOf(waiting, 1)
  for (let i = 0; i < 40; i++) {
    void worker.start()
    await pass(1)
    waiting.push(5)
  }
  void worker.start()
  await pass(2000)
  expect(waiting).toEqual([])
  expect(noted.flat()).toHaveLength(41)
})

test('a failure without results ends it, and the next start begins anew', async () => {
  const { worker, noted, fail } = workerOf([1], 1)
  fail(1)
  const failed = expect(worker.start()).rejects.toThrow('the database is locked')
  await pass(50)
  await failed
  void worker.start()
  await pass(100)
  expect(noted).toEqual([[1]])
})

test('results survive a database that is busy for seconds', async () => {
  const { worker, noted, fail } = workerOf([5], 1)
  const end = worker.start()
  await pass(12)
  fail(4)
  await pass(6000)
  await end
  expect(noted).toEqual([[5]])
})

test('results that can not be noted end it after five tries', async () => {
  const { worker, noted, fail } = workerOf([5], 1)
  const end = worker.start()
  await pass(12)
  fail(5)
  const failed = expect(end).rejects.toThrow('the database is locked')
  await pass(6000)
  await failed
  expect(noted).toEqual([])
})

test('after the stop nothing is begun, and what is under way is noted', async () => {
  const waiting = [50, 50, 50]
  const { worker, noted } = workerOf(waiting, 1)
  const end = worker.start()
  await pass(20)
  worker.stop()
  await pass(200)
  await end
  expect([noted, waiting]).toEqual([[[50]], [50, 50]])
  void worker.start()
  await pass(100)
  expect(waiting).toHaveLength(2)
})

test('a failure while something is under way loses nothing', async () => {
  const waiting = [300, 300]
  const { worker, noted, fail } = workerOf(waiting, 4)
  const end = worker.start()
  await pass(50)
  fail(1)
  waiting.push(1)
  worker.start()
  await pass(3000)
  await end
  expect(noted.flat().sort()).toEqual([1, 300, 300])
})

test('what is under way when nothing can be noted is awaited, and noted when it can be again', async () => {
  const { worker, noted, fail } = workerOf([5, 8000], 2)
  const end = worker.start()
  await pass(12)
  fail(7)
  await pass(12_000)
  await end
  expect(noted.flat()).toEqual([5, 8000])
})

test('it gives up only when nothing is under way any more', async () => {
  const { worker, noted, fail } = workerOf([5, 8000], 2)
  let over = false
  const end = worker.start()?.finally(() => {
    over = true
  })
  const failed = expect(end).rejects.toThrow('the database is locked')
  await pass(12)
  fail(1000)
  await pass(7500)
  expect(over).toBe(false)
  await pass(2000)
  await failed
  expect([over, noted]).toEqual([true, []])
})

test('urgent work goes first: nothing is taken up or noted meanwhile, for a second at most', async () => {
  let urgent = true
  const { worker, asked, noted } = workerOf([1, 1], 1, () => urgent)
  void worker.start()
  await pass(900)
  expect(asked).toEqual([])
  await pass(200)
  expect(asked).toEqual([1])
  await pass(900)
  expect(noted).toEqual([])
  urgent = false
  await pass(100)
  expect(noted).toEqual([[1], [1]])
})
