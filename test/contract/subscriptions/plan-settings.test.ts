import { expect } from 'vitest'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'

const PATH = '/admin/api/payments/plan-settings'
const set = (body: unknown) => ({ path: PATH, body })
const PRICES = { '1m': 199, '3m': 549, '6m': 999, '12m': 1799 }

const saved = (body: unknown, after: unknown, object: string): Scenario => ({
  name: `200 and saved: ${JSON.stringify(body)}`,
  request: set(body),
  status: 200,
  body: after,
  effects: async (w) => {
    expect((await w.admin(PATH)).json).toEqual(after)
    expect(w.rows('select action, object, detail from audit_log')).toEqual([
      { action: 'settings.change', object, detail: '' },
    ])
  },
})

scenarios('plan-settings', [
  {
    name: '200 with payments off and the prices of now',
    given: (w) => w.change("update plans set price = 0, archived = 1 where code = '6m'"),
    request: { path: PATH },
    status: 200,
    body: { payments_enabled: false, prices: { ...PRICES, '6m': 0 } },
  },
  {
    name: '200 with the toggle of the environment',
    world: { environment: { PAYMENTS_ENABLED: 'on' } },
    request: { path: PATH },
    status: 200,
    body: { payments_enabled: true, prices: PRICES },
  },
  saved({ payments_enabled: true }, { payments_enabled: true, prices: PRICES }, 'PAYMENTS_ENABLED'),
  saved(
    { prices: { '1m': 0, '12m': 1_000_000_000 } },
    { payments_enabled: false, prices: { ...PRICES, '1m': 0, '12m': 1_000_000_000 } },
    'price:1m price:12m',
  ),
  saved(
    { prices: { '3m': 549 }, payments_enabled: false },
    { payments_enabled: false, prices: PRICES },
    'PAYMENTS_ENABLED price:3m',
  ),
  {
    name: '200 and the plans have the new price at once',
    given: (w) => w.call('/api/plans'),
    request: set({ prices: { '1m': 250 } }),
    status: 200,
    effects: async (w) => {
      expect((await w.call('/api/plans')).json[0]).toMatchObject({ code: '1m', price: 250 })
      expect((await w.admin('/admin/api/plans')).json[0]).toMatchObject({ price: 250 })
    },
  },
  ...(
    [
      [{}, 'nothing to change'],
      [{ prices: {} }, 'nothing to change'],
      [{ prices: { '1m': 1, none: 2 } }, 'prices has an unknown plan'],
      [{ payments_enabled: true, prices: { '1m': 5, '3m ': 1 } }, 'prices has an unknown plan'],
      [{ prices: { constructor: 1 } }, 'prices has an unknown plan'],
      [{ prices: { '1m': 5, '3m': -1 } }, 'prices must be whole numbers from 0 to 1000000000'],
      [{ prices: { '1m': 1.5 } }, /^prices must be whole numbers/],
      [{ prices: { '1m': '199' } }, /^prices must be whole numbers/],
      [{ prices: { '1m': null } }, /^prices must be whole numbers/],
      [{ prices: { '1m': true } }, /^prices must be whole numbers/],
      [{ prices: { '1m': [5] } }, /^prices must be whole numbers/],
      [{ prices: { '1m': 1_000_000_001 } }, /^prices must be whole numbers/],
      [{ prices: { '<script>': -1 } }, 'prices must be whole numbers from 0 to 1000000000'],
      [{ prices: [5] }, 'prices must be an object of prices by plan code'],
      [{ prices: [] }, 'prices must be an object of prices by plan code'],
      [{ prices: null }, 'prices must be an object of prices by plan code'],
      [{ prices: '1m=5' }, 'prices must be an object of prices by plan code'],
      [{ payments_enabled: 'true', prices: { '1m': 5 } }, 'payments_enabled must be true or false'],
      [{ payments_enabled: 1 }, 'payments_enabled must be true or false'],
      [{ payments_enabled: null }, 'payments_enabled must be true or false'],
      [{ payments_enabled: true, extra: 1 }, 'unknown field'],
      [{ '1m': 5 }, 'unknown field'],
      [[], 'the body must be a JSON object'],
    ] as [unknown, string | RegExp][]
  ).map(
    ([body, error]): Scenario => ({
      name: `400 and nothing is applied: ${JSON.stringify(body)}`,
      request: set(body),
      status: 400,
      error,
      effects: (w) => expect(w.rows('select * from audit_log')).toEqual([]),
    }),
  ),
  ...['{"prices":{"1m":5,"__proto__":6}}', '{"__proto__":{"payments_enabled":true}}', '{'].map(
    (raw): Scenario => ({
      name: `400 and nothing is applied: ${raw}`,
      request: { path: PATH, raw },
      status: 400,
    }),
  ),
])
