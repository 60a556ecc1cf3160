/** Cores of nodes that are members of groups: what a pass brings there, what it counts, and what the removal brake holds. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addAll, addManaged } from '#test/support/rows/groups.ts'
import { addSubscription, addUser, DAY, inSeconds } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
let nodes: Record<'de1' | 'nl1' | 'us1', FakeNode>
beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7)
  nodes = addAll(w)
})
afterEach(() => w.close())

const sync = async () => {
  const results = await w.s.nodeSync.syncAll({ force: false, remove: true })
  return Object.fromEntries(results.map(({ code, ...rest }) => [code, rest]))
}
const subscribe = (count: number, more: Parameters<typeof addSubscription>[2] = {}) =>
  Array.from({ length: count }, () => addSubscription(w, 7, { node_group: 'all', ...more })).sort()
const setMembers = (...codes: string[]) =>
  w.admin('/admin/api/node-groups/all', { method: 'PATCH', body: { nodes: codes } })
const clientsOf = (node: FakeNode) => [...node.clients.keys()].sort()
const blocked = () => w.rows('select code from nodes where sync_blocked = 1')

test('a pass brings the clients of a group to all its members, and the next one costs a status each', async () => {
  const all = subscribe(3, { node: 'nl1' })
  const own = addSubscription(w, 7, { node: 'us1' })
  await sync()
  expect(clientsOf(nodes.de1)).toEqual(all)
  expect(clientsOf(nodes.nl1)).toEqual(all)
  expect(clientsOf(nodes.us1)).toEqual([...all, own].sort())
  for (const node of Object.values(nodes)) node.calls.splice(0)
  expect(await sync()).toMatchObject({ us1: { ok: true, added: 0, removed: 0 } })
  for (const node of Object.values(nodes)) {
    expect(node.calls.map(({ verb }) => verb)).toEqual(['status'])
  }
})

test('a member that joins gets all clients, and nobody else is told anything', async () => {
  const all = subscribe(30)
  await sync()
  const fi1 = addManaged(w, 'fi1')
  for (const node of Object.values(nodes)) node.calls.splice(0)
  const { json } = await setMembers('de1', 'nl1', 'us1', 'fi1')
  expect(json.sync).toEqual([{ code: 'fi1', ok: true, added: 30, removed: 0, error: null }])
  expect(clientsOf(fi1)).toEqual(all)
  for (const { calls } of Object.values(nodes)) expect(calls).toEqual([])
})

test('a thousand subscribers lose a member without the brake', async () => {
  const all = subscribe(1000)
  const own = addSubscription(w, 7, { node: 'nl1' })
  await sync()
  nodes.nl1.counters.set(all[0] as string, [7, 8])
  const { json } = await setMembers('de1', 'us1')
  expect(json.sync).toEqual([{ code: 'nl1', ok: true, added: 0, removed: 1000, error: null }])
  expect([clientsOf(nodes.nl1), blocked()]).toEqual([[own], []])
  expect(clientsOf(nodes.de1)).toEqual(all)
  expect(w.rows('select up_bytes from subscriptions where uuid = ?', all[0])).toEqual([
    { up_bytes: 7 },
  ])
})

test('a clock set forward removes nobody from any member', async () => {
  const all = subscribe(60, { node: 'nl1', expires_at: inSeconds(w, 30 * DAY) })
  await sync()
  w.clock.advance(40 * DAY * 1000)
  await sync()
  for (const node of Object.values(nodes)) expect(clientsOf(node)).toEqual(all)
  expect(blocked()).toEqual([{ code: 'de1' }, { code: 'nl1' }, { code: 'us1' }])
})

test('clients of an empty or foreign database are a loss on every member', async () => {
  const all = subscribe(60)
  await sync()
  w.change('delete from subscriptions')
  await sync()
  for (const node of Object.values(nodes)) expect(clientsOf(node)).toEqual(all)
})

test('members that are gone from the group are no loss, one whose group is emptied behind our back is on its home', async () => {
  const all = subscribe(60)
  await sync()
  w.change("delete from node_group_nodes where node <> 'de1'")
  await sync()
  expect([clientsOf(nodes.de1), clientsOf(nodes.nl1), clientsOf(nodes.us1)]).toEqual([all, [], []])
  expect(blocked()).toEqual([])
})

test('the bytes of all members sum once, also where a reading repeats, and each is a sample of its node', async () => {
  const [uuid] = subscribe(1) as [string]
  await sync()
  nodes.de1.counters.set(uuid, [1, 10])
  nodes.nl1.counters.set(uuid, [2, 20])
  nodes.us1.counters.set(uuid, [4, 40])
  await sync()
  await Promise.all([sync(), w.s.nodeSync.readTraffic(1000), sync()])
  const total = () => w.rows('select up_bytes as up, down_bytes as down from subscriptions')
  expect(total()).toEqual([{ up: 7, down: 70 }])
  expect(w.rows('select node, up, down from traffic_samples order by node')).toEqual([
    { node: 'de1', up: 1, down: 10 },
    { node: 'nl1', up: 2, down: 20 },
    { node: 'us1', up: 4, down: 40 },
  ])
  nodes.nl1.restart()
  nodes.nl1.counters.set(uuid, [5, 5])
  await sync()
  expect(total()).toEqual([{ up: 12, down: 75 }])
})

test('traffic of a client that is on no node of a core is strange there', async () => {
  const own = addSubscription(w, 7, { node: 'nl1' })
  await sync()
  nodes.us1.counters.set(own, [1000, 1000])
  await sync()
  expect(w.rows('select up_bytes from subscriptions')).toEqual([{ up_bytes: 0 }])
  expect(w.log.some((line) => line.includes('traffic of clients that are not on it'))).toBe(true)
})

test('a local member gives a client of another home the value of this machine', async () => {
  const [uuid] = subscribe(1, { node: 'us1' }) as [string]
  await w.s.nodeSync.touch([{ uuid, node: 'us1', nodeGroup: 'all' }])
  expect([nodes.de1, nodes.nl1, nodes.us1].map(({ clients }) => clients.get(uuid))).toEqual([
    'de1',
    'nl1',
    'us1',
  ])
})
