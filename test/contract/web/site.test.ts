import { expect } from 'vitest'
import { addNode, addSubscription, addUser, DAY, inSeconds } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { grantUser } from '#test/support/worlds/world.ts'

const NOT_KEPT = { 'cache-control': 'private, no-store' }

scenarios('GET /healthz', [
  { name: '200 ok', request: { path: '/healthz' }, status: 200, body: { ok: true } },
  {
    name: '200 ok on a host that nobody knows',
    request: { path: '/healthz', host: 'other.test' },
    status: 200,
    body: { ok: true },
  },
  { name: '200 for HEAD', request: { path: '/healthz', method: 'HEAD' }, status: 200, body: '' },
])

scenarios('GET /mgmt-pubkey.txt', [
  {
    name: '200 with the public key and a newline as text',
    request: { path: '/mgmt-pubkey.txt' },
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: 'ssh-ed25519 AAAA subpanel\n',
  },
])

const SEEDED = [
  { code: '1m', label: '30 days', days: 30, price: 199, currency: 'RUB' },
  { code: '3m', label: '90 days', days: 90, price: 549, currency: 'RUB' },
  { code: '6m', label: '180 days', days: 180, price: 999, currency: 'RUB' },
  { code: '12m', label: '365 days', days: 365, price: 1799, currency: 'RUB' },
]

scenarios('GET /api/plans', [
  {
    name: '200 with exactly five fields of each plan, in their order',
    request: { path: '/api/plans', host: 'site.test' },
    status: 200,
    body: SEEDED,
  },
  {
    name: '200 without archived plans, with those that cost nothing',
    given: (w) => {
      w.change("update plans set archived = 1 where code in ('3m', '6m')")
      w.change("update plans set price = 0 where code = '12m'")
    },
    request: { path: '/api/plans' },
    status: 200,
    body: [SEEDED[0], { ...SEEDED[3], price: 0 }],
  },
  {
    name: '200 in the currency of the settings',
    world: { environment: { CURRENCY: 'EUR' } },
    request: { path: '/api/plans' },
    status: 200,
    body: SEEDED.map((plan) => ({ ...plan, currency: 'EUR' })),
  },
  ...['price = 250', "label = 'A month'", 'days = 31', 'archived = 1', 'sort_order = 9'].map(
    (change): Scenario => ({
      name: `200 with the plans as they are now, after ${change}`,
      given: async (w) => {
        await w.call('/api/plans')
        w.change(`update plans set ${change} where code = '1m'`)
      },
      request: { path: '/api/plans' },
      status: 200,
      effects: (w, _given, { json }) => {
        const rows = w.rows(
          'select code, label, days, price from plans where archived = 0 order by sort_order',
        )
        expect(json).toEqual(rows.map((row) => ({ ...row, currency: 'RUB' })))
        expect(json).not.toEqual(SEEDED)
      },
    }),
  ),
])

const cabinet = (token: string) => ({ path: `/api/cabinet/${token}`, host: 'site.test' })

scenarios('GET /api/cabinet/{token}', [
  {
    name: '404 for an unknown token',
    request: cabinet('unknown'),
    status: 404,
    headers: NOT_KEPT,
    error: 'not found',
  },
  { name: '404 for no token', request: cabinet(''), status: 404, error: 'not found' },
  {
    name: '200 with exactly the four fields for a user without anything',
    given: (w) => addUser(w, 7),
    request: cabinet,
    status: 200,
    headers: NOT_KEPT,
    body: (token: string) => ({
      username: null,
      subscriptions: [],
      sub_link: `https://sub.test/sub/${token}`,
      nodes_available: ['Local'],
    }),
  },
  {
    name: '200 with the active subscriptions only, each with exactly five fields, oldest first',
    given: (w) => {
      const token = addUser(w, 7, { username: 'alice' })
      addSubscription(w, 7, { plan: 'gone', expires_at: inSeconds(w, 2 * DAY - 1) })
      addSubscription(w, 7, { plan: '3m', node: 'lost', expires_at: inSeconds(w, 5 * DAY) })
      addSubscription(w, 7, { active: 0 })
      addSubscription(w, 7, { held_at: inSeconds(w, 0) })
      addSubscription(w, 7, { expires_at: inSeconds(w, 0) })
      return token
    },
    request: cabinet,
    status: 200,
    body: (token: string) => ({
      username: 'alice',
      subscriptions: [
        {
          node: 'de1',
          plan: 'gone',
          plan_label: 'gone',
          expires_at: '2026-03-03T11:59:59',
          days_left: 1,
        },
        {
          node: 'lost',
          plan: '3m',
          plan_label: '90 days',
          expires_at: '2026-03-06T12:00:00',
          days_left: 5,
        },
      ],
      sub_link: `https://sub.test/sub/${token}`,
      nodes_available: ['Local'],
    }),
  },
  {
    name: '200 with no subscriptions for a banned user',
    given: async (w) => {
      const { token } = await grantUser(w, 7)
      w.change('update users set banned_at = created_at')
      return token
    },
    request: cabinet,
    status: 200,
    effects: (_w, _token, { json }) => expect(json.subscriptions).toEqual([]),
  },
  {
    name: '200 with the labels of enabled nodes in display order',
    given: (w) => {
      addNode(w, 'two')
      addNode(w, 'off', { enabled: 0 })
      addNode(w, 'one')
      w.change("update nodes set sort_order = 0 where code = 'one'")
      return addUser(w, 7)
    },
    request: cabinet,
    status: 200,
    effects: (_w, _token, { json }) =>
      expect(json.nodes_available).toEqual(['Label of one', 'Local', 'Label of two']),
  },
  ...[
    [
      'a node is disabled',
      { method: 'PATCH', path: '/nodes/two', body: { enabled: false } },
      ['Local'],
    ],
    [
      'a node is renamed',
      { method: 'PATCH', path: '/nodes/two', body: { label: 'New' } },
      ['Local', 'New'],
    ],
    [
      'the order changes',
      { path: '/nodes/reorder', body: { codes: ['two', 'de1'] } },
      ['Label of two', 'Local'],
    ],
    ['a node is deleted', { method: 'DELETE', path: '/nodes/two' }, ['Local']],
  ].map(([what, change, labels]): Scenario => {
    const { path, ...options } = change as { path: string }
    return {
      name: `200 with the nodes as they are as soon as ${what}`,
      given: async (w) => {
        const token = addUser(w, 7)
        addNode(w, 'two')
        await w.call(`/api/cabinet/${token}`)
        await w.admin(`/admin/api${path}`, options)
        return token
      },
      request: cabinet,
      status: 200,
      effects: (_w, _token, { json }) => expect(json.nodes_available).toEqual(labels),
    }
  }),
])
