/** How nodes do, as the passes over them have found it. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { noteChecked } from '#db/nodes.ts'
import { noteLiveIn } from '#src/domain/nodes/live.ts'
import type { MachineState } from '#src/ports/node-program.ts'
import { addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const API = '/admin/api'
const MACHINE: MachineState = {
  ...{ memTotalMb: 2000, memUsedMb: 500, uptimeS: 86_400, load1: 0.25, cpuCount: 2 },
  ...{ rxBytes: 1_000_000, txBytes: 2_000_000 },
}
const UNSEEN = {
  code: 'de1',
  label: 'Local',
  kind: 'local',
  state: 'pending',
  down_since: null,
  last_error: null,
  last_seen_at: null,
  core_version: null,
  at: null,
  online: null,
  up_rate: null,
  down_rate: null,
  spark: [],
  core_uptime_s: null,
  host: null,
}

const pass = (w: World) => w.s.nodeSync.syncAll({ force: false, remove: true })

scenarios('GET /admin/api/nodes/live', [
  {
    name: '200 with nothing known of a node that was never passed over',
    request: { path: `${API}/nodes/live` },
    status: 200,
    body: { nodes: [UNSEEN], online: { subscriptions: 0, customers: 0 } },
  },
  {
    name: '200 with every node in its order, and in a word how it does',
    given: (w) => {
      addNode(w, 'off', { enabled: 0 })
      addNode(w, 'ext')
      addNode(w, 'down', { kind: 'managed', down_since: '2026-03-01T11:00:00' })
      addNode(w, 'ill', { kind: 'managed', last_error: 'the proxy core is not running' })
      addNode(w, 'new', { kind: 'managed', status: 'pending' })
    },
    request: { path: `${API}/nodes/live` },
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(
        json.nodes.map((node: { code: string; state: string }) => [node.code, node.state]),
      ).toEqual([
        ['de1', 'pending'],
        ['off', 'disabled'],
        ['ext', 'unmonitored'],
        ['down', 'down'],
        ['ill', 'trouble'],
        ['new', 'pending'],
      ]),
  },
])

scenarios('GET /admin/api/nodes/{code}/live', [
  {
    name: '200 without a day on which nobody looked',
    request: { path: `${API}/nodes/de1/live` },
    status: 200,
    body: { ...UNSEEN, uptime: [] },
  },
  {
    name: '404 for a node that there is not',
    request: { path: `${API}/nodes/none/live` },
    status: 404,
    body: { error: 'node not found' },
  },
])

describe('what passes find', () => {
  let w: World
  let uuids: string[]
  beforeEach(async () => {
    w = await createWorld()
    addUser(w, 1)
    addUser(w, 2)
    uuids = [1, 1, 2].map((tgId) => addSubscription(w, tgId))
    await pass(w)
  })
  afterEach(() => w.close())

  const live = async () => (await w.admin(`${API}/nodes/live`)).json
  const move = (bytes: number) => {
    for (const uuid of uuids) {
      const [up, down] = w.node.counters.get(uuid) ?? [0, 0]
      w.node.counters.set(uuid, [up + bytes, down + 10 * bytes])
    }
  }
  const later = async (seconds: number, bytes = 0) => {
    w.clock.advance(seconds * 1000)
    move(bytes)
    await pass(w)
  }

  test('rates are those since the pass before, and the last ten stay', async () => {
    await later(90, 900)
    const { nodes } = await live()
    expect(nodes[0]).toMatchObject({ state: 'up', up_rate: 30, down_rate: 300 })
    for (let i = 1; i <= 12; i++) await later(90, 900 * i)
    const { spark, up_rate } = (await live()).nodes[0]
    expect(up_rate).toBe(30 * 12)
    expect(spark.map(({ up }: { up: number }) => up / 30)).toEqual([
      3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ])
  })

  test('after a gap nothing is said of it, and the line begins anew', async () => {
    await later(90, 900)
    await later(3600, 900)
    expect((await live()).nodes[0]).toMatchObject({ up_rate: null, down_rate: null, spark: [] })
    await later(90, 900)
    expect((await live()).nodes[0].spark).toEqual([{ up: 30, down: 300 }])
  })

  test('online are who is connected as the core tells, else who had traffic in three minutes', async () => {
    await later(90, 900)
    expect(await live()).toMatchObject({
      nodes: [{ online: 3 }],
      online: { subscriptions: 3, customers: 2 },
    })
    uuids.pop()
    await later(90, 900)
    await later(90, 900)
    expect((await live()).nodes[0].online).toBe(2)
    w.node.online = 5
    await later(90, 900)
    expect((await live()).nodes[0].online).toBe(5)
    w.node.online = 0
    await later(90)
    expect(await live()).toMatchObject({
      nodes: [{ online: 0 }],
      online: { subscriptions: 2, customers: 1 },
    })
    await later(90)
    expect((await live()).online).toEqual({ subscriptions: 0, customers: 0 })
  })

  test('a pass right behind another says nothing else of rates and of who is online', async () => {
    w.node.host = MACHINE
    await later(90, 900)
    w.node.host = { ...MACHINE, rxBytes: 1_900_000, load1: 2 }
    await later(90, 900)
    const { nodes } = await live()
    await later(1)
    w.node.host = { ...MACHINE, rxBytes: 1_900_500, load1: 3 }
    await later(1)
    const host = { ...nodes[0].host, load1: 3 }
    expect((await live()).nodes[0]).toEqual({
      ...nodes[0],
      ...{ host, last_seen_at: '2026-03-01T12:03:02' },
    })
    await later(88, 900)
    expect((await live()).nodes[0]).toMatchObject({ up_rate: 30, host: { rx_rate: 6 } })
  })

  test('of one that is down, or was not passed over for long, nothing is said that was', async () => {
    w.node.host = MACHINE
    await later(90, 900)
    w.node.failure = 'unreachable'
    await later(90)
    const unknown = { online: null, up_rate: null, spark: [], host: null, core_uptime_s: null }
    expect((await live()).nodes[0]).toMatchObject({ ...unknown, state: 'down' })
    w.node.failure = null
    await later(90)
    await later(90)
    expect((await live()).nodes[0]).toMatchObject({ state: 'up', online: 0 })
    w.clock.advance(900_000)
    expect((await live()).nodes[0]).toMatchObject(unknown)
  })

  test('a pass over what is deleted meanwhile leaves nothing to the next node of that name', async () => {
    addNode(w, 'old')
    const node = w.rows("select * from nodes where code = 'old'")[0]
    const row = { ...node, downSince: null, upOnce: false }
    await w.admin(`${API}/nodes/old`, { method: 'DELETE' })
    const status = {
      online: 7,
      host: null,
      core: { up: true, version: null, uptimeS: 1, epoch: 'e' },
    }
    await w.s.db.tx((tx) =>
      noteLiveIn(tx, [row as never], { status, active: new Map() }, w.s.clock.now()),
    )
    await noteChecked(w.s.db, [row as never], true, '2026-03-01T12:00:00')
    expect(w.rows("select node from node_live where node = 'old'")).toEqual([])
    expect(w.rows("select node from node_uptime where node = 'old'")).toEqual([])
  })

  test('a reading between two passes counts for the next one', async () => {
    w.clock.advance(45_000)
    move(900)
    await w.s.nodeSync.readTraffic(1000)
    await later(45)
    expect((await live()).nodes[0]).toMatchObject({ online: 3, up_rate: 30 })
  })

  test('the machine, and what its network carries', async () => {
    w.node.host = MACHINE
    await later(90)
    const host = {
      ...{ load1: 0.25, cpu_count: 2, mem_used_mb: 500, mem_total_mb: 2000, uptime_s: 86_400 },
    }
    expect((await live()).nodes[0].host).toEqual({ ...host, rx_rate: null, tx_rate: null })
    w.node.host = { ...MACHINE, rxBytes: 1_900_000, txBytes: 2_000_090 }
    await later(90)
    expect((await live()).nodes[0].host).toEqual({ ...host, rx_rate: 10_000, tx_rate: 1 })
    // It was started anew.
    w.node.host = { ...MACHINE, rxBytes: 10, txBytes: 10 }
    await later(90)
    expect((await live()).nodes[0].host).toEqual({ ...host, rx_rate: null, tx_rate: null })
  })

  test('checks are counted by day, good ones and bad ones, and go with their node', async () => {
    await later(90)
    w.node.failure = 'unreachable'
    await later(90)
    w.clock.advance(86_400_000)
    w.node.failure = null
    await pass(w)
    const { json } = await w.admin(`${API}/nodes/de1/live`)
    expect(json.uptime).toEqual([
      { day: '2026-03-01', ok: 2, bad: 1 },
      { day: '2026-03-02', ok: 1, bad: 0 },
    ])
    addNode(w, 'old')
    await w.admin(`${API}/nodes/old/check`, { method: 'POST' })
    expect(w.rows("select node from node_uptime where node = 'old'")).toHaveLength(1)
    await w.admin(`${API}/nodes/old`, { method: 'DELETE' })
    expect(w.rows("select node from node_uptime where node = 'old'")).toEqual([])
  })

  test('when a subscription had traffic last', async () => {
    const seen = () =>
      w.rows('select last_online_at as at from subscriptions order by seq').map(({ at }) => at)
    expect(seen()).toEqual([null, null, null])
    await later(90, 900)
    uuids.pop()
    await later(90, 900)
    expect(seen()).toEqual(['2026-03-01T12:03:00', '2026-03-01T12:03:00', '2026-03-01T12:01:30'])
  })
})
