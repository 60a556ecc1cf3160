/** A crowd of one network keeps itself waiting. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nextTurn } from '#src/lib/event-loop.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

const MANY = 400

test('whoever comes behind requests of a stranger has their answer before most of these', async () => {
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
  expect(answered).toBeLessThan(MANY / 2)
  expect(new Set(await Promise.all(crowd))).toEqual(new Set([200]))
})

test('what needs the event loop meanwhile has its turns', async () => {
  let answered = 0
  const crowd = Array.from({ length: MANY }, async () => {
    await w.call('/', { host: 'site.test' })
    answered++
  })
  // So many answers a database server gives for one change.
  for (let i = 0; i < 10; i++) await nextTurn()
  expect(answered).toBeLessThan(MANY * 0.75)
  await Promise.all(crowd)
})
