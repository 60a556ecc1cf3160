/** What customers change by themselves, on real servers: the client leaves the old one and connects through the new one within 5 s, without a pass. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLab, type Lab, startTarget, type Target, until } from '#test/support/labs/lab.ts'
import { startListClient } from '#test/support/labs/list-clients.ts'
import { type ManagedPanel, startPanel } from '#test/support/labs/managed-panel.ts'
import { addServer, type NodeServer } from '#test/support/labs/node-lab.ts'
import { type Client, fetchThrough, openStream, type Runtime } from '#test/support/labs/service.ts'

const WITHIN_MS = 5000

describe.each<Runtime>(['node', 'bun'])('on %s with two servers', (runtime) => {
  let lab: Lab
  let target: Target
  let panel: ManagedPanel
  let servers: NodeServer[]
  let uuid: string
  let token: string
  let onFirst: Client

  const page = (client: Client) => fetchThrough(lab, target, client, '/', 2)
  const startClient = (label: string) =>
    startListClient(lab, panel.service, token, label, ['xray', 'reality'])
  const works = (client: Client, ms: number) =>
    until(`${client.name} gets the page`, async () => (await page(client)) === 'hello', ms)
  const held = () => Promise.all(servers.map((server) => server.held()))
  /** As the customer's page does, by the id that it has. */
  const change = async (body: object) => {
    const shop = await panel.service.request(`/api/cabinet/${token}/shop`)
    const path = `/api/cabinet/${token}/subscriptions/${shop.json.subscriptions[0].uuid}/change`
    return panel.service.request(path, { body, method: 'POST' })
  }

  beforeAll(async () => {
    lab = createLab()
    target = await startTarget(lab)
    panel = await startPanel(lab, target, runtime, 'data', {
      SYNC_INTERVAL_MS: '3600000',
      PAYMENTS_ENABLED: 'true',
    })
    servers = [1, 2].map((n) => addServer(lab, n, { sni: target.serverName }))
    for (const server of servers) {
      await panel.adopt(server)
      await server.boot()
    }
    const group = { code: 'all', label: 'All', nodes: ['n1', 'n2'] }
    expect((await panel.service.admin('/node-groups', group)).status).toBe(200)
    const plan = { code: 'all', label: 'Everywhere', days: 30, price: 500, node_group: 'all' }
    expect((await panel.service.admin('/plans', plan)).status).toBe(200)
    const granted = await panel.service.admin('/users/42/grant', { node: 'n1', plan: '1m' })
    expect(granted.status).toBe(200)
    uuid = granted.json.uuid
    token = (await panel.service.admin('/users/42')).json.token
    await until('both are in step', async () => {
      return (await panel.service.admin('/sync', {})).json?.ok === true
    })
    onFirst = await startClient('Server n1')
    await works(onFirst, 15_000)
  })
  afterAll(() => lab?.close())

  test('a change of server ends the stream through the old one, and the new one serves the same client', async () => {
    const stream = openStream(lab, target, onFirst)
    await until('the stream flows', () => stream.output().length > 300)
    const begin = performance.now()
    const cut = stream.exited.then(() => performance.now() - begin)
    const { status, json } = await change({ node: 'n2' })
    expect([status, json]).toMatchObject([200, { plan_label: '30 days' }])
    const onSecond = await startClient('Server n2')
    await works(onSecond, WITHIN_MS)
    const ms = performance.now() - begin
    expect(
      await Promise.race([cut, new Promise((done) => setTimeout(done, WITHIN_MS, 0))]),
    ).toBeGreaterThan(0)
    expect(await page(onFirst)).toBe(null)
    expect(await held()).toEqual([[], [uuid]])
    expect((await change({ node: 'n1' })).status).toBe(429)
    console.log(
      `${runtime}: connected through the new server ${Math.round(ms)} ms after the request`,
    )
    expect(ms).toBeLessThan(WITHIN_MS)
  })

  test('a plan with a group opens the other server too, and breaks no stream through the one that stays', async () => {
    const onSecond = await startClient('Server n2')
    await works(onSecond, WITHIN_MS)
    const stream = openStream(lab, target, onSecond)
    await until('the stream flows', () => stream.output().length > 300)
    expect((await change({ plan: 'all' })).status).toBe(200)
    expect(await held()).toEqual([[uuid], [uuid]])
    await works(onFirst, WITHIN_MS)
    const length = stream.output().length
    await until('it flows on', () => stream.output().length > length + 300)
  })
})
