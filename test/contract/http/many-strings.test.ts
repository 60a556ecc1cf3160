import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createWorld, type World } from '#test/support/world.ts'

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

const OPEN = 1000
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

// Texts whose hash in Bun is one, because the first factor of its product is 0; V8 has a secret of its own.
test('as many strings as may be are read soon, whatever they are', () => {
  const [head, tail] = ['\u0093K\u00b8\u008b', '\u00c9\u00ac.\u0096']
  const keys = Array.from(
    { length: OPEN },
    (_, i) => `"${head}${i.toString(36).padStart(3, '-')}${tail}":0`,
  )
  const started = performance.now()
  JSON.parse(`{${keys.join(',')}}`)
  expect(performance.now() - started).toBeLessThan(250)
})
