/** Servers that the panel manages over SSH: clients of every kind connect through them, and are cut off when they must be. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCore } from '#test/support/cores.ts'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { type ManagedServer, watchServer } from '#test/support/labs/lab-machines.ts'
import { type EntryKind, SPOKEN, startListClient } from '#test/support/labs/list-clients.ts'
import { type ManagedPanel, startPanel } from '#test/support/labs/managed-panel.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { addDebian, type DebianServer } from '#test/support/labs/rootfs.ts'
import { type Client, fetchThrough, openStream, type Runtime } from '#test/support/labs/service.ts'

/** On a quiet machine 2 s. */
const CUT_OFF_MS = process.env.FULL === '1' ? 2000 : 6000

describe.each<Runtime>(['node', 'bun'])('on %s with servers behind SSH', (runtime) => {
  let lab: Lab
  let target: Target
  let panel: ManagedPanel
  let debian: DebianServer
  let first: ManagedServer
  let second: NodeServer
  let token: string
  let uuid: string
  let clients: Client[]
  const admin: ManagedPanel['service']['admin'] = (...args) => panel.service.admin(...args)
  const works = (client: Client) =>
    until(
      `${client.name} gets the page\n${client.process.output()}`,
      async () => (await fetchThrough(lab, target, client)) === 'hello',
      15_000,
    )
  const startClients = async (code: string, kind?: EntryKind) => {
    const spoken = SPOKEN.filter((pair) => !kind || pair[1] === kind)
    const started: Client[] = []
    for (const pair of spoken) {
      started.push(await startListClient(lab, panel.service, token, `Server ${code}`, pair))
    }
    return started
  }
  const inStep = (server: ManagedServer) =>
    until(`${server.code} is in step`, () => panel.inStep(server), 20_000)
  const node = async (code: string) => {
    const { json } = await admin('/nodes')
    return json.find((row: { code: string }) => row.code === code)
  }
  /** What `act` does must end the running streams of all clients within 2 s, and let none of them in again. */
  const cutsOff = async (act: () => Promise<unknown>) => {
    const streams = clients.map((client) => openStream(lab, target, client))
    await until('streams flow', () => streams.every((stream) => stream.output().length > 300))
    const begin = performance.now()
    const ends = streams.map((stream) => stream.exited.then(() => performance.now() - begin))
    const tooLate = new Promise<number>((done) =>
      setTimeout(done, CUT_OFF_MS, Number.POSITIVE_INFINITY),
    )
    await act()
    const names = clients.map(({ name }) => name)
    const times = await Promise.all(ends.map((end) => Promise.race([end, tooLate])))
    expect(names.filter((_, index) => times[index] === Number.POSITIVE_INFINITY)).toEqual([])
    const pages = await Promise.all(
      clients.map((client) => fetchThrough(lab, target, client, '/', 2)),
    )
    expect(names.filter((_, index) => pages[index] !== null)).toEqual([])
    const ms = Math.round(Math.max(...times))
    console.log(`${runtime}: ${names.length} clients cut off within ${ms} ms of the request`)
  }

  beforeAll(async () => {
    lab = createLab()
    target = await startTarget(lab)
    panel = await startPanel(lab, target, runtime, 'data', {
      SYNC_INTERVAL_MS: '5000',
      PUBLIC_SCHEME: 'http',
      PANEL_DOMAIN: 'server.test:3000',
      HYSTERIA_BIN: findCore('hysteria'),
    })
    second = addServer(lab, 2, { sni: target.serverName, hysteria: true })
    await panel.adopt(second, { transports: true, hysteria: true })
    await second.boot()
    debian = addDebian(lab, 1)
    await debian.startSshd()
    // The first run makes the Debian.
  }, 1_000_000)
  afterAll(() => lab?.close())

  test('the command of the guide makes a bare Debian a node that runs both cores', async () => {
    const { json } = await admin('/nodes/provision-guide', {
      label: 'Server n1',
      address: debian.address,
      sni: target.serverName,
      include_ws: true,
      include_xhttp: true,
      include_hysteria2: true,
    })
    const { code, stderr } = await debian.run(json.command)
    expect(code, stderr).toBe(0)
    first = watchServer(lab, debian, json.code, {
      dir: join(debian.root, 'var/lib/subpanel-node'),
      socket: join(debian.root, 'run/subpanel-xray/api.sock'),
    })
    await inStep(first)
    const isSeen = async () => (await node(first.code)).core_version === '26.7.28'
    await until('its core is seen', isSeen, 20_000)
    const metrics = (await admin(`/nodes/${first.code}/metrics`)).json
    expect(metrics).toMatchObject({ ok: true, core_up: true, clients: 0 })
    expect((await node(first.code)).host_key).toMatch(/^SHA256:/)
  })

  test('a granted user connects with every kind of client by every transport it speaks', async () => {
    const granted = await admin('/users/42/grant', { node: first.code, plan: '1m' })
    expect(granted.status).toBe(200)
    uuid = granted.json.uuid
    token = (await admin('/users/42')).json.token
    clients = await startClients('n1')
    await Promise.all(clients.map(works))
  })

  test('the traffic of both cores is counted once', async () => {
    const before = (await admin('/traffic')).json.down
    const by = (name: string) => clients.find((client) => client.name === name) as Client
    for (const name of ['xray by reality', 'hysteria by hysteria2']) {
      const page = await fetchThrough(lab, target, by(name), '/bytes/300000', 10)
      expect(page?.length).toBe(300_000)
    }
    const after = await until('both are counted', async () => {
      const { json } = await admin('/traffic')
      return json.down - before > 600_000 ? json : null
    })
    expect(after.down - before).toBeLessThan(750_000)
    expect((await admin('/traffic')).json.down - after.down).toBeLessThan(20_000)
  })

  test('hold cuts every kind of client off within 2 s, resume lets it in again', async () => {
    await cutsOff(() => admin(`/subscriptions/${uuid}/hold`, undefined, 'POST'))
    await admin(`/subscriptions/${uuid}/resume`, undefined, 'POST')
    await Promise.all(clients.map(works))
  })

  test('cores that were killed serve again, and no traffic is counted twice', async () => {
    const before = (await admin('/traffic')).json.down
    first.killCore('xray')
    first.killCore('hysteria')
    // Over UDP a client learns of the end by silence alone, after 30 s.
    const silent = clients.filter(({ name }) => name.endsWith('hysteria2'))
    for (const client of silent) client.process.signal('SIGTERM')
    const others = clients.filter((client) => !silent.includes(client))
    clients = [...others, ...(await startClients('n1', 'hysteria2'))]
    await Promise.all(clients.map(works))
    const after = (await admin('/traffic')).json.down
    expect(after).toBeGreaterThanOrEqual(before)
    expect(after).toBeLessThan(before + 100_000)
  })

  test('a node at whose address another node answers is not driven, and the other one serves on', async () => {
    const place = 'address, ssh_port, host_key'
    const [own] = panel.query<Record<string, string>>(
      `select ${place} from nodes where code = 'n2'`,
    )
    const listed = first.listed()
    expect(listed).toContain(uuid)
    panel.write(
      `update nodes set (${place}) = (select ${place} from nodes where code = ?) where code = 'n2'`,
      first.code,
    )
    const { json } = await admin('/sync', { force: true })
    expect(json.nodes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: first.code, ok: true }),
        expect.objectContaining({
          ...{
            code: 'n2',
            ok: false,
            error: `the server at its address is the node ${first.code}`,
          },
        }),
      ]),
    )
    expect(first.listed()).toEqual(listed)
    panel.write(
      `update nodes set (${place}) = (?, ?, ?) where code = 'n2'`,
      ...[own?.address, own?.ssh_port, own?.host_key],
    )
    await Promise.all(clients.map(works))
    await inStep(second)
  })

  test('a moved subscriber keeps uuid and expiry, leaves the old server and connects to the new one', async () => {
    const before = (await admin('/users/42')).json.subscriptions[0]
    await cutsOff(async () => {
      const moved = await admin(`/subscriptions/${uuid}`, { node: 'n2' }, 'PATCH')
      expect([moved.status, moved.json?.error]).toEqual([200, undefined])
    })
    const after = (await admin('/users/42')).json.subscriptions[0]
    expect(after).toMatchObject({ uuid, node: 'n2', expires_at: before.expires_at })
    await inStep(first)
    await inStep(second)
    for (const client of clients) client.process.signal('SIGTERM')
    clients = await startClients('n2')
    await Promise.all(clients.map(works))
  })

  test('all of a node move at once', async () => {
    panel.fill(first.code, 30)
    const moved = await admin(`/nodes/${first.code}/move`, { to: 'n2' })
    expect(moved.json).toMatchObject({ moved: 30 })
    await inStep(first)
    await inStep(second)
    expect(panel.wanted('n2')).toHaveLength(31)
  })

  test('revoke cuts every kind of client off within 2 s for good', async () => {
    await cutsOff(() => admin(`/subscriptions/${uuid}/revoke`, undefined, 'POST'))
  })

  test('a reinstalled server is refused until its new key is trusted', async () => {
    const pinned = (await node('n2')).host_key
    second.stopSshd()
    second.renewHostKeys()
    await second.startSshd()
    const uuids = panel.fill('n2', 1)
    const presented = await until(
      'the new key is noted',
      async () => (await node('n2')).presented_host_key,
      20_000,
    )
    expect((await node('n2')).host_key).toBe(pinned)
    expect(presented).not.toBe(pinned)
    expect(second.listed()).not.toContain(uuids[0])
    const wrong = await admin('/nodes/n2/trust-host-key', { fingerprint: pinned })
    expect(wrong.status).toBe(400)
    const right = await admin('/nodes/n2/trust-host-key', { fingerprint: presented })
    expect(right.status).toBe(200)
    await inStep(second)
  })

  test('a deleted node that was out of reach is emptied and stopped when it is back', async () => {
    const granted = await admin('/users/43/grant', { node: first.code, plan: '1m' })
    const own = (await admin('/users/43')).json.token
    const client = await startListClient(lab, panel.service, own, 'Server n1', ['xray', 'reality'])
    await works(client)
    first.setLink(false)
    const begin = performance.now()
    const gone = await admin(`/subscriptions/${granted.json.uuid}/revoke`, undefined, 'POST')
    const deleted = await admin(`/nodes/${first.code}`, undefined, 'DELETE')
    expect([gone.status, deleted.status]).toEqual([200, 200])
    expect(performance.now() - begin).toBeLessThan(6500)
    first.setLink(true)
    await until('the server is emptied', () => first.listed().length === 0, 60_000)
    await until('its cores are stopped', async () => (await first.held()) === null, 20_000)
    expect(await fetchThrough(lab, target, client, '/', 2)).toBe(null)
  })
})
