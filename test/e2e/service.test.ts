/** The main job: an admin grants, a client app fetches its list, traffic flows through the real Xray. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCore } from '#test/support/cores.ts'
import {
  createLab,
  type Lab,
  type LabProcess,
  startTarget,
  type Target,
  until,
} from '#test/support/labs/lab.ts'
import {
  type Client,
  fetchThrough,
  openStream,
  type Runtime,
  runtimeBinary,
  type Service,
  startLinkClient,
  startMihomoClient,
  startService,
  startSingboxClient,
} from '#test/support/labs/service.ts'

const AGENTS = {
  v2rayNG: 'v2rayNG/2.3.5',
  SFA: 'SFA/1.13.2 (600; sing-box 1.13.2; language en_US)',
  'Clash Verge': 'clash-verge/v2.4.2',
}

const ended = (process: LabProcess, ms: number) =>
  Promise.race([
    process.exited.then(() => true),
    new Promise((done) => setTimeout(done, ms, false)),
  ])

/** Whether a process ended; one that nobody has reaped yet counts. */
const isGone = (pid: string) =>
  !existsSync(`/proc/${pid}`) || / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

describe.each<Runtime>(['node', 'bun'])('on %s with an embedded core', (runtime) => {
  let lab: Lab
  let target: Target
  let service: Service
  let uuid: string
  let token: string
  let clients: Client[]
  const page = (client: Client, path = '/', seconds = 3) =>
    fetchThrough(lab, target, client, path, seconds)
  const works = (client: Client, ms = 10_000) =>
    until(
      `${client.name} gets the page\n${client.process.output()}`,
      async () => (await page(client)) === 'hello',
      ms,
    )
  /** The one entry of the traffic when it has more than `bytes`: a core may count a moment after its client has them. */
  const counted = (bytes: number) =>
    until('the traffic is counted', async () => {
      const [entry] = (await service.admin('/traffic')).json.entries
      return entry.down > bytes ? entry : null
    })
  const change = (verb: string) =>
    service.admin(`/subscriptions/${uuid}/${verb}`, undefined, 'POST')

  beforeAll(async () => {
    lab = createLab()
    target = await startTarget(lab)
    service = await startService(lab, target, runtime, 'data')
  })
  afterAll(() => lab?.close())

  test('the core runs with the service', async () => {
    const metrics = await until('the core is up', async () => {
      const { json } = await service.admin('/nodes/de1/metrics')
      return json.core_up ? json : null
    })
    expect(metrics).toMatchObject({ ok: true, core_version: '26.7.28', clients: 0 })
  })

  test('a granted user is usable at once and their list works in three kinds of client', async () => {
    const granted = await service.admin('/users/42/grant', { node: 'de1', plan: '1m' })
    expect(granted.status).toBe(200)
    uuid = granted.json.uuid
    token = (await service.admin('/users/42')).json.token
    const list = async (agent: string) => (await service.request(`/sub/${token}`, { agent })).text
    clients = [
      startLinkClient(lab, await list(AGENTS.v2rayNG)),
      startSingboxClient(lab, await list(AGENTS.SFA)),
      startMihomoClient(lab, await list(AGENTS['Clash Verge'])),
    ]
    for (const client of clients) await works(client)
  })

  test('traffic is counted', async () => {
    const [client] = clients as [Client]
    expect((await page(client, '/bytes/300000', 10))?.length).toBe(300_000)
    const entry = await counted(300_000)
    expect(entry).toMatchObject({ uuid, username: 'tg42', node_label: 'Local' })
    expect(entry.down).toBeLessThan(400_000)
    expect((await service.admin('/traffic')).json.entries).toEqual([entry])
  })

  test('hold ends open connections and refuses new ones within 2 s, resume lets them in again', async () => {
    const streams = clients.map((client) => openStream(lab, target, client))
    await until('streams flow', () => streams.every((stream) => stream.output().length > 300))
    const begin = performance.now()
    expect((await change('hold')).json).toMatchObject({ ok: true })
    expect(await Promise.all(streams.map((stream) => ended(stream, 2000)))).toEqual([
      true,
      true,
      true,
    ])
    expect(await Promise.all(clients.map((client) => page(client, '/', 2)))).toEqual([
      null,
      null,
      null,
    ])
    console.log(
      `${runtime}: hold took effect after ${Math.round(performance.now() - begin)} ms, refusals included`,
    )
    expect((await service.request(`/sub/${token}`, { agent: AGENTS.v2rayNG })).text).toBe('')
    expect((await change('resume')).json).toMatchObject({ ok: true })
    for (const client of clients) await works(client)
  })

  test('a reset makes the totals zero and they grow from there', async () => {
    expect((await change('reset-traffic')).json).toEqual({ ok: true })
    const [client] = clients as [Client]
    await page(client, '/bytes/50000', 10)
    expect((await counted(50_000)).down).toBeLessThan(100_000)
  })

  test('a core killed with -9 serves again without waiting for a sync, no traffic is lost or counted twice', async () => {
    const before = (await service.admin('/traffic')).json
    const pidFile = join(lab.dir, 'data/node/core.pid')
    const pid = Number(readFileSync(pidFile, 'utf8'))
    process.kill(pid, 'SIGKILL')
    const begin = performance.now()
    for (const client of clients) await works(client)
    console.log(
      `${runtime}: all clients back ${Math.round(performance.now() - begin)} ms after kill -9 of the core`,
    )
    expect(Number(readFileSync(pidFile, 'utf8'))).not.toBe(pid)
    const after = (await service.admin('/traffic')).json
    expect(after.down).toBeGreaterThan(before.down)
    expect(after.down).toBeLessThan(before.down + 20_000)
  })

  test('revoke ends connections for good', async () => {
    const [client] = clients as [Client]
    const stream = openStream(lab, target, client)
    await until('the stream flows', () => stream.output().length > 300)
    await change('revoke')
    expect(await ended(stream, 2000)).toBe(true)
    expect(await page(client, '/', 2)).toBe(null)
  })

  test('after a restart of the service nothing changed for a client', async () => {
    const other = await service.admin('/users/43/grant', { node: 'de1', plan: '1m' })
    const otherToken = (await service.admin('/users/43')).json.token
    const list = (await service.request(`/sub/${otherToken}`, { agent: AGENTS.v2rayNG })).text
    const client = startLinkClient(lab, list)
    await works(client)
    expect(await service.stop()).toBe(0)
    service = await startService(lab, target, runtime, 'data')
    await works(client)
    expect((await service.request(`/sub/${otherToken}`, { agent: AGENTS.v2rayNG })).text).toBe(list)
    expect((await service.admin('/users/43')).json.subscriptions[0].uuid).toBe(other.json.uuid)
    expect(await page((clients as [Client])[0], '/', 2)).toBe(null)
    clients = [client]
  })

  test('a service killed with -9 leaves its core serving, and the next one adopts it', async () => {
    const [client] = clients as [Client]
    const stream = openStream(lab, target, client)
    await until('the stream flows', () => stream.output().length > 300)
    const core = readFileSync(join(lab.dir, 'data/node/core.pid'), 'utf8')
    service.process.signal('SIGKILL')
    await service.process.exited
    expect(await page(client)).toBe('hello')
    service = await startService(lab, target, runtime, 'data')
    await until(
      'the core is adopted',
      () => service.process.output().includes('watching the core'),
      20_000,
    )
    expect(readFileSync(join(lab.dir, 'data/node/core.pid'), 'utf8')).toBe(core)
    expect(await ended(stream, 100)).toBe(false)
    expect(await service.stop()).toBe(0)
    expect(await ended(stream, 2000)).toBe(true)
    expect(isGone(core.trim())).toBe(true)
  })
})

describe('with two processes on one data folder', () => {
  let lab: Lab
  afterAll(() => lab?.close())

  test('the core changes its watcher without losing a connection', async () => {
    lab = createLab()
    const target = await startTarget(lab)
    const first = await startService(lab, target, 'node', 'data')
    await first.admin('/users/1/grant', { node: 'de1', plan: '1m' })
    const { token } = (await first.admin('/users/1')).json
    const list = (await first.request(`/sub/${token}`, { agent: AGENTS.v2rayNG })).text
    const client = startLinkClient(lab, list)
    await until('the page comes', async () => (await fetchThrough(lab, target, client)) === 'hello')
    const second = await startService(lab, target, 'bun', 'data', { PORT: '3001' })
    const stream = openStream(lab, target, client)
    await until('the stream flows', () => stream.output().length > 300)
    first.process.signal('SIGSTOP')
    const adopted = () => second.process.output().includes('watching the core')
    await until('the second adopts the core', adopted, 20_000)
    first.process.signal('SIGCONT')
    const lost = () => first.process.output().includes('took the role over role=core')
    await until('the first learns of it', lost, 20_000)
    expect(await first.stop()).toBe(0)
    expect(await ended(stream, 500)).toBe(false)
    expect(await second.stop()).toBe(0)
    expect(await ended(stream, 2000)).toBe(true)
  })
})

describe.each<Runtime>(['node', 'bun'])('on %s with a core that misbehaves', (runtime) => {
  let lab: Lab
  let target: Target
  let service: Service
  beforeAll(async () => {
    lab = createLab()
    target = await startTarget(lab)
  })
  afterAll(() => lab?.close())

  const grantAndHold = async (tgId: number) => {
    const begin = performance.now()
    const granted = await service.admin(`/users/${tgId}/grant`, { node: 'de1', plan: '1m' })
    const held = await service.admin(`/subscriptions/${granted.json.uuid}/hold`, undefined, 'POST')
    expect([granted.status, held.status]).toEqual([200, 200])
    const traffic = await service.admin('/traffic')
    const metrics = await service.admin('/nodes/de1/metrics')
    expect([traffic.status, metrics.status]).toEqual([200, 200])
    return { ms: performance.now() - begin, metrics: metrics.json }
  }

  test('a hanging core holds no request longer than 5 s and is put right when it wakes', async () => {
    service = await startService(lab, target, runtime, 'hanging')
    const uuid = (await service.admin('/users/1/grant', { node: 'de1', plan: '1m' })).json.uuid
    const { token } = (await service.admin('/users/1')).json
    const list = (await service.request(`/sub/${token}`, { agent: AGENTS.v2rayNG })).text
    const client = startLinkClient(lab, list)
    await until(
      'the page comes',
      async () => (await fetchThrough(lab, target, client)) === 'hello',
      20_000,
    )
    const core = Number(readFileSync(join(lab.dir, 'hanging/node/core.pid'), 'utf8'))
    process.kill(core, 'SIGSTOP')
    for (const verb of ['hold', 'resume', 'revoke']) {
      const begin = performance.now()
      const answer = await service.admin(`/subscriptions/${uuid}/${verb}`, undefined, 'POST')
      expect([answer.status, performance.now() - begin < 5500]).toEqual([200, true])
    }
    process.kill(core, 'SIGCONT')
    await until(
      'a sync repairs the core',
      async () => (await service.admin('/sync', {})).json.ok,
      60_000,
    )
    expect(await fetchThrough(lab, target, client)).toBe(null)
    expect(await service.stop()).toBe(0)
  })

  test.each([
    ['ends at once', 'exit 1'],
    ['answers garbage', 'echo "{]\u0000garbage"; exit 0'],
    ['never ends', 'sleep 1000'],
  ])('with a core that %s everything but proxying works', async (name, script) => {
    const bin = join(lab.dir, `xray-${name.replaceAll(' ', '-')}`)
    writeFileSync(bin, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    service = await startService(lab, target, runtime, name.replaceAll(' ', '-'), { XRAY_BIN: bin })
    const { metrics } = await grantAndHold(1)
    expect(metrics).toMatchObject({ ok: true, core_up: false })
    const clients = join(lab.dir, name.replaceAll(' ', '-'), 'node/clients')
    await until('the held client is gone', () => readFileSync(clients, 'utf8') === '', 60_000)
    expect(await service.stop()).toBe(0)
  })
})

describe('with the core in a unit of its own (LOCAL_CORE=system)', () => {
  let lab: Lab
  let target: Target
  afterAll(() => lab?.close())

  test.each<Runtime>(['node', 'bun'])(
    'a restart of the service on %s cuts no open connection',
    async (runtime) => {
      lab?.close()
      lab = createLab()
      target = await startTarget(lab)
      const socket = join(lab.dir, 'node.sock')
      const support = join(import.meta.dirname, '../support/fakes/system-node.ts')
      const program = join(import.meta.dirname, '../../templates/node-agent.sh')
      const args = [support, join(lab.dir, 'node'), findCore('xray'), socket, program]
      const unit = lab.spawn(runtimeBinary('node'), args)
      await until('the socket is there', () => unit.output().includes('listening'))
      // A client granted while the core has just read its configuration comes with the first try after it.
      const env = { LOCAL_CORE: 'system', LOCAL_NODE_SOCKET: socket }
      let service = await startService(lab, target, runtime, 'data', env)
      const granted = await service.admin('/users/7/grant', { node: 'de1', plan: '1m' })
      const { token } = (await service.admin('/users/7')).json
      const list = (await service.request(`/sub/${token}`, { agent: AGENTS.v2rayNG })).text
      const client = startLinkClient(lab, list)
      await until(
        'the page comes',
        async () => (await fetchThrough(lab, target, client)) === 'hello',
        20_000,
      )
      const stream = openStream(lab, target, client)
      await until('the stream flows', () => stream.output().length > 300)
      expect(await service.stop()).toBe(0)
      service = await startService(lab, target, runtime, 'data', env)
      await until('a sync ran', async () => (await service.admin('/sync', {})).json.ok)
      expect(await ended(stream, 1000)).toBe(false)
      await service.admin(`/subscriptions/${granted.json.uuid}/revoke`, undefined, 'POST')
      expect(await ended(stream, 2000)).toBe(true)
      expect(await service.stop()).toBe(0)
    },
  )
})
