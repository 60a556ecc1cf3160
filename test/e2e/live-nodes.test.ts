/** Who is online, as real cores tell it: five come, two go. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { startListClient } from '#test/support/labs/list-clients.ts'
import { type ManagedPanel, startPanel } from '#test/support/labs/managed-panel.ts'
import { addServer } from '#test/support/labs/node-lab.ts'
import { type Client, fetchThrough, openStream } from '#test/support/labs/service.ts'

const MANY = 5
const FEWER = 3
const CLOSED_MS = 10_000

let lab: Lab
let target: Target
let panel: ManagedPanel
let clients: Client[]

const pass = async () => {
  expect((await panel.service.admin('/sync', {}, 'POST')).json).toMatchObject({ ok: true })
}
const live = async () => (await panel.service.admin('/nodes/live')).json
const node = async () => {
  const { nodes } = await live()
  return nodes.find(({ code }: { code: string }) => code === 'n1')
}

beforeAll(async () => {
  lab = createLab()
  target = await startTarget(lab)
  panel = await startPanel(lab, target, 'node', 'data', { SYNC_INTERVAL_MS: '3600000' })
  const server = addServer(lab, 1, { sni: target.serverName })
  await panel.adopt(server)
  await server.boot()
  const inStep = async () => (await panel.service.admin('/sync', {}, 'POST')).json?.ok === true
  await until('the node is in step', inStep, 60_000)
  clients = []
  for (let tgId = 1; tgId <= MANY; tgId++) {
    const granted = await panel.service.admin(
      `/users/${tgId}/grant`,
      { node: 'n1', plan: '1m' },
      'POST',
    )
    expect(granted.status).toBe(200)
    const { token } = (await panel.service.admin(`/users/${tgId}`)).json
    const form = ['xray', 'reality'] as const
    clients.push(await startListClient(lab, panel.service, token, 'Server n1', [...form]))
  }
})
afterAll(() => lab?.close())

test('five who are connected are online, and two who go are not within two passes', async () => {
  for (const client of clients) {
    await until(
      `${client.name} gets the page`,
      async () => (await fetchThrough(lab, target, client)) === 'hello',
      15_000,
    )
  }
  await pass()
  expect((await node()).online).toBe(MANY)
  const streams = clients.map((client) => openStream(lab, target, client))
  await until('streams flow', () => streams.every((one) => one.output().length > 300))
  await pass()
  expect(await node()).toMatchObject({ state: 'up', online: MANY })
  expect((await live()).online).toEqual({ subscriptions: MANY, customers: MANY })
  const leaving = streams.slice(FEWER)
  for (const one of [...leaving, ...clients.slice(FEWER).map(({ process }) => process)]) {
    one.signal('SIGTERM')
    await one.exited
  }
  // Xray keeps what is half closed for some seconds; passes are 90 s apart.
  await pause(CLOSED_MS)
  await pass()
  await pass()
  const { online, host, core_version } = await node()
  expect(online).toBe(FEWER)
  expect(core_version).toMatch(/^\d+\./)
  expect(host).toMatchObject({ cpu_count: expect.any(Number), mem_total_mb: expect.any(Number) })
  expect(host.mem_total_mb).toBeGreaterThan(100)
})
