/**
 * Servers that were set up before node program 2: the panel drives them for a whole life, and one of them gets the present program by
 * its install command, as root, without losing clients or readings (docs/nodes.md, "The node program of a server").
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Node } from '#db/schema/index.ts'
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import { findCore } from '#test/support/cores.ts'
import { formerScript } from '#test/support/labs/former-program.ts'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { type ManagedServer, watchServer } from '#test/support/labs/lab-machines.ts'
import {
  type ClientCore,
  type EntryKind,
  startListClient,
} from '#test/support/labs/list-clients.ts'
import { type ManagedPanel, startPanel } from '#test/support/labs/managed-panel.ts'
import { addDebian, type DebianServer } from '#test/support/labs/rootfs.ts'
import { type Client, fetchThrough } from '#test/support/labs/service.ts'
import { unchecked } from '#test/support/unchecked.ts'

const STATE = 'var/lib/subpanel-node'
const SPOKEN = [
  ['xray', 'reality'],
  ['xray', 'ws'],
  ['xray', 'xhttp'],
  ['hysteria', 'hysteria2'],
] as const satisfies [ClientCore, EntryKind][]

let lab: Lab
let target: Target
let panel: ManagedPanel
const admin: ManagedPanel['service']['admin'] = (...args) => panel.service.admin(...args)

beforeAll(async () => {
  lab = createLab()
  target = await startTarget(lab)
  panel = await startPanel(lab, target, 'node', 'data', {
    SYNC_INTERVAL_MS: '3000',
    PUBLIC_SCHEME: 'http',
    PANEL_DOMAIN: 'server.test:3000',
    HYSTERIA_BIN: findCore('hysteria'),
  })
  // The first run makes the Debian.
}, 1_000_000)
afterAll(() => lab?.close())

/** A node's row, as far as configurations are made of it. */
function rowOf(code: string): Node {
  const columns = `code, kind, port, private_key as privateKey, short_id as shortId, sni, flow, transports_json as transportsJson,
    hysteria_password as hysteriaPassword, hysteria_obfs_password as hysteriaObfsPassword`
  const [row] = panel.query<Node>(`select ${columns} from nodes where code = ?`, code)
  if (!row) throw new Error(`no node ${code}`)
  return { ...row, transportsJson: JSON.parse(String(row.transportsJson)) }
}

interface FormerServer {
  debian: DebianServer
  server: ManagedServer
}

/** Sets a bare Debian up as a panel before program 2 would have. */
async function setUpFormer(index: number, label: string): Promise<FormerServer> {
  const debian = addDebian(lab, index)
  // The same server by its keys would be the same node.
  await debian.run('rm -f /etc/ssh/ssh_host_* && ssh-keygen -A')
  await debian.startSshd()
  const { json } = await admin('/nodes/provision-guide', {
    label,
    address: debian.address,
    sni: target.serverName,
    include_ws: true,
    include_xhttp: true,
    include_hysteria2: true,
  })
  const path = /\/install\/[\w-]+\.sh/.exec(json.command)?.[0] ?? ''
  const { text } = await panel.service.request(path)
  writeFileSync(
    join(debian.root, 'root/former.sh'),
    formerScript(text, unchecked<Node>(rowOf(json.code))),
  )
  const ran = await debian.run('bash /root/former.sh')
  expect(ran.code, ran.stderr).toBe(0)
  const server = watchServer(lab, debian, json.code, {
    dir: join(debian.root, STATE),
    socket: join(debian.root, 'run/subpanel-xray/api.sock'),
  })
  await until(
    `a pass was over ${json.code}`,
    async () => (await nodeOf(json.code)).outdated,
    20_000,
  )
  return { debian, server }
}

const nodeOf = async (code: string) => {
  const { json } = await admin('/nodes')
  return json.find((row: { code: string }) => row.code === code)
}

describe('a server of program 1', () => {
  let debian: DebianServer
  let server: ManagedServer
  let uuid: string
  let clients: Client[]

  const fileOf = (path: string) => readFileSync(join(debian.root, path), 'utf8')
  const works = (client: Client) =>
    until(
      `${client.name} gets the page\n${client.process.output()}`,
      async () => (await fetchThrough(lab, target, client)) === 'hello',
      15_000,
    )
  const startClients = async () => {
    const { token } = (await admin('/users/42')).json
    const started: Client[] = []
    for (const pair of SPOKEN) {
      started.push(await startListClient(lab, panel.service, token, 'First', [...pair]))
    }
    await Promise.all(started.map(works))
    return started
  }
  const restarts = () =>
    fileOf('run/systemctl-stand-in/calls')
      .split('\n')
      .filter((call) => /^restart subpanel-(xray|hysteria)\.service$/.test(call))
  const traffic = async () => (await admin('/traffic')).json.down as number

  test('is driven in its own form, and said to be outdated', async () => {
    ;({ debian, server } = await setUpFormer(1, 'First'))
    const outdated = { program: 1, lacks: ['own-configuration'] }
    expect(await nodeOf(server.code)).toMatchObject({ last_error: null, outdated })
    const granted = await admin('/users/42/grant', { node: server.code, plan: '1m' })
    uuid = granted.json.uuid
    const { hysteriaPassword } = rowOf(server.code)
    const auth = hysteriaAuth(hysteriaPassword ?? '', uuid)
    const line = `${uuid} ${server.code} ${auth}\n`
    await until('the client is there', () => fileOf(`${STATE}/clients`) === line)
    clients = await startClients()
    panel.fill(server.code, 30)
    await until('all are there', () => panel.inStep(server), 20_000)
  })

  test('lets nobody in while the customer is on hold', async () => {
    await admin(`/subscriptions/${uuid}/hold`, undefined, 'POST')
    const pages = clients.map((client) => fetchThrough(lab, target, client, '/', 2))
    expect(await Promise.all(pages)).toEqual(clients.map(() => null))
    await admin(`/subscriptions/${uuid}/resume`, undefined, 'POST')
    await Promise.all(clients.map(works))
  })

  test('gets a configuration that has changed', async () => {
    const changed = await admin(`/nodes/${server.code}`, { short_id: '00ff' }, 'PATCH')
    expect(changed.status).toBe(200)
    await until('it runs with it', () => panel.inStep(server), 20_000)
    expect(server.shortId()).toBe('00ff')
    for (const client of clients) client.process.signal('SIGTERM')
    clients = await startClients()
  })

  test('becomes one of program 2 by its install command, with each core started anew once', async () => {
    for (const client of clients) {
      expect((await fetchThrough(lab, target, client, '/bytes/200000', 10))?.length).toBe(200_000)
    }
    await until('it is counted', async () => (await traffic()) > 800_000)
    const before = {
      traffic: await traffic(),
      listed: server.listed(),
      certificate: fileOf(`${STATE}/tls/node.crt`),
      secret: /^HYSTERIA_SECRET=.*$/m.exec(fileOf(`${STATE}/node.conf`))?.[0],
      restarts: restarts().length,
    }
    const { json } = await admin(`/nodes/${server.code}/provision`, undefined, 'POST')
    const ran = await debian.run(json.command)
    expect(ran.code, ran.stderr).toBe(0)
    expect(restarts().slice(before.restarts).sort()).toEqual([
      'restart subpanel-hysteria.service',
      'restart subpanel-xray.service',
    ])
    await until('it is in step', () => panel.inStep(server), 20_000)
    const isWell = async () => {
      const node = await nodeOf(server.code)
      return node.status === 'active' && node.last_error === null && !node.outdated
    }
    await until('the panel has seen it', isWell, 20_000)
    expect(fileOf('etc/subpanel/node.conf')).toContain(`\n${before.secret}\n`)
    expect(before.secret).toMatch(/.{40}/)
    for (const gone of ['node.conf', 'base.json', 'hysteria.base']) {
      expect(existsSync(join(debian.root, STATE, gone)), gone).toBe(false)
    }
    expect(server.listed()).toEqual(before.listed)
    expect(fileOf(`${STATE}/clients`)).toContain(`${uuid} ${server.code} auth=`)
    expect(fileOf(`${STATE}/tls/node.crt`)).toBe(before.certificate)
    const after = await traffic()
    expect(after).toBeGreaterThanOrEqual(before.traffic)
    expect(after).toBeLessThan(before.traffic + 100_000)
    // Over UDP a client learns of the end by silence alone, after 30 s.
    for (const client of clients) client.process.signal('SIGTERM')
    clients = await startClients()
  })

  test('is counted and cut as before', async () => {
    const before = await traffic()
    for (const client of clients) {
      expect((await fetchThrough(lab, target, client, '/bytes/200000', 10))?.length).toBe(200_000)
    }
    await until('it is counted', async () => (await traffic()) > before + 800_000)
    expect(await traffic()).toBeLessThan(before + 1_000_000)
    await admin(`/subscriptions/${uuid}/revoke`, undefined, 'POST')
    const pages = clients.map((client) => fetchThrough(lab, target, client, '/', 2))
    expect(await Promise.all(pages)).toEqual(clients.map(() => null))
    expect(server.listed()).not.toContain(uuid)
  })
})

test('a deleted node of program 1 is emptied and stopped', async () => {
  const { server } = await setUpFormer(2, 'Second')
  const [uuid = ''] = panel.fill(server.code, 1)
  await until('its client is there', () => server.listed().includes(uuid), 20_000)
  panel.write(
    "update subscriptions set active = 0, revoked_at = '2026-01-01T00:00:00' where uuid = ?",
    uuid,
  )
  expect((await admin(`/nodes/${server.code}`, undefined, 'DELETE')).status).toBe(200)
  await until('the server is emptied', () => server.listed().length === 0, 60_000)
  await until('its cores are stopped', async () => (await server.held()) === null, 20_000)
})
