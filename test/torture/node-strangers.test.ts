/** A panel with the wrong database, and a server that lies: neither harms what belongs to others. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { type ManagedPanel, startPanel } from '#test/support/labs/managed-panel.ts'
import { addServer, assignments, type NodeServer } from '#test/support/labs/node-lab.ts'
import type { Runtime } from '#test/support/labs/service.ts'

const FULL = process.env.FULL === '1'
const TICK_MS = 1500
const PASSES = FULL ? 3 : 1
const RUNTIMES: Runtime[] = FULL ? ['node', 'bun'] : ['node']
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const ENV = { SYNC_INTERVAL_MS: String(TICK_MS) }

async function inStep(panel: ManagedPanel, servers: NodeServer[]): Promise<void> {
  const all = async () => (await Promise.all(servers.map(panel.inStep))).every(Boolean)
  await until('all are in step', all, 60_000)
}

const title = 'another database started against nodes with 15 and with 500 clients, on %s'
describe.each(RUNTIMES)(title, (runtime) => {
  let lab: Lab
  let target: Target
  let own: ManagedPanel
  let servers: NodeServer[]
  let config: string[]
  const configs = () => servers.map(({ dir }) => readFileSync(join(dir, 'core.params'), 'utf8'))

  beforeAll(async () => {
    lab = createLab()
    target = await startTarget(lab)
    own = await startPanel(lab, target, runtime, 'own', ENV)
    servers = [addServer(lab, 1, { sni: target.serverName })]
    servers.push(addServer(lab, 2, { sni: target.serverName }))
    for (const [index, server] of servers.entries()) {
      await own.adopt(server)
      own.fill(server.code, index === 0 ? 15 : 500)
      await server.boot()
    }
    await inStep(own, servers)
    config = configs()
  })
  afterAll(() => lab?.close())

  test.each([
    ['an empty one', 'empty', 0],
    ["another installation's", 'other', 12],
  ])('%s removes nobody', async (_, name, clients) => {
    const before = servers.map((server) => server.listed())
    const stranger = await startPanel(lab, target, runtime, name, { ...ENV, PORT: '3001' })
    for (const server of servers) {
      await stranger.adopt(server)
      if (clients > 0) stranger.fill(server.code, clients)
    }
    for (let pass = 0; pass < 3; pass++) {
      const { json } = await stranger.service.admin('/sync', {})
      const removed = json.nodes.map((node: { removed: number }) => node.removed)
      expect(removed).toEqual([0, 0])
      await pause(TICK_MS)
    }
    for (const [index, server] of servers.entries()) {
      expect(server.listed()).toEqual(expect.arrayContaining(before[index] as string[]))
      expect(await server.held()).toEqual(expect.arrayContaining(before[index] as string[]))
    }
    expect(configs()).toEqual(config)
    expect(await stranger.service.stop()).toBe(0)
    // What the stranger added is not ours: it goes with the next pass, which the brake lets through.
    await inStep(own, servers)
  })

  test('our own database without its subscriptions removes nobody of 500', async () => {
    const server = servers[1] as NodeServer
    const before = server.listed()
    own.write("update subscriptions set active = 0 where node = 'n2'")
    for (let pass = 0; pass < 3; pass++) {
      await own.service.admin('/sync', {})
      await pause(TICK_MS)
    }
    expect(server.listed()).toEqual(before)
    expect(await server.held()).toEqual(before)
    await own.service.admin('/sync', { force: true })
    await until('an admin who insists gets their way', () => server.listed().length === 0, 20_000)
  })
})

describe.each(RUNTIMES)('a server that lies, on %s', (runtime) => {
  let lab: Lab
  let panel: ManagedPanel
  let liar: NodeServer
  let honest: NodeServer
  let victims: string[]
  const residentMb = () => {
    const status = readFileSync(`/proc/${panel.service.process.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  }

  beforeAll(async () => {
    lab = createLab()
    const target = await startTarget(lab)
    panel = await startPanel(lab, target, runtime, 'data', ENV)
    liar = addServer(lab, 1, { sni: target.serverName })
    honest = addServer(lab, 2, { sni: target.serverName })
    for (const server of [liar, honest]) {
      await panel.adopt(server)
      panel.fill(server.code, 30)
      await server.boot()
    }
    await inStep(panel, [liar, honest])
    victims = panel.wanted('n2')
  })
  afterAll(() => lab?.close())

  const agent = join(import.meta.dirname, '../../templates/node-agent.sh')
  /** The node program's own answer with its first list of counters replaced. */
  const withCounters = (counters: (string | number)[][]) =>
    `${assignments(liar.env)} bash '${agent}' "$@" | sed 's/"counters":\\[[^a-z]*\\]/"counters":${JSON.stringify(counters)}/; s/"counters":\\[\\[[^}]*\\]\\]/"counters":${JSON.stringify(counters)}/'`

  const lies: [string, () => string][] = [
    ['100 MB in one line', () => 'head -c 100000000 /dev/zero | tr "\\0" x'],
    ['no end', () => 'exec yes'],
    ['garbage', () => 'head -c 20000 /dev/urandom'],
    ['an opened bracket a million times', () => 'head -c 1000000 /dev/zero | tr "\\0" "["'],
    ['nothing', () => 'exit 3'],
    ['nothing, for ever', () => 'exec sleep 1000'],
    ['negative numbers', () => withCounters([[panel.wanted('n1')[0] as string, -5e9, -5e9]])],
    [
      'numbers beyond all counting',
      () => withCounters([[panel.wanted('n1')[0] as string, 1e300, 9e15]]),
    ],
    [
      'more traffic than can be',
      () => withCounters([[panel.wanted('n1')[0] as string, 5e15, 5e15]]),
    ],
    ["other nodes' clients", () => withCounters(victims.map((uuid) => [uuid, 7e9, 7e9]))],
    [
      'clients that nobody knows',
      () => withCounters([['00000000-0000-4000-8000-000000000000', 7e9, 7e9]]),
    ],
  ]

  test.each(lies)('that answers %s does no harm', { timeout: 300_000 }, async (_, script) => {
    const total = (await panel.service.admin('/traffic')).json
    const memory = residentMb()
    const lines = panel.service.process.output().length
    liar.answerWith(script())
    const [uuid] = panel.wanted('n2')
    let worst = memory
    for (let pass = 0; pass < PASSES; pass++) {
      const begin = performance.now()
      const answers = await Promise.all([
        panel.service.admin('/sync', {}),
        panel.service.admin('/nodes/n1/metrics'),
        panel.service.admin(`/subscriptions/${uuid}/hold`, undefined, 'POST'),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(performance.now() - begin).toBeLessThan(6000)
      await until('the honest one is in step', () => panel.inStep(honest))
      await panel.service.admin(`/subscriptions/${uuid}/resume`, undefined, 'POST')
      worst = Math.max(worst, residentMb())
      await pause(TICK_MS)
    }
    const after = (await panel.service.admin('/traffic')).json
    expect([after.up, after.down]).toEqual([total.up, total.down])
    expect(panel.query('select * from traffic_samples where up + down > 0')).toEqual([])
    const told = panel.service.process.output().slice(lines)
    expect(told.split('\n').filter((line) => / warn | error /.test(line)).length).toBeLessThan(4)
    expect(worst - memory).toBeLessThan(200)
    liar.answerWith(null)
    await inStep(panel, [liar, honest])
  })

  test('what it said that cannot be was told once', () => {
    const told = (text: string) => panel.service.process.output().split(text).length - 1
    expect(told('traffic of clients that are not on it')).toBe(1)
    expect(told('more traffic than can be')).toBe(1)
  })
})
