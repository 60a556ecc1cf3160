/** A process that reaches no node, beside the scheduler that does. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { createNodeSync } from '#src/domain/nodes/sync/sync.ts'
import type { NodeSync } from '#src/ports/node-sync.ts'
import { addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, grantUser, type World } from '#test/support/worlds/world.ts'

let w: World
/** That of the scheduler. */
let here: NodeSync
beforeEach(async () => {
  w = await createWorld({ environment: { NODE_SYNC: 'scheduler' } })
  const { db, clock, log, config, cores, instanceId, background } = w.s
  here = createNodeSync({ db, clock, log, config, cores, instanceId, background })
  addUser(w, 7)
  for (let pass = 0; pass < 2; pass++) await here.syncAll({ force: false, remove: true })
  w.node.calls.length = 0
})
afterEach(() => w.close())

/** The scheduler looks, as it does each second. */
async function look() {
  here.retryBehind({ remove: true })
  await w.s.background.idle()
}

test('what it changes is put right at the next look, and costs the node nothing before', async () => {
  const { subscription } = await grantUser(w, 7)
  const path = `/admin/api/subscriptions/${subscription.uuid}`
  expect(w.node.calls).toEqual([])
  await look()
  expect([...w.node.clients.keys()]).toEqual([subscription.uuid])
  expect((await w.admin(`${path}/hold`, { method: 'POST' })).status).toBe(200)
  expect(w.node.clients.size).toBe(1)
  await look()
  expect(w.node.clients.size).toBe(0)
  w.node.calls.length = 0
  await look()
  expect(w.node.calls).toEqual([])
})

test('a node of which nothing has changed is left alone', async () => {
  addNode(w, 'nl', { kind: 'managed', private_key: 'K'.repeat(43) })
  const nl = w.remote('nl')
  await w.s.nodeSync.touch([
    { uuid: addSubscription(w, 7, { node: 'de1' }), node: 'de1', nodeGroup: null },
  ])
  await look()
  expect(w.node.clients.size).toBe(1)
  expect(nl.calls).toEqual([])
})

test('a pass that an admin asks for is told as left to the scheduler', async () => {
  const { status, json } = await w.admin('/admin/api/sync', { method: 'POST', body: {} })
  const error = 'left to the scheduler, which this machine is not'
  expect([status, json.nodes]).toEqual([
    200,
    [{ code: 'de1', ok: false, added: 0, removed: 0, error }],
  ])
  await look()
  expect(w.node.calls.length).toBeGreaterThan(0)
})

test('what has no core is in place', async () => {
  addNode(w, 'ext', { kind: 'external' })
  const uuid = addSubscription(w, 7, { node: 'ext' })
  expect(await w.s.nodeSync.touch([{ uuid, node: 'ext', nodeGroup: null }])).toBe(true)
})

test('of the local node on another machine alone what is changed is left to it', async () => {
  w.close()
  w = await createWorld({ environment: { LOCAL_NODE: 'elsewhere' } })
  addUser(w, 7)
  addNode(w, 'nl', { kind: 'managed', private_key: 'K'.repeat(43) })
  const nl = w.remote('nl')
  const elsewhere = {
    ...w.s.cores,
    of: (node: Node) => (node.kind === 'local' ? null : w.s.cores.of(node)),
  }
  const { db, clock, log, config, instanceId, background } = w.s
  const sync = createNodeSync({ db, clock, log, config, cores: elsewhere, instanceId, background })
  const on = (node: string) => ({ uuid: addSubscription(w, 7, { node }), node, nodeGroup: null })
  const [local, managed] = [on('de1'), on('nl')]
  expect(await sync.touch([managed])).toBe(true)
  expect(await sync.touch([local, managed])).toBe(false)
  expect([...nl.clients.keys()]).toEqual([managed.uuid])
  expect(w.rows('select code from nodes where behind > 0')).toEqual([{ code: 'de1' }])
  expect(w.rows("select enabled from nodes where code = 'de1'")).toEqual([{ enabled: 1 }])
})
