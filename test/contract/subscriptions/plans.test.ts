import { expect } from 'vitest'
import { addSubscription, addUser, auditOf, eventsOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const PLANS = '/admin/api/plans'
const NEW = { code: 'week', label: 'A week', days: 7, price: 59 }
const VIEW = { ...NEW, currency: 'RUB', price_stars: null, sort_order: 5, archived: false }

const codes = async (w: World, path: string) =>
  (await w.call(path)).json.map(({ code }: { code: string }) => code)

const BAD: [body: Record<string, unknown>, error: string][] = [
  [{ label: '' }, 'label must not be empty'],
  [{ label: '   ' }, 'label must not be empty'],
  [{ label: 'x'.repeat(129) }, 'label must have at most 128 characters'],
  [{ label: 7 }, 'label must be a string'],
  [{ label: 'a\nb' }, 'label must be one line without control characters'],
  ...[0, -1, 1.5, '30', 3651, null].map((days): [Record<string, unknown>, string] => [
    { days },
    'days must be a whole number from 1 to 3650',
  ]),
  ...[-1, 1.5, '59', 1e10, null].map((price): [Record<string, unknown>, string] => [
    { price },
    'price must be a whole number from 0 to 1000000000',
  ]),
  ...[0, -1, 0.5, '1'].map((price_stars): [Record<string, unknown>, string] => [
    { price_stars },
    'price_stars must be a whole number from 1 to 1000000',
  ]),
  [{ sort_order: -1 }, 'sort_order must be a whole number from 0 to 1000000'],
]

scenarios('POST /admin/api/plans', [
  {
    name: '200 with the plan, at the end; it is sold from then on',
    request: { path: PLANS, body: NEW },
    status: 200,
    body: VIEW,
    effects: async (w) => {
      expect(await codes(w, '/api/plans')).toEqual(['1m', '3m', '6m', '12m', 'week'])
      expect(w.rows('select action, object, detail from audit_log')).toEqual([
        { action: 'plan.create', object: 'week', detail: 'days=7 price=59' },
      ])
      expect(eventsOf(w)).toEqual([])
      const order = { node: 'de1', plan: 'week' }
      const granted = await w.admin('/admin/api/users/7/grant', { body: order })
      expect(granted.json).toMatchObject({ plan_label: 'A week', days_left: 7 })
    },
  },
  {
    name: '200 with every field as given, and unknown ones ignored',
    request: {
      path: PLANS,
      body: { ...NEW, label: ' A week ', price_stars: 50, sort_order: 0, archived: true, x: 1 },
    },
    status: 200,
    body: { ...VIEW, price_stars: 50, sort_order: 0 },
    effects: async (w) => expect((await codes(w, '/api/plans'))[0]).toBe('week'),
  },
  {
    name: '200 for a price of 0 and no price in Stars',
    request: { path: PLANS, body: { ...NEW, price: 0, price_stars: null } },
    status: 200,
    body: { ...VIEW, price: 0 },
  },
  {
    name: '400 when the code is taken, by an archived plan too',
    given: (w) => w.change("update plans set archived = 1 where code = '1m'"),
    request: { path: PLANS, body: { ...NEW, code: '1m' } },
    status: 400,
    error: 'plan code is taken',
  },
  ...['', 'a b', 'ä', 'x'.repeat(33), 7, null].map((code) => ({
    name: `400 for the code ${JSON.stringify(code)}`,
    request: { path: PLANS, body: { ...NEW, code } },
    status: 400,
    error: /^code must be (a string|1 to 32 letters, digits, _ or -)$/,
  })),
  ...(['code', 'label', 'days', 'price'] as const).map((key) => ({
    name: `400 without ${key}`,
    request: { path: PLANS, body: { ...NEW, [key]: undefined } },
    status: 400,
    error: `${key} is missing or of the wrong type`,
  })),
  ...BAD.map(([bad, error]) => ({
    name: `400 for ${JSON.stringify(bad).slice(0, 50)}`,
    request: { path: PLANS, body: { ...NEW, ...bad } },
    status: 400,
    error,
  })),
  {
    name: '400 for no JSON',
    request: { path: PLANS, raw: 'x' },
    status: 400,
    error: 'invalid JSON',
  },
])

const edit = (code: string, body: unknown): Scenario['request'] => ({
  path: `${PLANS}/${code}`,
  method: 'PATCH',
  body,
})

const MONTH = {
  code: '1m',
  label: '30 days',
  days: 30,
  price: 199,
  currency: 'RUB',
  price_stars: null,
  sort_order: 1,
  archived: false,
}

scenarios('PATCH /admin/api/plans/{code}', [
  ...[
    { label: 'Month' },
    { days: 31 },
    { price: 0 },
    { price_stars: 100 },
    { sort_order: 9 },
    { archived: true },
    { label: 'Month', days: 31, price: 250, price_stars: 120, sort_order: 2, archived: true },
  ].map((body) => ({
    name: `200 with the plan after ${JSON.stringify(body)}`,
    request: edit('1m', body),
    status: 200,
    body: { ...MONTH, ...body },
    effects: (w: World) =>
      expect(w.rows('select action, object, detail from audit_log')).toEqual([
        {
          action: 'plan.edit',
          object: '1m',
          detail: expect.stringContaining(Object.keys(body)[0]?.split('_')[0] ?? ''),
        },
      ]),
  })),
  {
    name: '200 and it is no longer offered for Stars',
    given: (w) => w.change("update plans set price_stars = 7 where code = '1m'"),
    request: edit('1m', { price_stars: null }),
    status: 200,
    body: MONTH,
  },
  {
    name: '200 and an archived one is sold again',
    given: (w) => w.change("update plans set archived = 1 where code = '1m'"),
    request: edit('1m', { archived: false }),
    status: 200,
    body: MONTH,
  },
  {
    name: '200 and subscriptions keep their days, lists and pages have the new label at once',
    given: (w) => {
      const token = addUser(w, 7)
      addSubscription(w, 7)
      return token
    },
    request: edit('1m', { label: 'Month', days: 1 }),
    status: 200,
    effects: async (w, token) => {
      const [row] = (await w.call(`/api/cabinet/${token}`)).json.subscriptions
      expect(row).toMatchObject({ plan_label: 'Month', days_left: 30 })
    },
  },
  ...[{}, { code: 'other', unknown: 1 }].map((body) => ({
    name: `200 and nothing changes for ${JSON.stringify(body)}`,
    request: edit('1m', body),
    status: 200,
    body: MONTH,
    effects: (w: World) => expect(auditOf(w)).toEqual([]),
  })),
  ...BAD.map(([bad, error]) => ({
    name: `400 for ${JSON.stringify(bad).slice(0, 50)} beside a good field`,
    request: edit('1m', { archived: true, ...bad }),
    status: 400,
    error,
  })),
  {
    name: '400 for archived that is no boolean',
    request: edit('1m', { archived: 1 }),
    status: 400,
    error: 'archived must be true or false',
  },
  ...['nope', '1M', '%00', 'x'.repeat(5000)].map((code) => ({
    name: `404 for ${code.slice(0, 20)}`,
    request: edit(code, { price: 1 }),
    status: 404,
    error: 'plan not found',
  })),
])
