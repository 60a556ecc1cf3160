import { describe, expect, test } from 'vitest'
import { createFairLimiter, createFairLine } from '#src/lib/fair-line.ts'

describe('a fair line', () => {
  const fill = (most: number, items: string[], own?: string) => {
    const line = createFairLine<string>(most, own)
    const left = items.map((item) => line.add(item.slice(0, -1), item) ?? '-').join(' ')
    return { line, left }
  }
  const rest = (line: { next(): string | undefined }) => {
    const all: string[] = []
    for (let item = line.next(); item !== undefined; item = line.next()) all.push(item)
    return all.join(' ')
  }

  test('gives each key its turn, in the order of each', () => {
    const { line } = fill(9, ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'])
    expect([line.size(), line.heads()]).toEqual([6, ['a1', 'b1', 'c1']])
    expect(rest(line)).toBe('a1 b1 c1 a2 b2 a3')
    expect([line.size(), line.heads()]).toEqual([0, []])
  })

  test('gives every second turn to its own', () => {
    const { line } = fill(99, ['a1', 'b1', 'c1', 'o1', 'o2', 'd1', 'o3'], 'o')
    expect(rest(line)).toBe('o1 a1 o2 b1 o3 c1 d1')
  })

  test('makes room for who has less, at the cost of the newest of who has most', () => {
    expect(fill(3, ['a1', 'a2', 'a3', 'a4']).left).toBe('- - - a4')
    const { line, left } = fill(3, ['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'b2'])
    // Of those that have one each nobody makes room.
    expect(left).toBe('- - - a3 a2 d1 b2')
    expect(rest(line)).toBe('a1 b1 c1')
  })

  test('has room for its own in half of it, whoever crowds the rest', () => {
    const { line, left } = fill(4, ['a1', 'b1', 'c1', 'd1', 'o1', 'o2', 'o3', 'e1'], 'o')
    // Others make room for its half, the newest of whoever has most first.
    expect(left).toBe('- - - - a1 b1 o3 e1')
    expect([line.size(), rest(line)]).toEqual([4, 'o1 c1 o2 d1'])
    // Beyond its half it is one of many.
    expect(fill(4, ['o1', 'o2', 'o3', 'o4', 'a1', 'b1', 'c1'], 'o').left).toBe('- - - - o4 o3 c1')
  })

  test('lets those leave that are over', () => {
    const { line } = fill(9, ['a1', 'a3', 'b2', 'b4', 'c1'])
    expect(line.leave((item) => Number(item.slice(1)) < 3)).toEqual(['a1', 'b2', 'c1'])
    expect([line.size(), rest(line)]).toEqual([2, 'a3 b4'])
  })
})

test('a limiter lets whoever comes late have their turn, and refuses the crowd', async () => {
  const limiter = createFairLimiter(2, 10)
  const done: string[] = []
  const held = Promise.withResolvers<void>()
  const ask = (key: string, name: string) =>
    limiter(key, async () => {
      await held.promise
      done.push(name)
    }).catch((error: { status: number }) => done.push(`${name} ${error.status}`))
  const crowd = Array.from({ length: 20 }, (_, i) => ask('crowd', `c${i}`))
  const late = ask('late', 'late')
  await Promise.resolve()
  held.resolve()
  await Promise.all([...crowd, late])
  const refused = done.filter((name) => name.endsWith('503'))
  expect(refused).toHaveLength(9)
  expect(refused).not.toContain('late 503')
  expect(done.filter((name) => !name.endsWith('503')).indexOf('late')).toBeLessThan(4)
})

test('work that fails gives its place to the next', async () => {
  const limiter = createFairLimiter(1, 10)
  const fails = limiter('a', () => Promise.reject(new Error('no')))
  const next = limiter('a', async () => 'done')
  await expect(fails).rejects.toThrow('no')
  expect(await next).toBe('done')
})
