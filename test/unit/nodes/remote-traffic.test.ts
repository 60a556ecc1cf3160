/** Traffic of nodes that have a server of their own: per core and program, per node and day, through restarts and resets. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DAY_MS } from '#src/lib/time.ts'
import { addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
let uuid: string

beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7)
  addNode(w, 'nl', { kind: 'managed', private_key: 'K'.repeat(43) })
  w.remote('nl')
  uuid = addSubscription(w, 7, { node: 'nl' })
  await passAll()
})
afterEach(() => w.close())

const passAll = () => w.s.nodeSync.syncAll({ force: false, remove: true })
const total = () =>
  w
    .rows('select up_bytes, down_bytes from subscriptions where uuid = ?', uuid)
    .map((row) => [row.up_bytes, row.down_bytes])[0]
const samples = () =>
  w
    .rows('select node, day, up, down from traffic_samples order by day, node')
    .map((row) => [row.node, row.day, row.up, row.down])

test('a day of a node is the sum of its clients, and the days of all nodes are what statistics show', async () => {
  const local = addSubscription(w, 7)
  w.node.counters.set(local, [1, 2])
  w.remote('nl').counters.set(uuid, [10, 20])
  await passAll()
  w.clock.advance(DAY_MS)
  w.remote('nl').counters.set(uuid, [15, 20])
  await passAll()
  expect(samples()).toEqual([
    ['de1', '2026-03-01', 1, 2],
    ['nl', '2026-03-01', 10, 20],
    ['nl', '2026-03-02', 5, 0],
  ])
  const { json } = await w.admin('/admin/api/stats/series?days=2')
  expect(json.map((day: { up: number; down: number }) => [day.up, day.down])).toEqual([
    [11, 22],
    [5, 0],
  ])
})

test('the restart of one of two programs makes nothing of the other count twice', async () => {
  const node = w.remote('nl')
  const hysteria = new Map<string, [number, number]>([[uuid, [100, 200]]])
  // Kept by the panel as it is, because the row of this node asks for none.
  const { status } = node.program
  let epoch = 'h1'
  node.program.status = async (...args) => ({
    ...(await status(...args)),
    hysteria: {
      config: '',
      up: true,
      epoch,
      hop: false,
      counters: [...hysteria].map(([id, b]) => [id, ...b]),
    },
  })
  node.counters.set(uuid, [1, 2])
  await w.s.nodeSync.readNode('nl', 1000)
  expect(total()).toEqual([101, 202])
  epoch = 'h2'
  hysteria.set(uuid, [5, 5])
  await w.s.nodeSync.readNode('nl', 1000)
  await w.s.nodeSync.readNode('nl', 1000)
  expect(total()).toEqual([106, 207])
  node.restart()
  node.counters.set(uuid, [1, 0])
  await w.s.nodeSync.readNode('nl', 1000)
  expect(total()).toEqual([107, 207])
  // Both begin anew from what they report at the next reading.
  const reset = { path: `/admin/api/subscriptions/${uuid}/reset-traffic`, method: 'POST' }
  expect((await w.admin(reset.path, reset)).json).toEqual({ ok: true })
  expect(total()).toEqual([0, 0])
  hysteria.set(uuid, [6, 5])
  await w.s.nodeSync.readNode('nl', 1000)
  expect(total()).toEqual([1, 0])
})

test('a core that is given another configuration is read right before it is started anew', async () => {
  const node = w.remote('nl')
  const { configure } = node.program
  node.program.configure = async (...args) => {
    await configure(...args)
    node.restart()
  }
  node.counters.set(uuid, [10, 0])
  const late = addSubscription(w, 7, { node: 'nl' })
  node.beforeApply = async () => {
    // What is moved while thousands of clients are being told.
    node.counters.set(uuid, [25, 0])
  }
  await w.admin('/admin/api/nodes/nl', { method: 'PATCH', body: { sni: 'other.test' } })
  await w.s.background.idle()
  expect(node.calls.at(-1)?.verb).toBe('configure')
  expect([node.clients.has(late), node.counters.size, total()]).toEqual([true, 0, [25, 0]])
  node.counters.set(uuid, [1, 0])
  await passAll()
  expect(total()).toEqual([26, 0])
})

test('a reset on a node that is away counts from its next reading on', async () => {
  const node = w.remote('nl')
  node.counters.set(uuid, [10, 0])
  await passAll()
  node.failure = 'unreachable'
  const reset = { path: `/admin/api/subscriptions/${uuid}/reset-traffic`, method: 'POST' }
  expect((await w.admin(reset.path, reset)).json).toEqual({ ok: false })
  node.failure = null
  node.counters.set(uuid, [30, 0])
  await passAll()
  expect(total()).toEqual([0, 0])
  node.counters.set(uuid, [31, 0])
  await passAll()
  expect(total()).toEqual([1, 0])
})
