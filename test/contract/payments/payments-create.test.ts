import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { creationsOf, ORDER, orderIn, paymentsOf } from '#test/support/calls/cabinet-orders.ts'
import {
  addSubscription,
  addUser,
  auditOf,
  DAY,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})
afterEach(() => {
  expect(shop.w.fatal).toEqual([])
  expect(shop.w.log.filter((line) => line.includes('request failed'))).toEqual([])
  shop.w.close()
})

const order = (body: object, token?: string) => orderIn(shop, body, token)
const creations = () => creationsOf(shop)
const payments = () => paymentsOf(shop)

describe('POST /api/cabinet/{token}/payments', () => {
  test('200 with id and link: row first, then the provider, then external id and link', async () => {
    putSettings(shop.w, { RECEIPT_MODE: 'on', RECEIPT_EMAIL: 'shop@shop.test', VAT_CODE: '4' })
    const open = shop.a.hold()
    const asked = order(ORDER)
    await vi.waitFor(() => expect(creations()).toHaveLength(1))
    const [begun] = payments()
    expect(begun).toMatchObject({ status: 'pending', external_id: '', pay_url: null })
    expect(creations()).toEqual([
      {
        method: 'create',
        id: begun.id,
        shop: { shopId: '100500', secret: 'live_a' },
        order: {
          paymentId: begun.id,
          amount: 199,
          currency: 'RUB',
          description: 'Subpanel, Local, 30 days',
          tgId: 1,
          username: 'buyer',
          lang: 'en',
          returnUrl: 'https://site.test/pay/done',
          noticeUrl: 'https://site.test/payments/webhook/provider_a',
          receipt: { email: 'shop@shop.test', vatCode: 4 },
        },
      },
    ])
    open()
    const answer = await asked
    expect(answer.json).toEqual({ id: begun.id, pay_url: 'https://pay.test/yoo-1' })
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(payments()).toEqual([
      {
        ...begun,
        external_id: 'yoo-1',
        pay_url: 'https://pay.test/yoo-1',
        pay_url_expires_at: inSeconds(shop.w, 50 * 60),
        next_check_at: inSeconds(shop.w, 60),
        order_json: null,
      },
    ])
    expect(payments()[0]).toMatchObject({
      tg_id: 1,
      amount: 199,
      currency: 'RUB',
      days: 30,
      shop_id: '100500',
      source: 'site',
      created_at: nowOf(shop.w),
    })
    expect(auditOf(shop.w)).toEqual(['payment.create'])
  })

  const PROVIDERS: [provider: string, amount: number, currency: string, shopId: string][] = [
    ['provider_b', 199, 'RUB', 'merchant'],
    ['stars', 75, 'XTR', '4242'],
    ['cryptobot', 199, 'RUB', '777'],
  ]
  test.each(PROVIDERS)('200 for %s: %i %s', async (provider, amount, currency, shopId) => {
    shop.w.change("update plans set price_stars = 75 where code = '1m'")
    await shop.buy({ provider })
    expect(payments()).toMatchObject([{ provider, amount, currency, shop_id: shopId }])
  })

  test('the notice address of platega is its own', async () => {
    putSettings(shop.w, { PROVIDER_B_PRESET: 'platega' })
    await shop.buy({ provider: 'provider_b' })
    expect(shop.b.calls[0]?.order?.noticeUrl).toBe('https://site.test/payments/webhook/platega')
  })

  const RECEIPTS: [settings: Record<string, string>, receipt: object | undefined][] = [
    [{}, undefined],
    [{ RECEIPT_MODE: 'off', RECEIPT_EMAIL: 'a@b.test' }, undefined],
    [{ RECEIPT_MODE: 'on' }, undefined],
    [
      { RECEIPT_MODE: 'on', SUPPORT_EMAIL: 'a@b.test' },
      { email: 'a@b.test', vatCode: 1 },
    ],
    [
      { RECEIPT_MODE: 'auto', RECEIPT_EMAIL: 'a@b.test' },
      { email: 'a@b.test', vatCode: 1 },
    ],
  ]
  test.each(RECEIPTS)('with %j the receipt is %j', async (settings, receipt) => {
    putSettings(shop.w, settings)
    await shop.buy()
    expect(creations()[0]?.order?.receipt).toEqual(receipt)
  })

  test('a price that changes later does not change a payment', async () => {
    const { id, externalId } = await shop.buy()
    shop.w.change("update plans set price = 999, days = 5 where code = '1m'")
    shop.a.pay(externalId)
    await shop.noticeA(id)
    expect(shop.sold()).toMatchObject([{ expires_at: inSeconds(shop.w, 30 * DAY) }])
  })

  const REFUSALS: [what: string, prepare: () => unknown, body: object, error: string][] = [
    ['an unknown node', () => {}, { node: 'xx1' }, 'unknown node'],
    ['no node', () => {}, { node: undefined }, 'unknown node'],
    ['an unknown plan', () => {}, { plan: '9y' }, 'unknown plan'],
    ['an unknown provider', () => {}, { provider: 'provider_c' }, 'unknown provider'],
    ['a name of every object', () => {}, { provider: 'constructor' }, 'unknown provider'],
    [
      'a disabled node',
      () => shop.w.change('update nodes set enabled = 0'),
      {},
      'node is not for sale',
    ],
    [
      'an archived plan',
      () => shop.w.change('update plans set archived = 1'),
      {},
      'plan is archived',
    ],
    ['a price of 0', () => shop.w.change('update plans set price = 0'), {}, 'plan is not for sale'],
    ['a plan without a price in Stars', () => {}, { provider: 'stars' }, 'plan is not for sale'],
    [
      'payments that are off',
      () => putSettings(shop.w, { PAYMENTS_ENABLED: 'false' }),
      {},
      'payments are switched off',
    ],
    [
      'a provider that is off',
      () => putSettings(shop.w, { PROVIDER_A_ENABLED: 'false' }),
      {},
      'provider is not available',
    ],
    [
      'a provider without credentials',
      () => putSettings(shop.w, { PROVIDER_A_SECRET_KEY: '' }),
      {},
      'provider is not available',
    ],
    [
      'a banned user',
      () => shop.w.change("update users set banned_at = '2026-01-01T00:00:00'"),
      {},
      'nothing is sold to this user',
    ],
    ['an unknown subscription', () => {}, { renews: 'nobody' }, 'unknown subscription'],
  ]
  test.each(REFUSALS)('400 for %s', async (_what, prepare, body, error) => {
    prepare()
    const before = shop.w.dump()
    const answer = await order({ ...ORDER, ...body })
    expect([answer.status, answer.json]).toEqual([400, { error }])
    expect(shop.w.dump()).toBe(before)
    expect(shop.a.calls).toEqual([])
  })

  test("400 for another user's subscription, and for a revoked one", async () => {
    addUser(shop.w, 2)
    const foreign = addSubscription(shop.w, 2)
    const revoked = addSubscription(shop.w, 1, { active: 0 })
    for (const renews of [foreign, revoked]) {
      const answer = await order({ ...ORDER, renews })
      expect([answer.status, answer.json]).toEqual([400, { error: 'unknown subscription' }])
    }
  })

  test.each([
    ['no JSON', '{', 'invalid JSON'],
    ['a list', '[]', 'the body must be a JSON object'],
    ['no plan', '{"node":"de1"}', 'plan is missing or of the wrong type'],
    ['a plan that is no text', '{"plan":1,"provider":"stars"}', 'plan must be a string'],
    [
      'a node that is no text',
      '{"plan":"1m","provider":"stars","node":[]}',
      'node must be a string',
    ],
  ])('400 for %s', async (_what, raw, error) => {
    const answer = await shop.w.call(`/api/cabinet/${shop.token}/payments`, { raw })
    expect([answer.status, answer.json]).toEqual([400, { error }])
    expect(payments()).toEqual([])
  })

  test('404 for an unknown token', async () => {
    const answer = await order(ORDER, 'x'.repeat(43))
    expect([answer.status, answer.json]).toEqual([404, { error: 'not found' }])
  })

  test('an unexpired link is given again, and again after the limit', async () => {
    const first = await shop.buy()
    for (let i = 0; i < 10; i++) expect(await shop.buy()).toEqual(first)
    expect(creations()).toHaveLength(1)
    shop.w.clock.advance(49 * 60_000 - 1000)
    expect(await shop.buy()).toEqual(first)
    shop.w.clock.advance(1000)
    expect((await shop.buy()).id).not.toBe(first.id)
  })

  test('a hundred who want the same at once share one creation and one link', async () => {
    const open = shop.a.hold()
    const all = Array.from({ length: 100 }, () => shop.buy())
    const begun = () => shop.w.log.filter((line) => / step="row written"/.test(line))
    await vi.waitFor(() => expect(begun()).toHaveLength(100), 10_000)
    await vi.waitFor(() => expect(creations()).toHaveLength(1), 10_000)
    open()
    const made = await Promise.all(all)
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(new Set(made.map(({ payUrl }) => payUrl)).size).toBe(1)
    expect(creations()).toHaveLength(1)
    expect(payments()).toHaveLength(1)
  })

  test('what was begun so long ago that its link is dead is begun anew', async () => {
    shop.a.creations.push({ outcome: 'unknown', reason: 'x', retryAfterMs: null })
    await expect(shop.buy()).rejects.toThrow('503')
    const [{ id }] = payments()
    shop.w.clock.advance(49 * 60_000 - 1000)
    shop.a.creations.push({ outcome: 'unknown', reason: 'x', retryAfterMs: null })
    await expect(shop.buy()).rejects.toThrow('503')
    expect(payments()).toHaveLength(1)
    shop.w.clock.advance(1000)
    expect((await shop.buy()).id).not.toBe(id)
  })

  test("the provider's own end of a link counts where it says one", async () => {
    shop.b.expiresAt = new Date(shop.w.clock.now().getTime() + 15 * 60_000)
    const first = await shop.buy({ provider: 'provider_b' })
    shop.w.clock.advance(14 * 60_000 - 1000)
    expect((await shop.buy({ provider: 'provider_b' })).id).toBe(first.id)
    shop.w.clock.advance(1000)
    expect((await shop.buy({ provider: 'provider_b' })).id).not.toBe(first.id)
  })
})

describe('POST /admin/api/payments', () => {
  test('200 with a link for a user who is created', async () => {
    const body = { tg_id: 5, ...ORDER }
    const answer = await shop.w.admin('/admin/api/payments', { body })
    expect(answer.json).toEqual({
      id: payments()[0].id,
      pay_url: 'https://pay.test/yoo-1',
    })
    expect(payments()).toMatchObject([{ tg_id: 5, source: 'admin' }])
    expect(shop.w.rows('select tg_id from users order by 1')).toEqual([{ tg_id: 1 }, { tg_id: 5 }])
    expect(shop.w.rows('select admin, action from audit_log')).toEqual([
      { admin: 'admin', action: 'payment.create' },
    ])
  })

  test('a refusal creates no user', async () => {
    const before = shop.w.dump()
    const body = { tg_id: 5, ...ORDER, plan: 'nope' }
    const answer = await shop.w.admin('/admin/api/payments', { body })
    expect([answer.status, answer.json]).toEqual([400, { error: 'unknown plan' }])
    expect(shop.w.dump()).toBe(before)
  })

  test.each([0, 1.5, 1.5, '5', null, 2 ** 53])('400 for the tg_id %j', async (tgId) => {
    const body = { tg_id: tgId, ...ORDER }
    const answer = await shop.w.admin('/admin/api/payments', { body })
    expect(answer.status).toBe(400)
    expect(answer.json.error).toMatch(/^tg_id must be a whole number/)
  })
})
