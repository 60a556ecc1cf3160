/** Clients who have used up their traffic: off the nodes where it counts, without the brake, and counted once. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readNodesNearLimit } from '#src/domain/nodes/near-limit.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addAll } from '#test/support/rows/groups.ts'
import { addSubscription, addUser, DAY, inSeconds, nowOf } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const GB = 1024 ** 3

let w: World
let nodes: Record<'de1' | 'nl1' | 'us1', FakeNode>
beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7)
  nodes = addAll(w)
})
afterEach(() => w.close())

const sync = async (more: { force?: boolean; remove?: boolean } = {}) => {
  await w.s.nodeSync.syncAll({ force: false, remove: true, ...more })
  await w.s.background.idle()
}
const subscribe = (count: number, more: Parameters<typeof addSubscription>[2] = {}) =>
  Array.from({ length: count }, () =>
    addSubscription(w, 7, { node_group: 'all', quota_bytes: GB, ...more }),
  ).sort()
const clientsOf = (node: FakeNode) => [...node.clients.keys()].sort()
const blocked = () => w.rows('select code from nodes where sync_blocked = 1')
const setRatio = (code: string, ratio: number) =>
  w.change('update nodes set traffic_ratio = ? where code = ?', ratio, code)

test('a thousand who are limited at once leave without the brake, and stay where nothing counts', async () => {
  setRatio('us1', 0)
  const all = subscribe(1000)
  const own = subscribe(3, { quota_bytes: null })
  await sync()
  w.change('update subscriptions set limited_at = ? where quota_bytes is not null', nowOf(w))
  await sync()
  expect([clientsOf(nodes.de1), clientsOf(nodes.nl1), blocked()]).toEqual([own, own, []])
  expect(clientsOf(nodes.us1)).toEqual([...all, ...own].sort())
  // Now everything counts there as well.
  setRatio('us1', 50)
  await sync()
  expect([clientsOf(nodes.us1), blocked()]).toEqual([own, []])
})

test('a clock set forward removes nobody of them where they still are', async () => {
  setRatio('us1', 0)
  const all = subscribe(60, { limited_at: nowOf(w), expires_at: inSeconds(w, 30 * DAY) })
  await sync()
  w.clock.advance(40 * DAY * 1000)
  await sync()
  expect(clientsOf(nodes.us1)).toEqual(all)
  expect(blocked()).toEqual([{ code: 'us1' }])
})

test('bytes of several nodes count by the ratio of each, once also where a reading repeats', async () => {
  setRatio('de1', 50)
  setRatio('nl1', 200)
  setRatio('us1', 0)
  const [uuid = ''] = subscribe(1)
  await sync()
  for (const node of Object.values(nodes)) node.counters.set(uuid, [1, 1000])
  await sync()
  await sync()
  expect(w.rows('select up_bytes, down_bytes, used_bytes, used_rest from subscriptions')).toEqual([
    { up_bytes: 3, down_bytes: 3000, used_bytes: 500 + 2002, used_rest: 50 },
  ])
})

test('a reading that uses it up has them off the metered nodes at once, by the pass itself', async () => {
  const [uuid = ''] = subscribe(1)
  await sync()
  nodes.nl1.counters.set(uuid, [0, GB])
  await sync()
  for (const node of Object.values(nodes)) expect(node.clients.has(uuid)).toBe(false)
  // What still comes of a connection that is being cut counts too.
  nodes.us1.counters.set(uuid, [0, 7])
  await sync()
  expect(w.rows('select used_bytes from subscriptions')).toEqual([{ used_bytes: GB + 7 }])
})

test('nodes of those who have less than a tenth left are read, all of their group', async () => {
  const near = (more: Parameters<typeof addSubscription>[2]) =>
    subscribe(1, { quota_notice: 80, used_bytes: Math.ceil(0.9 * GB), ...more })
  near({ node: 'us1', node_group: null })
  near({ node: 'nl1', node_group: null, used_bytes: Math.ceil(0.85 * GB) })
  near({ node: 'nl1', node_group: null, expires_at: inSeconds(w, -1) })
  near({ node: 'nl1', node_group: null, limited_at: nowOf(w) })
  for (const node of Object.values(nodes)) node.calls.splice(0)
  await readNodesNearLimit(w.s)
  const read = () =>
    Object.entries(nodes).flatMap(([code, { calls }]) => (calls.length > 0 ? [code] : []))
  expect(read()).toEqual(['us1'])
  near({})
  await readNodesNearLimit(w.s)
  expect(read()).toEqual(['de1', 'nl1', 'us1'])
})
