import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { GATEWAY_IDS } from '#src/integrations/payments/index.ts'
import { closeDesk, getPayments, postPayments } from '#test/support/calls/payment-desk.ts'
import { addPayment, inSeconds, nowOf } from '#test/support/rows/records.ts'
import { createShop, type Shop } from '#test/support/worlds/shop.ts'

const _BASE = '/admin/api/payments'
let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})

afterEach(() => closeDesk(shop))

const get = (query?: string) => getPayments(shop, query)
const post = (path: string, body?: unknown) => postPayments(shop, path, body)
const idsOf = (answer: { json: { id: string }[] }) => answer.json.map(({ id }) => id)

describe('GET /admin/api/payments', () => {
  test('200 with every field but the stored order', async () => {
    const { id } = await shop.buy()
    await confirmPayment(shop.w.s, id, { state: 'paid' })
    const answer = await get()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-total-count')).toBe('1')
    expect(answer.json).toEqual([
      {
        id,
        tg_id: 1,
        username: 'buyer',
        node: 'de1',
        node_label: 'Local',
        plan: '1m',
        plan_label: '30 days',
        provider: 'provider_a',
        provider_label: 'YooKassa',
        external_id: 'yoo-1',
        status: 'paid',
        amount: 199,
        currency: 'RUB',
        days: 30,
        source: 'site',
        pay_url: 'https://pay.test/yoo-1',
        pay_url_expires_at: inSeconds(shop.w, 3000),
        created_at: nowOf(shop.w),
        paid_at: nowOf(shop.w),
        failed_reason: null,
        review_reason: null,
        refunded_at: null,
        deleted_user: false,
        next_check_at: null,
        checks: 0,
        renews_uuid: null,
        subscription_uuid: shop.sold()[0].uuid,
      },
    ])
  })

  test('labels fall back to codes', async () => {
    addPayment(shop.w, { node: 'gone', plan: 'gone', tg_id: 99, provider: 'provider_b' })
    expect((await get()).json).toMatchObject([
      { node_label: 'gone', plan_label: 'gone', username: null, provider_label: 'Payment gateway' },
    ])
  })

  test('filters and searches', async () => {
    const key = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
    addPayment(shop.w, { id: key(1), external_id: 'ext-1' })
    addPayment(shop.w, {
      id: key(2),
      tg_id: 12,
      status: 'paid',
      subscription_uuid: null,
      deleted_user: 1,
    })
    addPayment(shop.w, { id: key(3), tg_id: 120, provider: 'provider_b', review_reason: 'x' })
    addPayment(shop.w, {
      id: key(4),
      tg_id: 2,
      node: 'nl1',
      plan: '3m',
      status: 'failed',
      external_id: key(9),
    })
    const expected: [query: string, ids: number[]][] = [
      ['', [4, 3, 2, 1]],
      ['?order=asc', [1, 2, 3, 4]],
      ['?status=all', [4, 3, 2, 1]],
      ['?status=pending', [3, 1]],
      ['?status=paid', [2]],
      ['?status=failed', [4]],
      ['?review=1', [3]],
      ['?review=true', [3]],
      ['?review=0', [4, 3, 2, 1]],
      ['?provider=provider_b', [3]],
      ['?node=nl1', [4]],
      ['?plan=3m', [4]],
      ['?tg_id=12', [2]],
      ['?q=12', [3, 2]],
      ['?q=@buy', [1]],
      ['?q=BUYER', [1]],
      ['?q=ext-1', [1]],
      ['?q=ext', []],
      [`?q=${key(3)}`, [3]],
      [`?q=${key(9)}`, [4]],
      ['?q=%25', []],
      ['?status=pending&review=1&tg_id=1', []],
    ]
    for (const [query, ids] of expected) {
      expect(idsOf(await get(query)), query).toEqual(ids.map(key))
    }
  })

  test('pages by key', async () => {
    for (let i = 0; i < 7; i++) {
      addPayment(shop.w, { id: `p${i}` })
      if (i % 3 === 0) shop.w.clock.advance(1000)
    }
    const seen: string[] = []
    let query: string | undefined = '?limit=3'
    while (query) {
      const answer = await get(query)
      expect(answer.headers.get('x-total-count')).toBe('7')
      seen.push(...idsOf(answer))
      query = /<[^?]+([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(['p6', 'p5', 'p4', 'p3', 'p2', 'p1', 'p0'])
  })

  test.each([
    ['?status=done', 'status must be one of pending, paid, failed, all'],
    ['?provider=x', `provider must be one of ${GATEWAY_IDS.join(', ')}`],
    ['?review=yes', 'review must be 1 or 0'],
    ['?tg_id=x', 'tg_id must be a whole number from 1 to 9007199254740991'],
    ['?cursor=x', 'cursor is not one of this list'],
  ])('400 for %s', async (query, error) => {
    const answer = await get(query)
    expect([answer.status, answer.json]).toEqual([400, { error }])
  })
})

describe('POST /admin/api/payments/{id}/check', () => {
  const check = async (id: string) => (await post(`/${id}/check`)).json

  test('a paid status grants, a failed one fails, a pending one changes nothing', async () => {
    const paid = await shop.buy()
    const failed = await shop.buy({ plan: '3m' })
    const pending = await shop.buy({ plan: '6m' })
    shop.a.pay(paid.externalId)
    shop.a.fail(failed.externalId)
    expect(await check(paid.id)).toEqual({ status: 'paid' })
    expect(await check(failed.id)).toEqual({ status: 'failed' })
    const before = shop.w.dump()
    expect(await check(pending.id)).toEqual({ status: 'pending' })
    expect(shop.w.dump()).toBe(before)
    expect(shop.sold()).toHaveLength(1)
    expect(
      shop.w.rows('select admin, action from audit_log where admin is not null order by id'),
    ).toEqual([
      { admin: 'admin', action: 'payment.grant' },
      { admin: 'admin', action: 'payment.fail' },
    ])
  })

  test('a payment that is not pending is not asked about', async () => {
    for (const status of ['paid', 'failed']) {
      addPayment(shop.w, { id: status, status, external_id: status, deleted_user: 1 })
      expect(await check(status)).toEqual({ status })
    }
    expect(shop.a.calls).toEqual([])
  })

  test('an empty external_id leaves pending, and nobody is asked', async () => {
    addPayment(shop.w, { id: 'p' })
    expect(await check('p')).toEqual({ status: 'pending' })
    expect(shop.a.calls).toEqual([])
  })

  test('a provider error leaves pending and says that there was no answer', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    shop.a.answer = { state: 'unknown', reason: 'HTTP 500', retryAfterMs: null }
    const unanswered = await post(`/${id}/check`)
    expect(unanswered.json).toEqual({ status: 'pending' })
    expect(unanswered.headers.get('x-provider-answer')).toBe('none')
    expect(shop.payment(id)).toMatchObject({ status: 'pending', next_check_at: nowOf(shop.w) })
    shop.a.answer = null
    expect((await post(`/${id}/check`)).headers.get('x-provider-answer')).toBeNull()
  })

  test('a mismatch leaves pending', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId, { amount: '1.00' })
    expect(await check(id)).toEqual({ status: 'pending' })
    expect(shop.payment(id).review_reason).toBe('paid with another amount')
  })
})
