import { expect } from 'vitest'
import { created, NEW } from '#test/support/calls/new-node.ts'
import { addNode, auditOf, eventsOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const NODES = '/admin/api/nodes'

const FIELDS = [
  ...['code', 'label', 'kind', 'address', 'port', 'public_key', 'short_id', 'sni', 'flow'],
  ...['shared_uuid', 'enabled', 'status', 'sort_order', 'transports_json', 'hysteria_port'],
  ...['hysteria_password', 'hysteria_obfs_password', 'provision_expires_at', 'provisioning'],
  ...['ssh_port', 'ssh_user', 'host_key', 'presented_host_key', 'core_version', 'last_seen_at'],
  ...['last_error', 'sync_blocked', 'created_at'],
].sort()

scenarios('GET /admin/api/nodes', [
  {
    name: '200 with every field of the node but its private key and its provision token',
    given: (w) =>
      w.change("update nodes set private_key = 'SECRET-1', provision_token = 'SECRET-2'"),
    request: { path: NODES },
    status: 200,
    effects: (_w, _given, { json, text }) => {
      expect(json).toHaveLength(1)
      expect(Object.keys(json[0]).sort()).toEqual(FIELDS)
      expect(json[0]).toMatchObject({
        code: 'de1',
        label: 'Local',
        kind: 'local',
        address: 'panel.test',
        port: 443,
        sni: 'dl.google.com',
        flow: 'xtls-rprx-vision',
        shared_uuid: null,
        enabled: true,
        status: 'active',
      })
      expect(text).not.toContain('SECRET-')
    },
  },
  {
    name: '200 in display order, never paged',
    given: (w) => {
      for (let i = 0; i < 150; i++) addNode(w, `n${i}`)
      w.change("update nodes set sort_order = 0 where code = 'n149'")
    },
    request: { path: `${NODES}?limit=2` },
    status: 200,
    headers: { link: null },
    effects: (_w, _given, { json }) => {
      const codes = json.map((node: { code: string }) => node.code)
      expect(codes).toHaveLength(151)
      expect(codes.slice(0, 3)).toEqual(['n149', 'de1', 'n0'])
    },
  },
])

const create = (more: object = {}, status = 200, rest: Partial<Scenario> = {}): Scenario => ({
  name: `${status} for ${JSON.stringify(more).slice(0, 80)}`,
  request: { path: NODES, body: { ...NEW, ...more } },
  status,
  ...rest,
})

const refuses = (more: object, error: string | RegExp): Scenario =>
  create(more, 400, {
    error,
    effects: (w) => {
      expect(eventsOf(w)).toEqual([])
      expect(auditOf(w)).toEqual([])
    },
  })

const accepts = (more: object, wanted: object = more): Scenario =>
  create(more, 200, { body: created(wanted) })

const without = (key: keyof typeof NEW) => {
  const { [key]: _left, ...rest } = NEW
  return rest
}

const UUID = '0f0e0d0c-0b0a-4908-8706-050403020100'

scenarios('POST /admin/api/nodes', [
  create({}, 200, {
    name: '200 with the created node, at the end, with its event and audit row',
    body: created(),
    effects: async (w, _given, { json }) => {
      expect((await w.admin(NODES)).json[1]).toEqual(json)
      const data = { code: 'nl-1', label: 'Netherlands', kind: 'external', address: 'nl.test' }
      expect(eventsOf(w)).toEqual([
        { event: 'node.added', status: 'skipped', data: { ...data, port: 443 } },
      ])
      expect(w.rows('select admin, ip, action, object from audit_log')).toEqual([
        { admin: 'admin', ip: '127.0.0.1', action: 'node.create', object: 'nl-1' },
      ])
      expect(w.node.calls).toEqual([])
    },
  }),
  create({}, 200, {
    name: '200 with an event that is sent where a webhook is set, whatever becomes of it',
    world: { environment: { WEBHOOK_URL: 'http://127.0.0.1:1/', WEBHOOK_SECRET: 'x' } },
    effects: (w) => expect(eventsOf(w).map(({ status }) => status)).toEqual(['failed']),
  }),
  create({}, 200, {
    name: '200 at the end of an order with gaps',
    given: (w) => w.change('update nodes set sort_order = 41'),
    body: created({ sort_order: 42 }),
  }),
  accepts({ kind: 'managed', port: 8443, flow: '', shared_uuid: UUID }),
  accepts({ shared_uuid: UUID.toUpperCase() }, { shared_uuid: UUID }),
  accepts({ shared_uuid: '' }, { shared_uuid: null }),
  accepts({ shared_uuid: null }),
  accepts({ shared_uuid: 'shared-by-all' }),
  accepts({ public_key: '', short_id: '', sni: '' }),
  accepts({ code: 'A_b-9' }),
  accepts({ code: 'x'.repeat(32) }),
  accepts({ port: 1 }),
  accepts({ port: 65_535 }),
  accepts({ label: '  Имя 🇳🇱 ' }, { label: 'Имя 🇳🇱' }),
  accepts({ address: '2001:db8::1' }),
  accepts({ enabled: false, status: 'pending', sort_order: 9, private_key: 'x' }, {}),
  create({ kind: 'local', port: 8443 }, 200, {
    name: '200 for another local node with keys of its own, which the core then serves',
    effects: (w, _given, { json }) => {
      expect(json.public_key).toMatch(/^[A-Za-z0-9_-]{43}$/)
      expect(json.public_key).not.toBe(NEW.public_key)
      expect(w.rows("select private_key as k from nodes where code = 'nl-1'")[0].k).toHaveLength(43)
      expect(w.node.calls.map(({ verb }) => verb)).toContain('configure')
    },
  }),
  refuses({ kind: 'local', port: 8443, short_id: 'zz' }, /^short_id .* on a local node$/),
  refuses({ kind: 'local', port: 8443, flow: 'none' }, /^flow .* on a local node$/),
  ...Object.keys(NEW).map(
    (key): Scenario => ({
      name: `400 naming ${key} when it is missing`,
      request: { path: NODES, body: without(key as keyof typeof NEW) },
      status: 400,
      error: new RegExp(`^${key} `),
    }),
  ),
  ...Object.keys(NEW).map((key) => refuses({ [key]: 7 }, new RegExp(`^${key} `))),
  ...Object.keys(NEW).map((key) => refuses({ [key]: null }, new RegExp(`^${key} `))),
  ...['', 'x'.repeat(33), 'a b', ' a', 'a ', 'a.b', 'é', 'a/b', '../x', 'a\n'].map((code) =>
    refuses({ code }, /^code must be 1 to 32/),
  ),
  refuses({ code: 'de1' }, 'node code is taken'),
  ...[0, -1, 65_536, 1.5, '443', null, true, 1e99].map((port) =>
    refuses({ port }, 'port must be a whole number from 1 to 65535'),
  ),
  refuses({ label: '' }, 'label must not be empty'),
  refuses({ label: '   ' }, 'label must not be empty'),
  refuses({ label: 'x'.repeat(129) }, /^label /),
  refuses({ address: '' }, 'address must not be empty'),
  refuses({ address: ' ' }, 'address must not be empty'),
  refuses({ address: 'a b' }, /^address /),
  refuses({ sni: 'a\nb' }, /^sni /),
  refuses({ kind: 'remote' }, 'kind must be local, managed or external'),
  refuses({ kind: null }, /^kind /),
  refuses({ flow: 'a b' }, /^flow /),
  refuses({ flow: 1 }, /^flow /),
  refuses({ shared_uuid: 5 }, /^shared_uuid /),
  refuses({ shared_uuid: 'a b' }, /^shared_uuid /),
  refuses({ shared_uuid: 'x'.repeat(31) }, /^shared_uuid /),
  {
    name: '200 for one and 400 for the other of two with the same code at once',
    given: (w) => Promise.all([1, 2].map(() => w.admin(NODES, { body: NEW }))),
    request: { path: NODES, body: NEW },
    status: 400,
    error: 'node code is taken',
    effects: (w, answers) => {
      const statuses = answers.map((answer: { status: number }) => answer.status).sort()
      expect(statuses).toEqual([200, 400])
      expect(eventsOf(w)).toHaveLength(1)
      expect(auditOf(w)).toEqual(['node.create'])
    },
  },
])

const _local = async (w: World) => (await w.admin(NODES)).json[0]

scenarios('GET /admin/api/nodes/{code}/status', [
  {
    name: '200 with status and enabled, nothing else',
    request: { path: `${NODES}/de1/status` },
    status: 200,
    body: { status: 'active', enabled: true },
  },
  {
    name: '200 with a pending node that is not enabled',
    given: (w) => addNode(w, 'new', { status: 'pending', enabled: 0 }),
    request: { path: `${NODES}/new/status` },
    status: 200,
    body: { status: 'pending', enabled: false },
  },
  {
    name: '404 for an unknown node',
    request: { path: `${NODES}/nope/status` },
    status: 404,
    error: 'node not found',
  },
])
