/** A crowd of one network keeps itself waiting. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

/** More than a warm process answers in the turns that the answer of one who came later takes; without a line it answers all of them first. */
const MANY = 4000

test('whoever comes behind requests of a stranger has their answer before many of these', async () => {
  let answered = 0
  const ask = (path: string, ip: string) =>
    w.call(path, { host: 'site.test', headers: { 'x-real-ip': ip } })
  const crowd = Array.from({ length: MANY }, async () => {
    const { status } = await ask('/', '203.0.113.7')
    answered++
    return status
  })
  const { status } = await ask('/healthz', '198.51.100.1')
  expect(status).toBe(200)
  expect(answered).toBeLessThan(MANY * 0.9)
  expect(new Set(await Promise.all(crowd))).toEqual(new Set([200]))
})

test('of a crowd so many wait, and the rest are refused: nobody else is', async () => {
  const ask = (ip: string) =>
    w.call('/healthz', { host: 'site.test', headers: { 'x-real-ip': ip } })
  const crowd = Array.from({ length: 2 * MANY }, () => ask('203.0.113.7'))
  const { status } = await ask('198.51.100.1')
  expect(status).toBe(200)
  const answers = await Promise.all(crowd)
  const refused = answers.filter((answer) => answer.status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, json, headers } of refused) {
    expect([status, json]).toEqual([503, { error: 'too busy, try again' }])
    expect(headers.get('x-error-code')).toBe('too-busy')
    expect(headers.get('retry-after')).toBe('5')
    expect(headers.get('cache-control')).toBe('private, no-store')
  }
})
