/** One subscription on many servers: this machine's core and those that the panel manages, all real, serve whoever has their group. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createLab,
  type Lab,
  type LabProcess,
  startTarget,
  type Target,
  until,
} from '#test/support/labs/lab.ts'
import { runListClient, startListClient } from '#test/support/labs/list-clients.ts'
import { type ManagedPanel, startPanel } from '#test/support/labs/managed-panel.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { type Client, fetchThrough, openStream, type Runtime } from '#test/support/labs/service.ts'

const FULL = process.env.FULL === '1'
/** What is fixed in the full form, on a quiet machine; elsewhere only what is far off is a fault. */
const SLACK = FULL ? 1 : 3
const CUT_OFF_MS = 5000
const MANY = 20
const USABLE_MS = 2000 * SLACK

/** But at the start and when they are asked for: what a change does not do by itself stays undone. */
const NO_PASSES = { SYNC_INTERVAL_MS: '3600000' }

const post = (panel: ManagedPanel, path: string, body: object = {}) =>
  panel.service.admin(path, body, 'POST')

/** Makes a group, and the plan of the same code that is sold with it. */
async function addGroupPlan(panel: ManagedPanel, code: string, nodes: string[]): Promise<void> {
  const group = await post(panel, '/node-groups', { code, label: 'All places', nodes })
  expect([group.status, group.json]).toMatchObject([200, { code, nodes }])
  const plan = { code, label: 'Everywhere', days: 30, price: 500, node_group: code }
  expect((await post(panel, '/plans', plan)).status).toBe(200)
}

async function addServers(lab: Lab, panel: ManagedPanel, sni: string, count: number) {
  const servers = Array.from({ length: count }, (_, i) => addServer(lab, i + 1, { sni }))
  for (const server of servers) {
    await panel.adopt(server)
    await server.boot()
  }
  return servers
}

/** A pass in which every core answers and holds what is wanted. */
const settle = (panel: ManagedPanel) =>
  until('all are in step', async () => (await post(panel, '/sync')).json?.ok === true, 60_000)

describe.each<Runtime>(['node', 'bun'])('on %s with a group of three cores', (runtime) => {
  let lab: Lab
  let target: Target
  let panel: ManagedPanel
  let servers: NodeServer[]
  let uuid: string
  let token: string
  let clients: Client[]

  const page = (client: Client, path = '/', seconds = 3) =>
    fetchThrough(lab, target, client, path, seconds)
  const works = (client: Client) =>
    until(
      `${client.name} gets the page\n${client.process.output()}`,
      async () => (await page(client)) === 'hello',
      15_000,
    )
  const startClient = (label: string) =>
    startListClient(lab, panel.service, token, label, ['xray', 'reality'])
  const change = (verb: string) => post(panel, `/subscriptions/${uuid}/${verb}`)
  const setMembers = async (...nodes: string[]) => {
    const edited = await panel.service.admin('/node-groups/all', { nodes }, 'PATCH')
    expect([edited.status, edited.json?.nodes]).toEqual([200, nodes])
    return edited.json.sync
  }
  const links = async () => {
    const { text } = await panel.service.request(`/sub/${token}`, { agent: 'v2rayNG/2.3.5' })
    return Buffer.from(text, 'base64').toString('utf8').split('\n').filter(Boolean)
  }
  const running = async () => {
    const streams = clients.map((client) => openStream(lab, target, client))
    await until('streams flow', () => streams.every((stream) => stream.output().length > 300))
    return streams
  }
  /** How long after `act` began the last of these streams ended; infinite where one goes on. */
  const endOf = async (streams: LabProcess[], act: () => Promise<unknown>) => {
    const begin = performance.now()
    const tooLate = new Promise<number>((done) =>
      setTimeout(done, CUT_OFF_MS, Number.POSITIVE_INFINITY),
    )
    const ends = streams.map((stream) => stream.exited.then(() => performance.now() - begin))
    await act()
    return Math.max(...(await Promise.all(ends.map((end) => Promise.race([end, tooLate])))))
  }
  /** What `verb` does to the subscription must end a stream through each member, and let no client in again. */
  const cutsOff = async (verb: string) => {
    const ms = await endOf(await running(), () => change(verb))
    expect(ms).toBeLessThan(CUT_OFF_MS)
    expect(await Promise.all(clients.map((client) => page(client, '/', 2)))).toEqual(
      clients.map(() => null),
    )
    console.log(`${runtime}: ${verb} cut all three off within ${Math.round(ms)} ms of the request`)
    expect(await links()).toEqual([])
  }
  /** What the cores have counted of the subscription, each since its start. */
  const counters = () =>
    panel.query<{ core: string; epoch: string; down: number }>(
      'select core, epoch, down from counters where uuid = ? order by core',
      uuid,
    )
  const epochs = async () => {
    for (const client of clients) expect((await page(client, '/bytes/5000', 10))?.length).toBe(5000)
    await panel.service.admin('/traffic')
    return counters().map(({ core, epoch }) => ({ core, epoch }))
  }

  beforeAll(async () => {
    lab = createLab()
    target = await startTarget(lab)
    panel = await startPanel(lab, target, runtime, 'data', { LOCAL_NODE: 'on', ...NO_PASSES })
    servers = await addServers(lab, panel, target.serverName, 3)
    await addGroupPlan(panel, 'all', ['de1', 'n1', 'n2'])
    await settle(panel)
  })
  afterAll(() => lab?.close())

  test('one grant is one id on three cores and three entries, and each gets a page', async () => {
    const granted = await post(panel, '/users/42/grant', { plan: 'all' })
    expect([granted.status, granted.json]).toMatchObject([200, { nodes: ['de1', 'n1', 'n2'] }])
    uuid = granted.json.uuid
    token = (await panel.service.admin('/users/42')).json.token
    expect(panel.query('select uuid from subscriptions')).toEqual([{ uuid }])
    const all = await links()
    expect(all.map((link) => new URL(link).username)).toEqual([uuid, uuid, uuid])
    expect(all.map((link) => new URL(link).hostname)).toEqual([
      '45.45.45.45',
      ...servers.slice(0, 2).map(({ address }) => address),
    ])
    clients = []
    for (const label of ['Local', 'Server n1', 'Server n2']) clients.push(await startClient(label))
    await Promise.all(clients.map(works))
    expect(await Promise.all(servers.map((server) => server.held()))).toEqual([[uuid], [uuid], []])
  })

  test('the bytes of three cores sum once', async () => {
    const total = () =>
      panel.query<{ down: number }>('select down_bytes as down from subscriptions')[0]?.down ?? 0
    const before = (await panel.service.admin('/traffic')).json.down
    for (const client of clients) {
      expect((await page(client, '/bytes/300000', 10))?.length).toBe(300_000)
    }
    const after = await until('all three are counted', async () => {
      const { down } = (await panel.service.admin('/traffic')).json
      return down - before > 900_000 ? down : null
    })
    expect(after - before).toBeLessThan(1_050_000)
    await settle(panel)
    const later = await panel.service.admin('/traffic')
    expect(later.json.down - after).toBeLessThan(20_000)
    expect(later.json.entries).toMatchObject([{ uuid, down: later.json.down }])
    const own = counters().map(({ down }) => down)
    expect(own.map((down) => down > 300_000)).toEqual([true, true, true])
    expect(total()).toBe(own.reduce((sum, down) => sum + down, 0))
  })

  test('hold cuts all three off within 5 s, resume lets them in again', async () => {
    await cutsOff('hold')
    await change('resume')
    await Promise.all(clients.map(works))
  })

  test('a member that joins and leaves breaks no stream through another, and starts no core anew', async () => {
    const before = await epochs()
    expect(before).toHaveLength(3)
    const streams = await running()
    const sync = await setMembers('de1', 'n1', 'n2', 'n3')
    expect(sync).toEqual([{ code: 'n3', ok: true, added: 1, removed: 0, error: null }])
    const joined = await startClient('Server n3')
    await works(joined)
    const lengths = streams.map((stream) => stream.output().length)
    await until('streams flow on', () =>
      streams.every((stream, i) => stream.output().length > (lengths[i] as number) + 300),
    )
    const left = await endOf([openStream(lab, target, joined)], () => setMembers('de1', 'n1', 'n2'))
    expect(left).toBeLessThan(CUT_OFF_MS)
    expect(await page(joined, '/', 2)).toBe(null)
    const broken = Promise.race(streams.map((stream) => stream.exited.then(() => true)))
    expect(await Promise.race([broken, new Promise((done) => setTimeout(done, 1000, false))])).toBe(
      false,
    )
    for (const stream of streams) stream.signal('SIGTERM')
    const after = await epochs()
    expect(after.filter(({ core }) => before.some((one) => one.core === core))).toEqual(before)
  })

  test('revoke cuts all three off within 5 s for good', async () => {
    await cutsOff('revoke')
    await settle(panel)
    expect(await Promise.all(servers.map((server) => server.held()))).toEqual([[], [], []])
  })
})

describe(`with a group of ${MANY} servers`, () => {
  let lab: Lab
  afterAll(() => lab?.close())

  test(`one grant is usable on all within ${USABLE_MS} ms`, async () => {
    lab = createLab()
    const target = await startTarget(lab)
    const panel = await startPanel(lab, target, 'node', 'data', NO_PASSES)
    const servers = await addServers(lab, panel, target.serverName, MANY)
    const codes = servers.map(({ code }) => code)
    await addGroupPlan(panel, 'all', codes.toSorted())
    await settle(panel)
    const grant = async (tgId: number) => {
      const begin = performance.now()
      const granted = await post(panel, `/users/${tgId}/grant`, { plan: 'all' })
      expect(granted.status).toBe(200)
      const { uuid } = granted.json
      // Asking a core costs a program's start: its file is looked at until then.
      const holds = async (server: NodeServer) =>
        server.listed().includes(uuid) && (await server.held())?.includes(uuid)
      await Promise.all(servers.map((server) => until(server.code, () => holds(server))))
      return performance.now() - begin
    }
    const times: number[] = []
    for (let tgId = 1; tgId <= 5; tgId++) times.push(await grant(tgId))
    const median = times.toSorted((a, b) => a - b)[2]
    console.log(`in ${MANY} cores after ${times.map(Math.round).join(', ')} ms`)
    expect(median).toBeLessThan(USABLE_MS)
    const { token } = (await panel.service.admin('/users/1')).json
    const list = (await panel.service.request(`/sub/${token}?format=xray`)).text
    for (const code of codes) {
      const client = runListClient(lab, list, `Server ${code}`, ['xray', 'reality'])
      const works = async () => (await fetchThrough(lab, target, client)) === 'hello'
      await until(`${code} serves\n${client.process.output()}`, works)
      client.process.signal('SIGTERM')
    }
  })
})
