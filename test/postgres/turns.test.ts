import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DatabaseFailure, failureKind } from '#db/engine/failures.ts'
import { createTurns } from '#db/engine/postgres/turns.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Work that ends when told. */
function held() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  return { work: () => promise, end: resolve, fail: reject }
}
const kindOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => failureKind(error),
  )

test('so many are at it at once, the others in their order', async () => {
  const turns = createTurns(2)
  const begun: number[] = []
  const works = [0, 1, 2, 3].map(() => held())
  const all = works.map(({ work }, i) =>
    turns(() => {
      begun.push(i)
      return work()
    }),
  )
  await vi.advanceTimersByTimeAsync(1)
  expect([begun, turns.waiting()]).toEqual([[0, 1], 2])
  works[1]?.fail(new Error('no'))
  await expect(all[1]).rejects.toThrow('no')
  expect([begun, turns.waiting()]).toEqual([[0, 1, 2], 1])
  for (const { end } of works) end('done')
  expect(await Promise.all([all[0], all[2], all[3]])).toEqual(['done', 'done', 'done'])
  expect(turns.waiting()).toBe(0)
})

test('who has waited for five seconds is told that others came first, or that the server answers nobody', async () => {
  const turns = createTurns(1)
  const frozen = held()
  const first = turns(frozen.work)
  const nobody = kindOf(turns(async () => {}))
  await vi.advanceTimersByTimeAsync(4999)
  expect(turns.waiting()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect([await nobody, turns.waiting()]).toEqual(['away', 0])
  frozen.end('late')
  await first

  const slow = held()
  void turns(slow.work)
  const next = held()
  void turns(next.work)
  const crowd = kindOf(turns(async () => {}))
  await vi.advanceTimersByTimeAsync(3000)
  slow.end('done')
  await vi.advanceTimersByTimeAsync(2000)
  expect(await crowd).toBe('busy')
  next.end('done')
})

test.each([
  ['refuses', 'busy', new DatabaseFailure('unique', 'no')],
  ['can not be reached', 'away', new DatabaseFailure('away', 'gone')],
] as const)('behind one whose server %s it is %s', async (_, kind, error) => {
  const turns = createTurns(1)
  const first = held()
  const failed = kindOf(turns(first.work))
  const next = held()
  void turns(next.work)
  const late = kindOf(turns(async () => {}))
  await vi.advanceTimersByTimeAsync(3000)
  first.fail(error)
  await failed
  await vi.advanceTimersByTimeAsync(2000)
  expect(await late).toBe(kind)
  next.end('done')
})

test('more than 500 do not wait', async () => {
  const turns = createTurns(1)
  await turns(async () => {})
  const first = held()
  void turns(first.work)
  const waiting = Array.from({ length: 500 }, () => kindOf(turns(async () => {})))
  expect(await kindOf(turns(async () => {}))).toBe('busy')
  first.end('done')
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['done']))
})
