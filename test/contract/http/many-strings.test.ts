import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

/** A body with so many strings, a quote in a string being none, of which a third are keys. */
const withStrings = (count: number) => {
  const pairs = Math.floor(count / 3)
  const rest = Array.from({ length: count - 2 * pairs }, () => '"\\"\\\\"')
  const members = Array.from({ length: pairs - 1 }, (_, i) => `"k${i}":"v"`)
  return `{${members.join(',')},"rest":[${rest.join(',')}],"n":1}`
}
const stringsIn = (text: string) => text.match(/"(?:[^"\\]|\\.)*"/g)?.length ?? 0

const OPEN = 500
const OF_ADMINS = 2000

test('the bodies of these tests have so many strings', () => {
  expect([OPEN, OF_ADMINS].map((count) => stringsIn(withStrings(count)))).toEqual([OPEN, OF_ADMINS])
})

describe.each([
  ['POST /admin/api/login', '/admin/api/login', OPEN, false, /^username /],
  ['POST /payments/webhook/provider_a', '/payments/webhook/provider_a', OPEN, false, /./],
  ['POST /admin/api/plans', '/admin/api/plans', OF_ADMINS, true, /./],
] as const)('%s', (_name, path, most, isAdmin, error) => {
  const send = (body: string) =>
    isAdmin ? w.admin(path, { raw: body }) : w.call(path, { raw: body })

  test(`reads a body of ${most} strings`, async () => {
    const answer = await send(withStrings(most))
    expect(answer.status).toBe(400)
    expect(answer.json.error).toMatch(error)
  })

  test('refuses one with one more', async () => {
    const answer = await send(withStrings(most + 1))
    expect(answer.status).toBe(400)
    expect(answer.json).toEqual({ error: 'the body holds too many strings' })
  })
})

// In a process of their own: where garbage is collected, what else is in memory counts.
test('bodies of strings of one hash are read as soon as others, however many come', () => {
  const took = execFileSync(process.execPath, [
    join(import.meta.dirname, '../../support/drivers/one-hash.ts'),
  ])
  expect(Number(took)).toBeLessThan(2000)
})

test('queries of names of one hash are read as soon as others, however many come', async () => {
  const [head, tail] = ['%C2%93K%C2%B8%C2%8B', '%C3%89%C2%AC.%C2%96']
  const queries = Array.from({ length: 30 }, (_, n) =>
    Array.from({ length: 500 }, (_, i) => {
      return `${head}${(500 * n + i).toString(36).padStart(5, '-')}${tail}=`
    }).join('&'),
  )
  const started = performance.now()
  for (const query of queries)
    expect((await w.call(`/?${query}&lang=ru`)).text).toContain('lang="ru"')
  expect(performance.now() - started).toBeLessThan(4000)
})
