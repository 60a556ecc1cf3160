import { expect, test } from 'vitest'
import { createSingleFlight } from '#src/lib/single-flight.ts'

test('who asks the same while it is under way shares the answer, later ones ask anew', async () => {
  const share = createSingleFlight<number>()
  const open: ((n: number) => void)[] = []
  const ask = () => new Promise<number>((resolve) => open.push(resolve))
  const first = share('a', ask)
  const second = share('a', ask)
  const other = share('b', ask)
  expect([first.joined, second.joined, other.joined]).toEqual([false, true, false])
  open[0]?.(1)
  open[1]?.(2)
  expect(await Promise.all([first.answer, second.answer, other.answer])).toEqual([1, 1, 2])
  const third = share('a', ask)
  expect(third.joined).toBe(false)
  open[2]?.(3)
  expect(await third.answer).toBe(3)
})

test('a failure reaches all who share it, and is forgotten', async () => {
  const share = createSingleFlight<number>()
  const fail = () => Promise.reject(new Error('no'))
  const answers = [share('a', fail).answer, share('a', fail).answer]
  for (const answer of answers) await expect(answer).rejects.toThrow('no')
  expect(await share('a', async () => 4).answer).toBe(4)
})
