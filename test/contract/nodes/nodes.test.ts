import { expect } from 'vitest'
import { addNode, addSubscription, addUser, auditOf, eventsOf } from '#test/support/records.ts'
import { type Scenario, scenarios } from '#test/support/scenario.ts'
import type { World } from '#test/support/world.ts'

const NODES = '/admin/api/nodes'
const NEW = {
  code: 'nl-1',
  label: 'Netherlands',
  address: 'nl.test',
  public_key: 'P'.repeat(43),
  short_id: 'ab12',
  sni: 'sni.test',
}

const FIELDS = [
  ...['code', 'label', 'kind', 'address', 'port', 'public_key', 'short_id', 'sni', 'flow'],
  ...['shared_uuid', 'enabled', 'status', 'sort_order', 'transports_json', 'hysteria_port'],
  ...['hysteria_password', 'hysteria_obfs_password', 'provision_expires_at', 'provisioning'],
  ...['ssh_port', 'ssh_user', 'host_key', 'presented_host_key', 'core_version', 'last_seen_at'],
  ...['last_error', 'sync_blocked', 'created_at'],
].sort()

const created = (more: object = {}) => ({
  ...NEW,
  kind: 'external',
  port: 443,
  flow: 'xtls-rprx-vision',
  shared_uuid: null,
  enabled: true,
  status: 'active',
  sort_order: 2,
  transports_json: [],
  hysteria_port: null,
  hysteria_password: null,
  hysteria_obfs_password: null,
  provision_expires_at: null,
  provisioning: null,
  ssh_port: 22,
  ssh_user: null,
  host_key: null,
  presented_host_key: null,
  core_version: null,
  last_seen_at: null,
  last_error: null,
  sync_blocked: false,
  created_at: '2026-03-01T12:00:00',
  ...more,
})

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

const patch = (code: string, body: unknown) => ({ path: `${NODES}/${code}`, method: 'PATCH', body })

const edits = (change: object, wanted: object = change): Scenario => ({
  name: `200 and changed by ${JSON.stringify(change).slice(0, 90)}`,
  given: (w) => w.admin(NODES, { body: NEW }),
  request: patch('nl-1', change),
  status: 200,
  body: created(wanted),
  effects: async (w, _given, { json }) => {
    expect((await w.admin(NODES)).json[1]).toEqual(json)
    expect(auditOf(w)).toEqual(['node.create', 'node.edit'])
  },
})

const ignores = (change: object): Scenario => ({
  ...edits(change, {}),
  name: `200 and unchanged by ${JSON.stringify(change)}`,
  effects: (w) => expect(auditOf(w)).toEqual(['node.create']),
})

const refusesEdit = (change: unknown, error: string | RegExp, code = 'nl-1'): Scenario => ({
  name: `400 for ${JSON.stringify(change).slice(0, 80)} on ${code}`,
  given: (w) => w.admin(NODES, { body: NEW }),
  request: patch(code, change),
  status: 400,
  error,
})

const local = async (w: World) => (await w.admin(NODES)).json[0]

scenarios('PATCH /admin/api/nodes/{code}', [
  edits({ label: ' New ' }, { label: 'New' }),
  edits({ enabled: false }),
  edits({ address: 'b.test' }),
  edits({ port: 8443 }),
  edits({ sni: '' }),
  edits({ public_key: 'Q'.repeat(43), short_id: 'ff' }),
  edits({ flow: '' }),
  edits({ shared_uuid: UUID }),
  edits(
    { shared_uuid: UUID, label: 'x', kind: 'local', code: 'y' },
    { shared_uuid: UUID, label: 'x' },
  ),
  ignores({}),
  ignores({ code: 'other', kind: 'managed', status: 'failed', sort_order: 7, private_key: 'x' }),
  ignores({ provision_token: 'x', sync_blocked: true, created_at: 'x', host_key: 'x' }),
  {
    name: '200 and cleared when shared_uuid becomes null or empty',
    given: async (w) => {
      await w.admin(NODES, { body: { ...NEW, shared_uuid: UUID } })
      expect(
        (await w.admin(`${NODES}/nl-1`, { method: 'PATCH', body: { shared_uuid: '' } })).json,
      ).toMatchObject({ shared_uuid: null })
    },
    request: patch('nl-1', { shared_uuid: null }),
    status: 200,
    body: created(),
  },
  {
    name: '200 on de1 with its label only, whatever else is sent',
    given: local,
    request: patch('de1', { label: 'Home', enabled: false, address: 'x.test', port: 1, flow: '' }),
    status: 200,
    body: (node: object) => ({ ...node, label: 'Home' }),
    effects: (w) => expect(w.rows('select detail from audit_log')).toEqual([{ detail: 'label' }]),
  },
  {
    name: '200 on de1 and unchanged without a label',
    given: local,
    request: patch('de1', { enabled: false, sni: 'x.test' }),
    status: 200,
    body: (node: object) => node,
    effects: (w) => expect(auditOf(w)).toEqual([]),
  },
  refusesEdit({ label: '' }, 'label must not be empty'),
  refusesEdit({ label: null }, /^label /),
  refusesEdit({ enabled: 'false' }, 'enabled must be true or false'),
  refusesEdit({ enabled: 0 }, 'enabled must be true or false'),
  refusesEdit({ port: '443' }, 'port must be a whole number from 1 to 65535'),
  refusesEdit({ port: 0 }, 'port must be a whole number from 1 to 65535'),
  refusesEdit({ address: '' }, 'address must not be empty'),
  refusesEdit({ flow: null }, /^flow /),
  refusesEdit({ shared_uuid: 1 }, /^shared_uuid /),
  refusesEdit({ label: 'good', port: 0 }, /^port /),
  {
    ...refusesEdit({ short_id: 'zz' }, /^short_id .* on a local node$/),
    name: '400 for a short id on a local node that would cost the core its whole configuration',
    given: (w) => w.admin(NODES, { body: { ...NEW, kind: 'local', port: 8443 } }),
  },
  ...(['short_id', 'flow', 'sni'] as const).map((field) => ({
    ...refusesEdit(
      { [field]: field === 'sni' ? '' : 'zz' },
      new RegExp(`^${field} .* on a managed node$`),
    ),
    name: `400 for a ${field} with which a managed node's core would serve nobody`,
    given: (w: World) => addNode(w, 'nl-1', { kind: 'managed', private_key: 'K'.repeat(43) }),
  })),
  refusesEdit({ port: 0 }, /^port /, 'de1'),
  refusesEdit([], 'the body must be a JSON object'),
  {
    name: '404 for an unknown node, whatever the body',
    request: { path: `${NODES}/nope`, method: 'PATCH', raw: '{' },
    status: 404,
    error: 'node not found',
  },
  {
    name: '404 for a code in other case',
    request: patch('DE1', { label: 'x' }),
    status: 404,
    error: 'node not found',
  },
])

const reorder = (codes: unknown) => ({ path: `${NODES}/reorder`, body: { codes } })
const three = (w: World) => {
  addNode(w, 'a')
  addNode(w, 'b')
}
const ORDER = 'codes must name every node exactly once'

scenarios('POST /admin/api/nodes/reorder', [
  {
    name: '200 and the nodes have the given order, for good',
    given: three,
    request: reorder(['b', 'de1', 'a']),
    status: 200,
    body: { ok: true },
    effects: async (w) => {
      const codes = (await w.admin(NODES)).json.map((node: { code: string }) => node.code)
      expect(codes).toEqual(['b', 'de1', 'a'])
      expect(auditOf(w)).toEqual(['node.reorder'])
    },
  },
  ...[
    ['an omission', ['a', 'b'], ORDER],
    ['a duplicate', ['a', 'b', 'de1', 'a'], ORDER],
    ['a duplicate for an omission', ['a', 'b', 'a'], ORDER],
    ['an unknown code', ['a', 'b', 'c'], ORDER],
    ['one too many', ['a', 'b', 'de1', 'c'], ORDER],
    ['a code in other case', ['A', 'b', 'de1'], ORDER],
    ['an empty list', [], 'codes must not be empty'],
    ['a number among them', ['a', 'b', 1], /^codes\.2 /],
    ['a string', 'de1', 'codes must be a list of node codes'],
    ['null', null, 'codes must be a list of node codes'],
    ['an object', { 0: 'a' }, 'codes must be a list of node codes'],
    ['nothing', undefined, /^codes /],
  ].map(([what, codes, error]) => ({
    name: `400 for ${what}`,
    given: three,
    request: reorder(codes),
    status: 400,
    error: error as string | RegExp,
  })),
])

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

scenarios('what a change of nodes leaves alone', [
  {
    name: '200 and the clients and subscriptions of a disabled node stay',
    given: (w) => {
      addUser(w, 7)
      w.change("update nodes set enabled = 1 where code = 'de1'")
      addNode(w, 'l2', { kind: 'local', port: 8443, private_key: 'K'.repeat(43) })
      return addSubscription(w, 7, { node: 'l2' })
    },
    request: patch('l2', { enabled: false }),
    status: 200,
    effects: (w, uuid) => {
      expect(w.node.clients.get(uuid)).toBe('l2')
      expect(w.rows('select active from subscriptions')).toEqual([{ active: 1 }])
    },
  },
])
