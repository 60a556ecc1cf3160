/** Nodes that are changed and put in order. */
import { expect } from 'vitest'
import { created, NEW } from '#test/support/calls/new-node.ts'
import { addNode, addSubscription, addUser, auditOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const NODES = '/admin/api/nodes'
const UUID = '0f0e0d0c-0b0a-4908-8706-050403020100'
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
