import { expect, test } from 'vitest'
import type { Core } from '#src/ports/cores.ts'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import {
  ACTIVE,
  guided,
  HOST_KEY,
  installed,
  nodeOf,
  register,
} from '#test/support/calls/provisioning.ts'
import { createFakeNode } from '#test/support/fakes/node.ts'
import { addNode, auditOf, nowOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const OTHER_KEY = HOST_KEY.replace('nq9Z', 'nq9Y')

/** What a second report brings. */
const SECOND = { ...ACTIVE, ssh_port: 22, host_keys: [OTHER_KEY], core: '26.7.29', transports: [] }

scenarios('POST /nodes/register/{token} for a node that was active', [
  {
    name: '200 and nothing changed while its command was not given out again',
    given: installed,
    request: (token) => register(token, SECOND),
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(nodeOf(w)).toMatchObject({ ssh_port: 2222, host_key: HOST_KEY })
      expect(nodeOf(w).provision_expires_at).toBe('2026-03-02T12:00:00')
      expect(auditOf(w)).toEqual(['node.provision', 'node.register'])
    },
  },
  {
    name: '200 and not failed while its command was not given out again',
    given: installed,
    request: (token) => register(token, { status: 'failed', step: 'cores' }),
    status: 200,
    effects: (w) => expect(nodeOf(w)).toMatchObject({ status: 'active', last_error: null }),
  },
  {
    name: '200 and the new server takes the place of the old one after the command was given out again',
    given: async (w) => {
      await installed(w)
      w.change("update nodes set presented_host_key = ? where code = 'nl'", OTHER_KEY)
      await w.admin('/admin/api/nodes/nl/provision', { method: 'POST' })
      return nodeOf(w).provision_token
    },
    request: (token) => register(token, { ...SECOND, ssh_port: 2200 }),
    status: 200,
    effects: (w) => {
      expect(nodeOf(w)).toMatchObject({
        ssh_port: 2200,
        host_key: OTHER_KEY,
        presented_host_key: null,
        core_version: '26.7.29',
        provisioning: null,
      })
      // What was not reported stays.
      expect(nodeOf(w).transports_json[0].cert).toBe(CERT_PEM)
    },
  },
  {
    name: '200 and failed after the command was given out again',
    given: async (w) => {
      await installed(w)
      await w.admin('/admin/api/nodes/nl/provision', { method: 'POST' })
      return nodeOf(w).provision_token
    },
    request: (token) => register(token, { status: 'failed' }),
    status: 200,
    effects: (w) =>
      expect(nodeOf(w)).toMatchObject({
        status: 'failed',
        enabled: 1,
        last_error: 'the install script failed',
      }),
  },
  ...[0, 1].map(
    (enabled): Scenario => ({
      name: `200 and a node made by hand stays ${enabled ? 'enabled' : 'disabled'}`,
      given: async (w) => {
        addNode(w, 'nl', { kind: 'managed', enabled })
        await w.admin('/admin/api/nodes/nl/provision', { method: 'POST' })
        const token = nodeOf(w).provision_token
        await w.call(register(token).path, { method: 'POST', body: { status: 'failed' } })
        return token
      },
      request: (token) => register(token, ACTIVE),
      status: 200,
      effects: (w) => expect(nodeOf(w)).toMatchObject({ status: 'active', enabled }),
    }),
  ),
  {
    name: '200 and a node that an admin disabled stays so',
    given: async (w) => {
      await installed(w)
      await w.admin('/admin/api/nodes/nl', { method: 'PATCH', body: { enabled: false } })
      await w.admin('/admin/api/nodes/nl/provision', { method: 'POST' })
      return nodeOf(w).provision_token
    },
    request: (token) => register(token, ACTIVE),
    status: 200,
    effects: (w) => expect(nodeOf(w)).toMatchObject({ status: 'active', enabled: 0 }),
  },
])

test('a sync of the node follows each of its registrations, and of no other', async () => {
  const w = await createWorld()
  const token = await guided(w)
  const node = createFakeNode()
  const core: Core = { name: 'nl', program: node.program, known: null }
  const { of } = w.s.cores
  w.s.cores.of = (row) => (row.code === 'nl' && row.status === 'active' ? core : of(row))
  const forgotten: string[] = []
  w.s.cores.forget = (code) => forgotten.push(code)
  await w.s.background.idle()
  w.node.calls.length = 0
  await w.call(register(token).path, { method: 'POST', body: ACTIVE })
  await w.s.background.idle()
  expect(forgotten).toEqual(['nl'])
  expect(node.calls.map(({ verb }) => verb)).toContain('configure')
  expect(nodeOf(w).last_seen_at).toBe(nowOf(w))
  node.calls.length = 0
  await w.call(register(token).path, { method: 'POST', body: ACTIVE })
  await w.s.background.idle()
  expect(node.calls.map(({ verb }) => verb)).toContain('status')
  expect(w.node.calls).toEqual([])
  w.close()
})

test('two servers that report at the same time: both are answered, one is taken', async () => {
  const w = await createWorld()
  const token = await guided(w)
  const reports = [HOST_KEY, OTHER_KEY].map((key) =>
    w.call(register(token).path, { method: 'POST', body: { ...ACTIVE, host_keys: [key] } }),
  )
  const statuses = (await Promise.all(reports)).map(({ status }) => status)
  expect(statuses).toEqual([200, 200])
  expect([HOST_KEY, OTHER_KEY]).toContain(nodeOf(w).host_key)
  expect(auditOf(w)).toEqual(['node.provision', 'node.register'])
  w.close()
})

test('ten reports of an installation are written down in a minute', async () => {
  const w = await createWorld()
  const token = await guided(w)
  const fail = () => w.call(register(token).path, { method: 'POST', body: { status: 'failed' } })
  for (let i = 0; i < 10; i++) expect((await fail()).status).toBe(200)
  const refused = await fail()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
  expect(auditOf(w)).toHaveLength(11)
  // Whether the token is good may be asked all the time.
  expect((await w.call(register(token).path, { method: 'POST', body: {} })).status).toBe(200)
  w.clock.advance(60_000)
  expect((await fail()).status).toBe(200)
  w.close()
})
