import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { countReading, trafficDelta } from '#src/domain/nodes/traffic.ts'
import type { CoreStatus } from '#src/ports/node-program.ts'
import { createWorld, grantUser, type World } from '#test/support/worlds/world.ts'

const HERE = { core: 'local', nodes: new Map([['de1', 100]]), acknowledged: '' }

describe('trafficDelta', () => {
  const base = { epoch: 'a', up: 10, down: 20 }
  const cases: [
    name: string,
    base: typeof base | null,
    epoch: string,
    up: number,
    down: number,
    expected: number[],
  ][] = [
    ['counts everything of a client seen first', null, 'a', 5, 6, [5, 6]],
    ['counts what came since the base', base, 'a', 15, 20, [5, 0]],
    ['counts nothing twice', base, 'a', 10, 20, [0, 0]],
    ['counts from zero after a restart of the core', base, 'b', 15, 25, [15, 25]],
    ['counts nothing of a reading that is older than the base', base, 'a', 9, 20, [0, 0]],
    [
      'takes the first reading after a reset as the base',
      { ...base, epoch: 'reset' },
      'a',
      99,
      99,
      [0, 0],
    ],
  ]
  test.each(cases)('%s', (_name, from, epoch, up, down, expected) => {
    const delta = trafficDelta(from, { epoch, up, down })
    expect([delta.up, delta.down]).toEqual(expected)
  })
})

describe('counting', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  const totals = async () => {
    const { json } = await w.admin('/admin/api/traffic')
    return json.entries.map((entry: { up: number; down: number }) => [entry.up, entry.down])
  }

  test('totals grow by what came, through a restart of the core', async () => {
    const { subscription } = await grantUser(w, 1)
    w.node.counters.set(subscription.uuid, [100, 1000])
    expect(await totals()).toEqual([[100, 1000]])
    expect(await totals()).toEqual([[100, 1000]])
    w.node.restart()
    w.node.counters.set(subscription.uuid, [5, 7])
    expect(await totals()).toEqual([[105, 1007]])
  })

  test('a reset makes the next reading the base, also when the node was away', async () => {
    const { subscription } = await grantUser(w, 1)
    const reset = () =>
      w.admin(`/admin/api/subscriptions/${subscription.uuid}/reset-traffic`, { method: 'POST' })
    w.node.counters.set(subscription.uuid, [100, 1000])
    await totals()
    expect((await reset()).json).toEqual({ ok: true })
    expect(await totals()).toEqual([])
    w.node.counters.set(subscription.uuid, [101, 1000])
    expect(await totals()).toEqual([[1, 0]])
    w.node.failure = 'timeout'
    expect((await reset()).json).toEqual({ ok: false })
    w.node.failure = null
    expect(await totals()).toEqual([])
    w.node.counters.set(subscription.uuid, [103, 1000])
    expect(await totals()).toEqual([[2, 0]])
  })

  test('numbers for clients that the database does not know change nothing', async () => {
    w.node.counters.set(crypto.randomUUID(), [100, 1000])
    expect(await totals()).toEqual([])
  })

  test('a thousand clients are counted in batches and summed per node and day', async () => {
    for (let i = 1; i <= 500; i++) await grantUser(w, i)
    for (const uuid of w.node.clients.keys()) w.node.counters.set(uuid, [1, 2])
    const { json } = await w.admin('/admin/api/traffic')
    expect([json.up, json.down, json.total_fmt]).toEqual([500, 1000, '1.5 KB'])
    const sample = w.rows('SELECT * FROM traffic_samples')
    expect(sample).toEqual([{ node: 'de1', day: '2026-03-01', up: 500, down: 1000 }])
  })

  test('of two readings that were taken together only the first to be counted counts', async () => {
    const { subscription } = await grantUser(w, 1)
    const reading = async (up: number): Promise<CoreStatus> => {
      w.node.counters.set(subscription.uuid, [up, 0])
      return w.node.program.status('', 1000)
    }
    const [early, late] = [await reading(5000), await reading(6000)]
    await countReading(w.s, HERE, late)
    await countReading(w.s, HERE, early)
    expect(w.rows('SELECT up_bytes FROM subscriptions')).toEqual([{ up_bytes: 6000 }])
    w.node.counters.set(subscription.uuid, [7000, 0])
    expect(await totals()).toEqual([[7000, 0]])
  })

  test('requests go on while thousands of clients are counted', async () => {
    const counters: CoreStatus['counters'] = Array.from({ length: 3000 }, () => [
      crypto.randomUUID(),
      1,
      1,
    ])
    let turns = 0
    const timer = setInterval(() => turns++, 0)
    await countReading(w.s, HERE, { ...(await w.node.program.status('', 1000)), counters })
    clearInterval(timer)
    expect(turns).toBeGreaterThan(1)
  })

  test('who has used up all leaves the node, whatever becomes of the rest of the reading', async () => {
    const uuids: string[] = []
    for (const tgId of [1, 2]) uuids.push((await grantUser(w, tgId)).subscription.uuid)
    const [limited = '', failing = ''] = uuids
    w.change('update subscriptions set quota_bytes = 10')
    w.change(
      `create trigger broken before insert on counters when new.uuid = '${failing}' begin select raise(abort, 'broken'); end`,
    )
    w.node.counters.set(limited, [10, 0])
    for (let i = 0; i < 200; i++) w.node.counters.set(crypto.randomUUID(), [1, 1])
    w.node.counters.set(failing, [10, 0])
    await expect(w.s.nodeSync.readNode('de1', 1000)).rejects.toThrow()
    await w.s.background.idle()
    const rows = w.rows('select limited_at is null as open, up_bytes from subscriptions')
    expect(rows).toEqual([
      { open: 0, up_bytes: 10 },
      { open: 1, up_bytes: 0 },
    ])
    expect(w.rows('select reading from readings')).toEqual([])
    expect([...w.node.clients.keys()]).toEqual([failing])
    // The same reading again limits nobody twice.
    w.change('drop trigger broken')
    await w.s.nodeSync.readNode('de1', 1000)
    await w.s.background.idle()
    expect(w.rows("select kind from outbox where kind = 'traffic'")).toHaveLength(2)
    expect(w.node.clients.size).toBe(0)
  })

  test('a moved subscription keeps its total and is counted from its base on each core', async () => {
    const { subscription } = await grantUser(w, 1)
    w.node.counters.set(subscription.uuid, [10, 10])
    await totals()
    w.change("UPDATE counters SET core = 'other'")
    w.node.counters.set(subscription.uuid, [3, 3])
    expect(await totals()).toEqual([[13, 13]])
  })
})

test('an older reading that comes late moves no base back, so nothing is counted again', async () => {
  const w = await createWorld()
  const { subscription } = await grantUser(w, 1)
  const read = (reading: string, up: number) =>
    countReading(w.s, HERE, {
      program: 2,
      owner: '',
      config: '',
      clients: '',
      count: 1,
      live: true,
      core: { up: true, version: null, uptimeS: null, epoch: 'run' },
      online: null,
      host: null,
      reading,
      counters: [[subscription.uuid, up, 0]],
      hysteria: null,
    })
  await read('newer', 100)
  w.change('delete from readings')
  await read('older', 90)
  w.change('delete from readings')
  await read('newest', 110)
  expect(w.rows('select up_bytes from subscriptions')).toEqual([{ up_bytes: 110 }])
  w.close()
})
