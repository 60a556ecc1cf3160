/** Changes of plan that are refused, whoever asks for them: nothing is changed. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DAY, inSeconds } from '#test/support/rows/records.ts'
import { type ChangeShop, createChangeShop } from '#test/support/worlds/change-shop.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

let shop: ChangeShop
let w: World
beforeEach(async () => {
  shop = await createChangeShop()
  w = shop.w
})
afterEach(() => shop.close())

const admin = (uuid: string, body: object) => shop.api(`subscriptions/${uuid}/change`, body)

const rows: [
  name: string,
  given: () => Promise<string>,
  status: number,
  error: string,
  plan?: string,
][] = [
  ['revoked', () => shop.basic({ active: 0 }), 400, 'subscription is revoked'],
  [
    'disabled',
    () => shop.basic({ disabled_at: '2026-03-01T11:00:00' }),
    400,
    'subscription is disabled',
  ],
  ['held', () => shop.basic({ held_at: '2026-03-01T11:00:00' }), 400, 'subscription is held'],
  ['ended', () => shop.basic({ expires_at: '2026-03-01T12:00:00' }), 400, 'expired'],
  ['without end', () => shop.basic({ expires_at: '9999-12-31T23:59:59' }), 400, 'has no end'],
  [
    'waiting',
    () => shop.basic({ start_seconds: DAY, start_by: '2026-03-02T00:00:00' }),
    400,
    'subscription waits for its first use',
  ],
  [
    'of an archived plan',
    async () => {
      await shop.setPlan('1m', { archived: true })
      return shop.basic()
    },
    400,
    'the plan of this subscription is not sold for a price: its days can be changed for no others',
  ],
  [
    'of a plan without a price',
    async () => {
      await shop.setPlan('1m', { price: 0 })
      return shop.basic()
    },
    400,
    'the plan of this subscription is not sold for a price: its days can be changed for no others',
  ],
  [
    'of a plan that is gone',
    () => shop.basic({ plan: 'gone' }),
    400,
    'the plan of this subscription is not sold for a price: its days can be changed for no others',
  ],
  ['to an unknown plan', () => shop.basic(), 400, 'unknown plan', 'nope'],
  ['to its own plan', () => shop.basic(), 400, 'plan must be another plan', '1m'],
  [
    'to an archived plan',
    async () => {
      await shop.setPlan('3m', { archived: true })
      return shop.basic()
    },
    400,
    'plan is archived',
  ],
  [
    'to a plan without a price',
    async () => {
      await shop.setPlan('3m', { price: 0 })
      return shop.basic()
    },
    400,
    'plan is not for sale',
  ],
  [
    'to a plan whose servers are all off',
    async () => {
      w.change("update nodes set enabled = 0 where code <> 'de1'")
      w.change("delete from node_group_nodes where node = 'de1'")
      return shop.basic()
    },
    400,
    'the node group needs an enabled node',
  ],
  [
    'with less than a day of it left',
    () => shop.basic({ expires_at: inSeconds(w, 2 * DAY - 1) }),
    400,
    'too little is left for a day of that plan: renew instead',
  ],
  [
    'with more days than a date can say',
    async () => {
      await shop.setPlan('1m', { price: 1_000_000_000, days: 1 })
      await shop.setPlan('3m', { price: 1, days: 3650 })
      return shop.basic()
    },
    400,
    'expires_at would be too late',
  ],
  [
    'of somebody else',
    async () => {
      w.change(
        "insert into users (tg_id, token, created_at) values (2, 'x', '2026-03-01T12:00:00')",
      )
      return shop.basic({ tg_id: 2 })
    },
    404,
    'subscription not found',
  ],
  [
    'of a banned customer',
    async () => {
      const uuid = await shop.basic()
      w.change("update users set banned_at = '2026-03-01T12:00:00' where tg_id = 1")
      return uuid
    },
    404,
    'subscription not found',
  ],
]
test.each(rows)('%s', async (_, given, status, error, plan = '3m') => {
  const uuid = await given()
  const before = w.dump('audit_log')
  for (const more of [{}, { preview: true }]) {
    const own = await shop.change(uuid, { plan, ...more })
    // What is revoked is not shown to its owner any more.
    const shown =
      error === 'subscription is revoked' ? [404, 'subscription not found'] : [status, error]
    expect([own.status, own.json.error]).toEqual(shown)
    expectDecent('/api/cabinet', own)
    if (status === 404) continue
    const byAdmin = await admin(uuid, { plan, ...more })
    expect([byAdmin.status, byAdmin.json]).toEqual([status, { error }])
  }
  expect(w.dump('audit_log')).toBe(before)
})

test('bodies that say nothing of use, and paths of nobody', async () => {
  const uuid = await shop.basic()
  const bodies: [object, string | RegExp][] = [
    [{}, 'give either the node or the plan'],
    [{ node: 'nl1', plan: '3m' }, 'give either the node or the plan'],
    [{ plan: 7 }, /^plan /],
    [{ plan: '3m', days: 0 }, /^days /],
    [{ plan: '3m', preview: 'yes' }, 'preview must be true or false'],
    [{ plan: 'x'.repeat(65) }, /^plan /],
  ]
  for (const [body, error] of bodies) {
    const { status, json } = await shop.change(uuid, body)
    expect(status).toBe(400)
    expect(json.error).toMatch(error)
  }
  expect((await admin(uuid, {})).json.error).toMatch(/^plan /)
  expect((await admin('nope', { plan: '3m' })).status).toBe(404)
  expect((await shop.change(uuid, { plan: '3m' }, 'nobody')).status).toBe(404)
  expect((await w.call(`/api/cabinet/nobody/subscriptions/${uuid}/change`)).status).toBe(404)
  expect((await w.call(`/api/cabinet/${shop.token}/subscriptions/nope/change`)).status).toBe(404)
})
