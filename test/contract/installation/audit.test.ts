/** The audit log, and a sync that an admin asks for. */
import { describe, expect, test } from 'vitest'
import {
  addNode,
  addSubscription,
  addUser,
  auditOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const SYNC = '/admin/api/sync'

const done = (more: object = {}) => ({
  code: 'de1',
  ok: true,
  added: 0,
  removed: 0,
  error: null,
  ...more,
})

const strangers = (w: World, count: number) => {
  for (let i = 0; i < count; i++) w.node.clients.set(crypto.randomUUID(), 'de1')
}

scenarios('POST /admin/api/sync', [
  {
    name: '200 and the node has what the database says',
    given: (w) => {
      addUser(w, 7)
      strangers(w, 2)
      return addSubscription(w, 7)
    },
    request: { path: SYNC, method: 'POST' },
    status: 200,
    body: { ok: true, nodes: [done({ added: 1, removed: 2 })] },
    effects: (w, uuid) => {
      expect([...w.node.clients.keys()]).toEqual([uuid])
      expect(w.rows('select action, detail from audit_log')).toEqual([
        { action: 'nodes.sync', detail: '' },
      ])
    },
  },
  {
    name: '200 without the nodes that nothing here manages',
    given: (w) => {
      addNode(w, 'ext')
      addNode(w, 'far', { kind: 'managed' })
    },
    request: { path: SYNC, body: {} },
    status: 200,
    body: { ok: true, nodes: [done()] },
  },
  {
    name: '200 held back by the brake without force',
    given: (w) => strangers(w, 100),
    request: { path: SYNC, body: { force: false } },
    status: 200,
    effects: async (w, _given, { json }) => {
      expect(json.nodes[0]).toMatchObject({ removed: 0, error: 'removals held back' })
      expect(w.node.clients.size).toBe(100)
      expect((await w.admin('/admin/api/nodes')).json[0].sync_blocked).toBe(true)
    },
  },
  {
    name: '200 past the brake with force, noted as such',
    given: (w) => strangers(w, 100),
    request: { path: SYNC, body: { force: true } },
    status: 200,
    body: { ok: true, nodes: [done({ removed: 100 })] },
    effects: async (w) => {
      expect(w.node.clients.size).toBe(0)
      expect((await w.admin('/admin/api/nodes')).json[0].sync_blocked).toBe(false)
      expect(w.rows('select detail from audit_log')).toEqual([{ detail: 'force' }])
    },
  },
  {
    name: '200 not ok with the error of a node that does not answer',
    given: (w) => {
      w.node.failure = 'timeout'
    },
    request: { path: SYNC, method: 'POST' },
    status: 200,
    body: { ok: false, nodes: [done({ ok: false, error: 'fake timeout' })] },
  },
  {
    name: '200 not ok while the core is down',
    given: (w) => {
      w.node.up = false
    },
    request: { path: SYNC, method: 'POST' },
    status: 200,
    effects: (_w, _given, { json }) => {
      expect(json.ok).toBe(false)
      expect(json.nodes[0]).toMatchObject({ ok: false, error: expect.any(String) })
    },
  },
  ...(
    [
      ['{', 'invalid JSON'],
      ['[]', 'the body must be a JSON object'],
      ['null', 'the body must be a JSON object'],
      ['{"force":"true"}', 'force must be true or false'],
      ['{"force":1}', 'force must be true or false'],
      ['{"force":null}', 'force must be true or false'],
    ] as const
  ).map(([raw, error]) => ({
    name: `400 for ${raw}, and no node is touched`,
    request: { path: SYNC, raw },
    status: 400,
    error,
    effects: (w: World) => {
      expect(w.node.calls).toEqual([])
      expect(auditOf(w)).toEqual([])
    },
  })),
])

const AUDIT = '/admin/api/audit'

async function history(w: World): Promise<void> {
  await w.call('/admin/api/login', { body: { username: 'nobody', password: 'x' } })
  await w.admin('/admin/api/nodes/de1', {
    method: 'PATCH',
    body: { label: 'x' },
    headers: { 'x-real-ip': '198.51.100.7' },
  })
  w.clock.advance(1000)
  await w.admin('/admin/api/hwid-settings', { body: { enabled: true } })
}

scenarios('GET /admin/api/audit', [
  {
    name: '200 with who did what from where, newest first',
    given: history,
    request: { path: AUDIT },
    status: 200,
    headers: { 'x-total-count': '3', link: null },
    body: [
      {
        id: 3,
        at: '2026-03-01T12:00:01',
        admin: 'admin',
        ip: '127.0.0.1',
        action: 'settings.change',
        object: 'HWID_LIMIT_ENABLED',
        detail: '',
      },
      {
        id: 2,
        at: '2026-03-01T12:00:00',
        admin: 'admin',
        ip: '198.51.100.7',
        action: 'node.edit',
        object: 'de1',
        detail: 'label',
      },
      {
        id: 1,
        at: '2026-03-01T12:00:00',
        admin: null,
        ip: '127.0.0.1',
        action: 'login.failed',
        object: '',
        detail: '',
      },
    ],
  },
  { name: '200 with nothing', request: { path: AUDIT }, status: 200, body: [] },
  ...(
    [
      ['action=node.', [2]],
      ['action=node.edit', [2]],
      ['action=edit', []],
      ['action=NODE.', [2]],
      ['admin=admin', [3, 2]],
      ['admin=ADMIN', []],
      ['order=asc', [1, 2, 3]],
      ['limit=1', [3]],
      ['admin=admin&action=settings', [3]],
    ] as const
  ).map(([query, ids]) => ({
    name: `200 with ${JSON.stringify(ids)} for ?${query}`,
    given: history,
    request: { path: `${AUDIT}?${query}` },
    status: 200,
    effects: (_w: World, _given: unknown, { json }: { json: { id: number }[] }) =>
      expect(json.map(({ id }) => id)).toEqual(ids),
  })),
  ...['limit=0', 'limit=1001', 'cursor=x', 'order=up', `action=${'a'.repeat(65)}`].map((query) => ({
    name: `400 for ?${query}`,
    request: { path: `${AUDIT}?${query}` },
    status: 400,
    error: /^(limit|cursor|order|action) /,
  })),
])

describe('the audit log', () => {
  test('is paged without gaps while it grows', async () => {
    const w = await createWorld()
    for (let i = 0; i < 7; i++) await w.admin(SYNC, { method: 'POST' })
    const seen: number[] = []
    let path: string | undefined = `${AUDIT}?limit=2`
    while (path !== undefined) {
      const answer = await w.admin(path)
      seen.push(...answer.json.map(({ id }: { id: number }) => id))
      path = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]
      await w.admin(SYNC, { method: 'POST' })
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1])
    w.close()
  })

  test('holds no secret, whatever is done', async () => {
    const w = await createWorld()
    putSettings(w, { HWID_LIMIT_ENABLED: 'true' })
    await history(w)
    const { json } = await w.admin('/admin/api/users/7/grant', {
      body: { node: 'de1', plan: '1m' },
    })
    await w.admin(`/admin/api/subscriptions/${json.uuid}/revoke`, { method: 'POST' })
    const text = (await w.admin(AUDIT)).text
    const token = w.rows('select token from users')[0].token
    const key = w.rows('select private_key as k from nodes')[0].k
    for (const secret of [token, key, 'session-of-the-world']) expect(text).not.toContain(secret)
    w.close()
  })
})
