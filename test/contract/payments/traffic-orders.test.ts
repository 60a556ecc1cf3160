/** Orders of traffic: what is sold to whom, what is kept of it, whose link is given again. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { creationsOf, paymentsOf } from '#test/support/calls/cabinet-orders.ts'
import { addSubscription, addUser, DAY, inSeconds, nowOf } from '#test/support/rows/records.ts'
import { addPack, createPackShop, GB, type PackShop } from '#test/support/worlds/pack-shop.ts'

let shop: PackShop
let uuid: string
beforeEach(async () => {
  shop = await createPackShop()
  uuid = shop.limited()
})
afterEach(() => shop.close())

const shopOf = async () => (await shop.w.call(`/api/cabinet/${shop.token}/shop`)).json
const PACK = { code: '50gb', label: '50 GB', gb: 50, price: 99, currency: 'RUB', price_stars: 60 }

describe('POST /api/cabinet/{token}/payments {kind: "traffic"}', () => {
  test('200: the pack and its bytes are frozen in the payment, and the gateway is told what it is', async () => {
    const { id } = await shop.bought(uuid)
    expect(shop.payment(id)).toMatchObject({
      ...{ kind: 'traffic', pack: '50gb', extra_bytes: 50 * GB, renews_uuid: uuid, days: 0 },
      ...{ node: 'de1', plan: '1m', amount: 99, currency: 'RUB', status: 'pending' },
      ...{ node_group: null, quota_bytes: null, quota_period: 'none' },
    })
    expect(creationsOf(shop)[0]?.order).toMatchObject({
      amount: 99,
      description: 'Subpanel, Local, traffic: 50 GB',
    })
    const [audit] = shop.w.rows('select action, detail from audit_log')
    expect(audit).toEqual({
      action: 'payment.create',
      detail: `tg_id=1 subscription=${uuid} pack=50gb provider=provider_a`,
    })
  })

  test('200: who reads Russian is told so in Russian', async () => {
    shop.w.change("update users set lang = 'ru'")
    await shop.bought(uuid)
    expect(creationsOf(shop)[0]?.order?.description).toBe('Subpanel, Local, трафик: 50 GB')
  })

  test('200 for a subscription by the id that its owner knows', async () => {
    const [own] = (await shopOf()).subscriptions
    const { id } = await shop.bought(own.uuid)
    expect(shop.payment(id).renews_uuid).toBe(uuid)
  })

  const SOLD: [what: string, row: Record<string, string | number | null>, change?: string][] = [
    ['has traffic left', { used_bytes: 0, limited_at: null, quota_notice: 0 }],
    ['has no end', { expires_at: '9999-12-31T23:59:59' }],
    ['is held', { held_at: '2026-01-02T00:00:00' }],
    ['is on a node that is sold out', {}, "update nodes set enabled = 0 where code = 'de1'"],
  ]
  test.each(SOLD)('200 for one that %s', async (_what, row, change) => {
    const other = shop.limited(row)
    if (change) shop.w.change(change)
    expect((await shop.order(other)).status).toBe(200)
  })

  test('the same order gets the same link; another pack, price or size, and a renewal another one', async () => {
    const { id } = await shop.bought(uuid)
    expect((await shop.bought(uuid)).id).toBe(id)
    addPack(shop.w, 'other', { label: 'Other' })
    expect((await shop.bought(uuid, { pack: 'other' })).id).not.toBe(id)
    expect((await shop.buy({ renews: uuid })).id).not.toBe(id)
    shop.w.change("update traffic_packs set price = 100 where code = '50gb'")
    expect((await shop.bought(uuid)).id).not.toBe(id)
    shop.w.change("update traffic_packs set price = 99, gb = 51 where code = '50gb'")
    expect((await shop.bought(uuid)).id).not.toBe(id)
    expect(paymentsOf(shop)).toHaveLength(5)
  })

  test('ten at once are one payment', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => shop.order(uuid)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(paymentsOf(shop)).toHaveLength(1)
  })

  const REFUSED: [
    what: string,
    error: string,
    change: () => string | undefined,
    body?: Record<string, unknown>,
  ][] = [
    ['an unknown pack', 'unknown traffic pack', () => uuid, { pack: 'nope' }],
    [
      'an archived pack',
      'traffic pack is archived',
      () => {
        shop.w.change('update traffic_packs set archived = 1')
        return uuid
      },
    ],
    [
      'a pack without a price in money',
      'traffic pack is not for sale',
      () => {
        shop.w.change('update traffic_packs set price = 0')
        return uuid
      },
    ],
    [
      'a subscription without a quota',
      'subscription has no traffic quota',
      () => addSubscription(shop.w, 1),
    ],
    [
      'a subscription that has ended',
      'expired',
      () => shop.limited({ expires_at: inSeconds(shop.w, -DAY) }),
    ],
    [
      'a subscription that is switched off',
      'subscription is disabled',
      () => shop.limited({ disabled_at: nowOf(shop.w) }),
    ],
    [
      'a subscription without end and without a quota',
      'subscription has no traffic quota',
      () => addSubscription(shop.w, 1, { expires_at: '9999-12-31T23:59:59' }),
    ],
    [
      'a revoked subscription',
      'unknown subscription',
      () => shop.limited({ active: 0, revoked_at: nowOf(shop.w) }),
    ],
    [
      "another's subscription",
      'unknown subscription',
      () => {
        addUser(shop.w, 2)
        return shop.limited({ tg_id: 2 })
      },
    ],
    ['an unknown subscription', 'unknown subscription', () => crypto.randomUUID()],
    ['no subscription', 'renews is missing or of the wrong type', () => undefined],
    ['no pack', 'pack is missing or of the wrong type', () => uuid, { pack: undefined }],
    ['an unknown kind', /^kind /.source, () => uuid, { kind: 'other' }],
    ['an unknown provider', 'unknown provider', () => uuid, { provider: 'nope' }],
  ]
  test.each(REFUSED)('400 for %s', async (_what, error, change, body = {}) => {
    const renews = change()
    const { status, json } = await shop.order(renews as string, body)
    expect(status).toBe(400)
    expect(json.error).toMatch(error.startsWith('^') ? new RegExp(error) : new RegExp(`^${error}$`))
    expect(paymentsOf(shop)).toEqual([])
  })
})

describe('POST /admin/api/payments {kind: "traffic"}', () => {
  const order = (body: object) =>
    shop.api('payments', { kind: 'traffic', tg_id: 1, provider: 'provider_a', ...body })

  test('200 with a link for a customer', async () => {
    const { status, json } = await order({ pack: '50gb', renews: uuid })
    expect(status).toBe(200)
    expect(shop.payment(json.id)).toMatchObject({ kind: 'traffic', source: 'admin', tg_id: 1 })
  })

  test.each([
    [{ pack: 'nope' }, 'unknown traffic pack'],
    [{ renews: crypto.randomUUID() }, 'unknown subscription'],
    [{ renews: null }, 'renews must be a string'],
    [{ tg_id: 99 }, 'unknown subscription'],
  ])('400 for %j, and nobody is made a user', async (bad, error) => {
    const users = shop.w.rows('select count(*) as n from users')
    const { status, json } = await order({ pack: '50gb', renews: uuid, ...bad })
    expect([status, json]).toEqual([400, { error }])
    expect(shop.w.rows('select count(*) as n from users')).toEqual(users)
  })
})

describe('GET /api/cabinet/{token}/shop', () => {
  test('has the packs for who has a subscription with a quota', async () => {
    addPack(shop.w, 'gone', { archived: 1 })
    addPack(shop.w, 'free', { price: 0, price_stars: null })
    addPack(shop.w, 'stars', { price: 0, sort_order: 0 })
    expect((await shopOf()).packs).toEqual([{ ...PACK, code: 'stars', price: 0 }, PACK])
  })

  test.each([
    ['no pack is sold', 'update traffic_packs set archived = 1'],
    [
      'no subscription has a quota',
      'update subscriptions set quota_bytes = null, used_bytes = 0, quota_notice = 0, limited_at = null',
    ],
    ['all have ended', "update subscriptions set expires_at = '2020-01-01T00:00:00'"],
  ])('has no such key where %s', async (_what, change) => {
    shop.w.change(change)
    expect(await shopOf()).not.toHaveProperty('packs')
  })
})
