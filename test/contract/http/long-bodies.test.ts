/** Bodies that are long to parse: whoever sends many at once holds up nobody else. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => {
  vi.restoreAllMocks()
  w.close()
})

const NOTICES = '/payments/webhook/provider_a'

/** In which turn of the event loop each of these requests, all sent at once, was answered. */
async function turnsOf(count: number, send: () => Promise<unknown>): Promise<number[]> {
  let turn = 0
  let timer = setImmediate(function next() {
    turn++
    timer = setImmediate(next)
  })
  const answer = async () => {
    await send()
    return turn
  }
  try {
    return await Promise.all(Array.from({ length: count }, answer))
  } finally {
    clearImmediate(timer)
  }
}

const manyStrings = (count: number) =>
  `{${Array.from({ length: count / 2 }, (_, i) => `"k${i}":"v"`).join(',')}}`
const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`

const sendNotice = (raw: string) => () => w.call(NOTICES, { raw })

test.each([
  ['of 102 strings', manyStrings(102)],
  ['of 17 KB', nested(8700)],
  ['of 256 KB', nested(130_000)],
])('of many notices %s one is read in each turn', async (_what, raw) => {
  const turns = await turnsOf(20, sendNotice(raw))
  expect(new Set(turns).size).toBe(20)
})

test('short ones do not wait for each other, nor behind long ones', async () => {
  const long = turnsOf(100, sendNotice(manyStrings(500)))
  const short = await turnsOf(20, sendNotice(manyStrings(100)))
  expect(Math.max(...short)).toBeLessThan(20)
  await long
})

test('what an admin sends does not wait', async () => {
  const long = turnsOf(100, sendNotice(manyStrings(500)))
  const raw = manyStrings(500)
  const own = await turnsOf(1, () => w.admin('/admin/api/plans/reorder', { raw }))
  expect(own[0]).toBeLessThan(20)
  await long
})

test('200 wait, one more is told to come again', async () => {
  // All are there before the first is read: who begins later would find that some have had their turn.
  const all = Promise.withResolvers<void>()
  let begun = 0
  const late = () =>
    new ReadableStream(
      {
        async pull(body) {
          if (++begun === 210) all.resolve()
          await all.promise
          body.enqueue(new TextEncoder().encode(manyStrings(102)))
          body.close()
        },
      },
      { highWaterMark: 0 },
    )
  const send = async () => (await w.call(NOTICES, { method: 'POST', raw: late() })).status
  const statuses = await Promise.all(Array.from({ length: 210 }, send))
  // Nobody waits behind the first.
  expect(statuses.filter((status) => status === 400)).toHaveLength(201)
  expect(statuses.filter((status) => status === 503)).toHaveLength(9)
  expect((await sendNotice(manyStrings(102))()).status).toBe(400)
})
