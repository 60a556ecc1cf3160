/** A node that lies, or is broken: what it says of others is ignored, and told once. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nodeProgram } from '#src/integrations/nodes/program.ts'
import { endedWith } from '#src/integrations/nodes/shell.ts'
import { NodeError } from '#src/lib/errors.ts'
import { addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
let own: string
let foreign: string

beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7)
  for (const code of ['bad', 'good']) {
    addNode(w, code, { kind: 'managed', private_key: 'K'.repeat(43) })
    w.remote(code)
  }
  own = addSubscription(w, 7, { node: 'bad' })
  foreign = addSubscription(w, 7, { node: 'good' })
  await passAll()
  await passAll()
})
afterEach(() => w.close())

const passAll = () => w.s.nodeSync.syncAll({ force: false, remove: true })
const bytesOf = (uuid: string) =>
  w
    .rows('select up_bytes, down_bytes from subscriptions where uuid = ?', uuid)
    .map((row) => [row.up_bytes, row.down_bytes])[0]
const oddities = () => w.log.filter((line) => line.includes('what cannot be'))

describe('traffic', () => {
  test('of clients on other nodes is not counted, in all passes told once', async () => {
    w.remote('good').counters.set(foreign, [10, 20])
    for (const bytes of [1000, 2000, 3000]) {
      w.remote('bad').counters.set(foreign, [bytes, bytes])
      w.remote('bad').counters.set(own, [bytes, 0])
      await passAll()
    }
    expect([bytesOf(own), bytesOf(foreign)]).toEqual([
      [3000, 0],
      [10, 20],
    ])
    expect(oddities()).toHaveLength(1)
    expect(oddities()[0]).toContain(' core=bad ')
    expect(w.rows('select node, up, down from traffic_samples order by node')).toEqual([
      { node: 'bad', up: 3000, down: 0 },
      { node: 'good', up: 10, down: 20 },
    ])
  })

  test('of clients that nobody knows is not counted', async () => {
    for (let i = 0; i < 500; i++) w.remote('bad').counters.set(crypto.randomUUID(), [5, 5])
    await passAll()
    expect(w.rows('select * from counters')).toEqual([])
    expect(w.rows('select * from traffic_samples')).toEqual([])
  })

  test('that no line could carry is not counted, in all passes told once', async () => {
    for (const up of [2 ** 50 + 1, Number.MAX_SAFE_INTEGER]) {
      w.remote('bad').counters.set(own, [up, 1])
      await passAll()
    }
    expect(bytesOf(own)).toEqual([0, 0])
    expect(oddities()).toHaveLength(1)
    w.remote('bad').counters.set(own, [2 ** 50, 1])
    await passAll()
    expect(bytesOf(own)).toEqual([2 ** 50, 1])
  })

  test('that is made up anew at each pass breaks no sum', async () => {
    const uuids = [own, ...[1, 2, 3].map(() => addSubscription(w, 7, { node: 'bad' }))]
    for (let pass = 0; pass < 12; pass++) {
      w.remote('bad').restart()
      for (const uuid of uuids) w.remote('bad').counters.set(uuid, [2 ** 50, 2 ** 50])
      await passAll()
    }
    const most = Number.MAX_SAFE_INTEGER
    expect(bytesOf(own)).toEqual([most, most])
    expect((await w.admin('/admin/api/stats')).json.traffic).toEqual({ up: most, down: most })
    const { json } = await w.admin('/admin/api/stats/series?days=1')
    expect(json[0]).toMatchObject({ up: most, down: most })
    expect((await w.admin('/admin/api/traffic')).status).toBe(200)
    expect((await w.admin('/admin/api/subscriptions')).status).toBe(200)
  })
})

describe('an answer', () => {
  const status = {
    ok: true,
    owner: '',
    config: '',
    clients: '',
    count: 0,
    live: true,
    core: { up: true, version: '26.7.28', uptime_s: 1, epoch: 'e' },
    reading: 'r',
    counters: [] as unknown[],
    hysteria: null,
  }
  const id = '00000000-0000-4000-8000-000000000001'
  const cases: [name: string, text: string][] = [
    ['no JSON', 'Welcome to Debian!'],
    ['empty', ''],
    ['a list', '[]'],
    ['cut', JSON.stringify(status).slice(0, -5)],
    ['of nesting that no parser likes', '['.repeat(200_000)],
    ['with negative bytes', JSON.stringify({ ...status, counters: [[id, -1, 0]] })],
    ['with a fraction', JSON.stringify({ ...status, counters: [[id, 0.5, 0]] })],
    [
      'with more than numbers can hold',
      JSON.stringify({ ...status, counters: [[id, 2 ** 53, 0]] }),
    ],
    ['with words for numbers', JSON.stringify({ ...status, counters: [[id, '1', 0]] })],
    ['with a made-up client', JSON.stringify({ ...status, counters: [["x' or 1=1", 1, 0]] })],
    [
      'with a version that is a story',
      JSON.stringify({ ...status, core: { ...status.core, version: 'x'.repeat(300) } }),
    ],
    ['that is nothing', 'null'],
  ]
  test.each(cases)(
    '%s is refused, the node is told once as failed, and the others go on',
    async (_name, text) => {
      const program = nodeProgram(async () => text, '')
      await expect(program.status('', 1000)).rejects.toThrow(NodeError)
      w.remote('bad').program.status = program.status
      for (let pass = 0; pass < 4; pass++) {
        w.clock.advance(90_000)
        const results = await passAll()
        expect(results.map(({ ok }) => ok)).toEqual([true, false, true])
      }
      expect(w.log.filter((line) => line.includes('node sync failed'))).toHaveLength(1)
      expect(bytesOf(own)).toEqual([0, 0])
    },
  )

  test.each([
    ['mem_total_mb', -5],
    ['mem_used_mb', 1.5],
    ['uptime_s', 2 ** 53],
    ['load1', -1],
    ['load1', 1e308],
    ['cpu_count', 1e308],
    ['clients', 1e-320],
  ])('is no measurement where %s is %d', async (key, value) => {
    const sound = {
      ...{ ok: true, mem_total_mb: 984, mem_used_mb: 300, uptime_s: 5, load1: 0.42, cpu_count: 2 },
      ...{ core_version: '26.3.27', core_up: true, clients: 3 },
    }
    const measure = (answer: object) =>
      nodeProgram(async () => JSON.stringify(answer), '').metrics(1000)
    expect(await measure(sound)).toMatchObject({ load1: 0.42, clients: 3 })
    await expect(measure({ ...sound, [key]: value })).rejects.toThrow(NodeError)
  })

  test('that paints, breaks lines or writes from right to left is one plain line wherever it is told', async () => {
    const bait = '\u001b[31m<img src=x>\r\n2026-01-01 fake\u202e\u2028\u0000\u009b5m\u{1f600}'
    const plain = ' [31m<img src=x> 2026-01-01 fake 5m '
    const { metrics } = nodeProgram(
      async () => JSON.stringify({ ok: false, error: 'core-down', message: bait }),
      '',
    )
    const bad = w.remote('bad').program
    bad.status = metrics as never
    bad.metrics = metrics
    w.clock.advance(90_000)
    const error = `metrics: ${plain}`
    expect((await passAll())[1]).toMatchObject({ code: 'bad', error })
    expect((await w.admin('/admin/api/nodes/bad/metrics')).json.error).toBe(error)
    expect(w.rows("select last_error from nodes where code = 'bad'")).toEqual([
      { last_error: error },
    ])
    const odd = { ...status, core: { ...status.core, version: bait } }
    expect(
      (await nodeProgram(async () => JSON.stringify(odd), '').status('', 1000)).core.version,
    ).toBe(plain)
    expect(endedWith(1, bait).message).toBe(`the node program ended with 1: ${plain}`)
  })

  test('that words its failure anew each time is told once', async () => {
    let n = 0
    w.remote('bad').program.status = async () => {
      throw new NodeError('fault', `failure ${n++}`)
    }
    for (let pass = 0; pass < 5; pass++) {
      w.clock.advance(90_000)
      await passAll()
    }
    expect(w.log.filter((line) => line.includes('node sync failed'))).toHaveLength(1)
  })

  test('that names clients of others as its own loses none of them', async () => {
    w.remote('bad').clients.set(foreign, 'bad')
    expect((await passAll())[1]).toMatchObject({ code: 'bad', removed: 1 })
    expect(w.remote('good').clients.has(foreign)).toBe(true)
    expect(w.rows('select count(*) as n from subscriptions where active = 1')[0].n).toBe(2)
  })
})
