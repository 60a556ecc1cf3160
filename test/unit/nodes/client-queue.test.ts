import { afterEach, beforeEach, expect, test } from 'vitest'
import { createWorld, grantUser, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

/** A promise that is settled by hand. */
function gate() {
  let open: () => void = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

test('a node that hangs does not hold the caller longer than their time, and is told in the end', async () => {
  const { subscription } = await grantUser(w, 1)
  w.node.clients.clear()
  const { opened, open } = gate()
  w.node.beforeApply = () => opened
  const begin = performance.now()
  expect(
    await w.s.nodeSync.touch([{ uuid: subscription.uuid, node: 'de1', nodeGroup: null }], 50),
  ).toBe(false)
  expect(performance.now() - begin).toBeLessThan(1000)
  open()
  await w.s.background.idle()
  expect(w.node.clients.has(subscription.uuid)).toBe(true)
})

test('what arrives while a call is under way goes together in the next', async () => {
  const first = (await grantUser(w, 1)).subscription
  const { opened, open } = gate()
  w.node.calls.length = 0
  w.node.beforeApply = () => opened
  const touches = [w.s.nodeSync.touch([first])]
  await Promise.resolve()
  for (let i = 0; i < 10; i++) touches.push(w.s.nodeSync.touch([first]))
  open()
  expect(await Promise.all(touches)).toEqual(Array(11).fill(true))
  expect(w.node.calls.filter((call) => call.verb === 'apply').length).toBeLessThanOrEqual(2)
})

test('a node that fails makes the touch false and keeps the next ones going', async () => {
  const { subscription } = await grantUser(w, 1)
  w.node.failure = 'garbage'
  expect(await w.s.nodeSync.touch([subscription])).toBe(false)
  w.node.failure = null
  expect(await w.s.nodeSync.touch([subscription])).toBe(true)
})

test('subscriptions on external or deleted nodes need no call', async () => {
  w.node.calls.length = 0
  expect(
    await w.s.nodeSync.touch([{ uuid: crypto.randomUUID(), node: 'gone', nodeGroup: null }]),
  ).toBe(true)
  expect(w.node.calls).toEqual([])
})
