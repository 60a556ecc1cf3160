import { expect, test } from 'vitest'
import {
  addNode,
  addPayment,
  addSubscription,
  addUser,
  auditOf,
  inSeconds,
} from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const NODES = '/admin/api/nodes'
const HOUR = 3600
const remove = (code: string) => ({ path: `${NODES}/${code}`, method: 'DELETE' })

const refuses = (
  name: string,
  given: (w: World) => unknown,
  error: string,
  code = 'nl',
): Scenario => ({
  name: `400 ${name}`,
  given: (w) => {
    addUser(w, 7)
    addNode(w, 'nl')
    return given(w)
  },
  request: remove(code),
  status: 400,
  error,
  effects: (w) => expect(auditOf(w)).toEqual([]),
})

const deletes = (name: string, given: (w: World) => unknown = () => {}): Scenario => ({
  name: `200 and deleted ${name}`,
  given: (w) => {
    addUser(w, 7)
    addNode(w, 'nl')
    return given(w)
  },
  request: remove('nl'),
  status: 200,
  body: { ok: true },
  effects: (w) => {
    expect(w.rows("select code from nodes where code = 'nl'")).toEqual([])
    expect(auditOf(w)).toEqual(['node.delete'])
  },
})

const SUBSCRIPTIONS = 'node has active subscriptions'
const PAYMENTS = 'node has pending payments'

test.each([
  ['de1', 'local', 'no proxy core is installed: run `npm run cores`'],
  [
    'far',
    'managed',
    'no proxy core answers on its server: where none is installed, have a new install command given out',
  ],
])('a pass over %s, whose server has no core, says what brings it', async (code, kind, error) => {
  const w = await createWorld()
  if (kind === 'managed') addNode(w, code, { kind, private_key: 'K'.repeat(43) })
  const program = kind === 'managed' ? w.remote(code) : w.node
  program.up = false
  const { json } = await w.admin('/admin/api/sync', { method: 'POST', body: {} })
  const found = json.nodes.find((node: { code: string }) => node.code === code)
  expect(found).toMatchObject({ ok: false, error: expect.stringContaining(error) })
  const [row] = w.rows(`select last_error from nodes where code = '${code}'`)
  expect(row?.last_error).toContain(error)
})

scenarios('DELETE /admin/api/nodes/{code}', [
  deletes('when nobody needs it'),
  deletes('with a revoked subscription', (w) => addSubscription(w, 7, { node: 'nl', active: 0 })),
  deletes('with a subscription that expires now', (w) =>
    addSubscription(w, 7, { node: 'nl', expires_at: inSeconds(w, 0) }),
  ),
  deletes('with a revoked one that was held', (w) =>
    addSubscription(w, 7, { node: 'nl', active: 0, held_at: inSeconds(w, 0) }),
  ),
  deletes('with subscriptions of another node', (w) => addSubscription(w, 7)),
  deletes('with a pending payment of 48 hours', (w) =>
    addPayment(w, { node: 'nl', created_at: inSeconds(w, -48 * HOUR) }),
  ),
  deletes('with paid and failed payments', (w) => {
    addPayment(w, { node: 'nl', status: 'paid' })
    addPayment(w, { node: 'nl', status: 'failed' })
  }),
  refuses(
    'with an active subscription',
    (w) => addSubscription(w, 7, { node: 'nl' }),
    SUBSCRIPTIONS,
  ),
  refuses(
    'with one that has a second left',
    (w) => addSubscription(w, 7, { node: 'nl', expires_at: inSeconds(w, 1) }),
    SUBSCRIPTIONS,
  ),
  refuses(
    'with a held subscription, whose time stands still',
    (w) =>
      addSubscription(w, 7, {
        node: 'nl',
        held_at: inSeconds(w, -99 * HOUR),
        expires_at: inSeconds(w, -1),
      }),
    SUBSCRIPTIONS,
  ),
  refuses(
    'with a pending payment of less than 48 hours',
    (w) => addPayment(w, { node: 'nl', created_at: inSeconds(w, -48 * HOUR + 1) }),
    PAYMENTS,
  ),
  refuses('for de1', () => {}, 'the local node cannot be deleted', 'de1'),
  {
    name: '404 for an unknown node',
    request: remove('nope'),
    status: 404,
    error: 'node not found',
  },
  {
    name: '404 for the second of two deletions',
    given: async (w) => {
      addNode(w, 'nl')
      await w.admin(`${NODES}/nl`, { method: 'DELETE' })
    },
    request: remove('nl'),
    status: 404,
    error: 'node not found',
  },
  {
    name: '200 for one, 404 for the rest of many deletions at once',
    given: async (w) => {
      addNode(w, 'nl')
      const all = Array.from({ length: 5 }, () => w.admin(`${NODES}/nl`, { method: 'DELETE' }))
      return (await Promise.all(all)).map((answer) => answer.status).sort()
    },
    request: remove('nl'),
    status: 404,
    effects: (w, statuses) => {
      expect(statuses).toEqual([200, 404, 404, 404, 404])
      expect(auditOf(w)).toEqual(['node.delete'])
    },
  },
])

test('of a grant and a deletion of its node at once exactly one is done', async () => {
  const w = await createWorld()
  const body = { node: 'nl', plan: '1m' }
  for (let round = 0; round < 10; round++) {
    w.change(
      "insert into users (tg_id, token, created_at) values (7, 'x', '') on conflict do nothing",
    )
    w.change('delete from subscriptions')
    w.change("delete from nodes where code = 'nl'")
    addNode(w, 'nl')
    const grant = () => w.admin('/admin/api/users/7/grant', { body })
    const deletion = () => w.admin(`${NODES}/nl`, { method: 'DELETE' })
    const answers = await Promise.all(round % 2 ? [grant(), deletion()] : [deletion(), grant()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(
      w.rows('select * from subscriptions where node not in (select code from nodes)'),
    ).toEqual([])
  }
  w.close()
})

const check = (code: string) => ({ path: `${NODES}/${code}/check`, method: 'POST' })

scenarios('POST /admin/api/nodes/{code}/check', [
  {
    name: '200 alive where something listens',
    given: (w) => addNode(w, 'up', { address: 'alive.test', port: 443 }),
    request: check('up'),
    status: 200,
    body: { alive: true },
  },
  {
    name: '200 not alive where nothing does',
    given: (w) => addNode(w, 'down', { address: 'alive.test', port: 444 }),
    request: check('down'),
    status: 200,
    body: { alive: false },
  },
  {
    name: 'is written down, with where it went',
    given: (w) => addNode(w, 'down', { address: 'dead.test', port: 2222 }),
    request: check('down'),
    status: 200,
    effects: (w) =>
      expect(w.rows('select admin, action, object, detail from audit_log')).toEqual([
        { admin: 'admin', action: 'node.check', object: 'down', detail: 'dead.test port 2222' },
      ]),
  },
  { name: '200 for the local node', request: check('de1'), status: 200, body: { alive: false } },
  {
    name: '404 for an unknown node',
    request: check('nope'),
    status: 404,
    error: 'node not found',
  },
])
