/** All subscribers of a node who are taken to another. */
import { expect, test } from 'vitest'
import { ENGINE } from '#db/engine/engine.ts'
import { given, node } from '#test/support/rows/moved-subscriptions.ts'
import {
  addNode,
  addPayment,
  addSubscription,
  addUser,
  auditOf,
  eventsOf,
  inSeconds,
} from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const NODES = '/admin/api/nodes'
const clientsOf = (w: World, code: string) => [...w.remote(code).clients]

const renewal = (w: World, uuid: string, more = {}) =>
  addPayment(w, { tg_id: 7, node: 'a', renews_uuid: uuid, ...more })

const nodesOfPayments = (w: World) =>
  w.rows('select node from payments order by seq').map((row) => row.node)

const move = (body: unknown, code = 'a') => ({ path: `${NODES}/${code}/move`, body })

scenarios('POST /admin/api/nodes/{code}/move', [
  {
    name: '200 with the number of all that are not revoked; clients of those that run',
    given: async (w) => {
      const uuids = [await given(w)]
      for (const more of [{}, { held_at: inSeconds(w, -1) }, { expires_at: inSeconds(w, -1) }]) {
        uuids.push(addSubscription(w, 7, { node: 'a', ...more }))
      }
      addSubscription(w, 7, { node: 'a', active: 0 })
      addSubscription(w, 7, { node: 'b' })
      await w.s.nodeSync.syncAll({ force: false, remove: true })
      return uuids
    },
    request: move({ to: 'b' }),
    status: 200,
    body: { moved: 4 },
    effects: (w, uuids) => {
      expect(w.rows("select active from subscriptions where node = 'a'")).toEqual([{ active: 0 }])
      expect(clientsOf(w, 'a')).toEqual([])
      expect(w.remote('b').clients.size).toBe(3)
      for (const uuid of uuids.slice(0, 2)) expect(w.remote('b').clients.has(uuid)).toBe(true)
      expect(w.rows('select action, object, detail from audit_log')).toEqual([
        { action: 'node.move', object: 'a', detail: 'to=b moved=4' },
      ])
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 and pending renewals follow, new purchases of the node do not',
    given: async (w) => {
      renewal(w, await given(w))
      renewal(w, addSubscription(w, 7, { node: 'b' }), { node: 'b' })
      addPayment(w, { tg_id: 7, node: 'a' })
    },
    request: move({ to: 'x' }),
    status: 200,
    effects: (w) => expect(nodesOfPayments(w)).toEqual(['x', 'b', 'a']),
  },
  {
    name: '200 with none',
    given: async (w) => {
      await given(w)
    },
    request: move({ to: 'a' }, 'b'),
    status: 200,
    body: { moved: 0 },
    effects: (w) => expect(auditOf(w)).toEqual(['node.move']),
  },
  {
    name: '200 between local nodes of one core',
    given: async (w) => {
      const uuid = await given(w, { node: 'de1' })
      addNode(w, 'de2', { kind: 'local', port: 8443, private_key: 'K'.repeat(43) })
      return uuid
    },
    request: move({ to: 'de2' }, 'de1'),
    status: 200,
    effects: (w, uuid) => expect([...w.node.clients]).toEqual([[uuid, 'de2']]),
  },
  ...(
    [
      [{ to: 'a' }, 'to must be another node'],
      [{ to: 'nope' }, 'unknown node'],
      [{ to: 5 }, 'to must be a string'],
      [{}, 'to is missing or of the wrong type'],
    ] as const
  ).map(
    ([body, error]): Scenario => ({
      name: `400 for ${JSON.stringify(body)}`,
      given,
      request: move(body),
      status: 400,
      error,
    }),
  ),
  {
    name: '400 for no JSON',
    given,
    request: { path: `${NODES}/a/move`, raw: 'to=b' },
    status: 400,
    error: 'invalid JSON',
  },
  {
    name: '404 for an unknown node, whatever the body',
    request: move({}, 'nope'),
    status: 404,
    error: 'node not found',
  },
])

test('what was moved until now is counted first, what the old node tells later is not', async () => {
  const w = await createWorld()
  const uuid = await given(w)
  w.remote('a').counters.set(uuid, [100, 1000])
  await w.admin(`${NODES}/a/move`, { body: { to: 'b' } })
  const totals = () => w.rows('select up_bytes, down_bytes from subscriptions')[0]
  expect(totals()).toEqual({ up_bytes: 100, down_bytes: 1000 })
  w.remote('a').counters.set(uuid, [500, 5000])
  w.remote('b').counters.set(uuid, [1, 2])
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  expect(totals()).toEqual({ up_bytes: 101, down_bytes: 1002 })
  const samples = 'select node, up, down from traffic_samples order by node'
  expect(w.rows(samples)).toEqual([
    { node: 'a', up: 100, down: 1000 },
    { node: 'b', up: 1, down: 2 },
  ])
  // Back again, it goes on where it was.
  await w.admin(`${NODES}/b/move`, { body: { to: 'a' } })
  w.remote('a').counters.set(uuid, [501, 5001])
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  expect(totals()).toEqual({ up_bytes: 502, down_bytes: 5003 })
  expect(w.log.filter((line) => line.includes('what cannot be'))).toEqual([])
  w.close()
})

test('two thousand are moved off a node that is down, and the brake lets them go when it is back', async () => {
  const w = await createWorld()
  for (let i = 0; i < 100; i++) addUser(w, 1000 + i)
  const [a, b] = [node(w, 'a'), node(w, 'b')]
  for (let i = 0; i < 2000; i++) addSubscription(w, 1000 + (i % 100), { node: 'a' })
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  a.failure = 'timeout'
  expect((await w.admin(`${NODES}/a/move`, { body: { to: 'b' } })).json).toEqual({ moved: 2000 })
  await w.s.background.idle()
  expect([a.clients.size, b.clients.size]).toEqual([2000, 2000])
  expect(b.calls.filter(({ verb }) => verb === 'apply')).toHaveLength(1)
  a.failure = null
  const [, result] = await w.s.nodeSync.syncAll({ force: false, remove: true })
  expect(result).toMatchObject({ code: 'a', ok: true, removed: 2000, error: null })
  w.close()
})

/** 60 subscriptions of the node `a` that run and three that are revoked, in the order of their coming. */
async function givenMany(w: World): Promise<string[]> {
  await given(w, { active: 0 })
  const uuids: string[] = []
  for (let i = 0; i < 60; i++) {
    uuids.push(addSubscription(w, 7, { node: 'a' }))
    if (i % 30 === 0) addSubscription(w, 7, { node: 'a', active: 0 })
  }
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  return uuids
}

const movedTo = (w: World, code: string) =>
  w.rows('select count(*) as n from subscriptions where node = ? and active = 1', code)[0].n

const auditedMoves = (w: World) =>
  w.rows("select detail from audit_log where action = 'node.move'").map((row) => row.detail)

test('others are answered while many are moved, which is one entry of the audit log', async () => {
  const w = await createWorld()
  await givenMany(w)
  const moving = w.admin(`${NODES}/a/move`, { body: { to: 'b' } })
  const between = new Set<number>()
  let isOver = false
  void moving.finally(() => {
    isOver = true
  })
  while (!isOver) {
    expect((await w.admin(NODES)).status).toBe(200)
    expect(auditedMoves(w).length).toBe(Math.min(1, movedTo(w, 'b')))
    between.add(movedTo(w, 'b'))
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect((await moving).json).toEqual({ moved: 60 })
  // Where an answer takes several turns of a server, it may be that none falls into the middle.
  expect(between.size).toBeGreaterThan(ENGINE === 'sqlite' ? 2 : 1)
  expect(auditedMoves(w)).toEqual(['to=b moved=60'])
  expect(w.rows("select active from subscriptions where node = 'a'")).toHaveLength(3)
  expect([clientsOf(w, 'a').length, clientsOf(w, 'b').length]).toEqual([0, 60])
  w.close()
})

test('a move that fails on its way has moved some, whose nodes know it, and goes on when it is asked for again', async () => {
  const w = await createWorld()
  const uuids = await givenMany(w)
  const end = w.obstruct('update', 'subscriptions', `OLD.uuid = '${uuids[40]}'`)
  expect((await w.admin(`${NODES}/a/move`, { body: { to: 'b' } })).status).toBe(500)
  const moved = movedTo(w, 'b')
  expect(moved).toBeGreaterThan(0)
  expect(moved).toBeLessThanOrEqual(40)
  expect(auditedMoves(w)).toEqual([`to=b moved=${moved}`])
  expect([clientsOf(w, 'a').length, clientsOf(w, 'b').length]).toEqual([60 - moved, moved])
  end()
  expect((await w.admin(`${NODES}/a/move`, { body: { to: 'b' } })).json).toEqual({
    moved: 60 - moved,
  })
  expect(movedTo(w, 'b')).toBe(60)
  w.close()
})
