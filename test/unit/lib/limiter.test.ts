import { expect, test } from 'vitest'
import { createLimiter, lineBefore } from '#src/lib/limiter.ts'

/** Work that ends when it is told to. */
function controlled() {
  const log: string[] = []
  const ends = new Map<string, (failed?: boolean) => void>()
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      log.push(`start ${name}`)
      ends.set(name, (failed) => {
        log.push(`end ${name}`)
        failed ? reject(new Error(name)) : resolve(name)
      })
    })
  return { log, work, end: (name: string, failed?: boolean) => ends.get(name)?.(failed) }
}

test('runs as many at a time as it may, the others in the order of their coming', async () => {
  const { log, work, end } = controlled()
  const limit = createLimiter(2)
  const all = ['a', 'b', 'c', 'd'].map((name) => limit(work(name)))
  await Promise.resolve()
  expect(log).toEqual(['start a', 'start b'])
  end('b')
  expect(await all[1]).toBe('b')
  end('a')
  await all[0]
  expect(log).toEqual(['start a', 'start b', 'end b', 'start c', 'end a', 'start d'])
  end('c')
  end('d')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
})

test('hands a failure to its caller and goes on', async () => {
  const { log, work, end } = controlled()
  const limit = createLimiter(1)
  const first = limit(work('a'))
  const second = limit(work('b'))
  end('a', true)
  await expect(first).rejects.toThrow('a')
  end('b')
  expect(await second).toBe('b')
  expect(log).toEqual(['start a', 'end a', 'start b', 'end b'])
})

test('never runs more at a time, nor fewer, however work comes and goes', async () => {
  const limit = createLimiter(3)
  let running = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++running)
    for (let i = 0; i < 5; i++) await Promise.resolve()
    running--
  }
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 20 }, () => limit(work)))
    expect(running).toBe(0)
  }
  expect(most).toBe(3)
})

test('refuses with 503 what would wait behind a full queue', async () => {
  const limit = createLimiter(1, 1)
  let finish = () => {}
  const first = limit(
    () =>
      new Promise<void>((resolve) => {
        finish = resolve
      }),
  )
  const second = limit(async () => 'second')
  await expect(limit(async () => 'third')).rejects.toMatchObject({ status: 503 })
  finish()
  await first
  expect(await second).toBe('second')
  expect(await limit(async () => 'fourth')).toBe('fourth')
})

test('passes over who has gone while they waited, at once and for good, and keeps their place free', async () => {
  const { log, work, end } = controlled()
  const limit = createLimiter(1, 2)
  const first = limit(work('a'))
  const gone = new AbortController()
  const left = limit(work('b'), gone.signal)
  const patient = limit(work('c'), new AbortController().signal)
  await expect(limit(work('d'))).rejects.toMatchObject({ status: 503 })
  gone.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  const later = limit(work('e'))
  end('a')
  await first
  end('c')
  expect(await patient).toBe('c')
  end('e')
  await later
  expect(log).toEqual(['start a', 'end a', 'start c', 'end c', 'start e', 'end e'])
})

test('does not begin for who is gone already, nor stop for who goes later', async () => {
  const { log, work, end } = controlled()
  const limit = createLimiter(1)
  await expect(limit(work('a'), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone')
  const going = new AbortController()
  const begun = limit(work('b'), going.signal)
  going.abort()
  end('b')
  expect(await begun).toBe('b')
  expect(log).toEqual(['start b', 'end b'])
})

test('who comes by the line before it is waited for by nobody but those beside them', async () => {
  const { log, work, end } = controlled()
  const limit = createLimiter(1)
  const late = lineBefore(limit, 1, 2)
  const all = ['a', 'b', 'c'].map((name) => late(work(name)))
  const first = limit(work('first'))
  await expect(late(work('d'))).rejects.toMatchObject({ status: 503 })
  for (const name of ['a', 'first', 'b', 'c']) {
    await expect.poll(() => log.at(-1)).toBe(`start ${name}`)
    end(name)
  }
  expect(await Promise.all([...all, first])).toEqual(['a', 'b', 'c', 'first'])
})
