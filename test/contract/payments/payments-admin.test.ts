import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findFaults } from '#db/engine/sqlite/verify.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { noteOrphan } from '#src/domain/payments/orphans.ts'
import {
  addPayment,
  addSubscription,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/records.ts'
import { ask, expectDecent, scenarios } from '#test/support/scenario.ts'
import { createShop, type Shop } from '#test/support/shop.ts'

const BASE = '/admin/api/payments'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})
afterEach(() => {
  expect(shop.w.fatal).toEqual([])
  expect(shop.w.log.filter((line) => line.includes('request failed'))).toEqual([])
  expect(findFaults(shop.w.s.db.raw, '2000-01-01T00:00:00')).toEqual([])
  shop.w.close()
})

const get = async (query = '') => {
  const path = `${BASE}${query}`
  const answer = await ask(shop.w, { path })
  expectDecent(path, answer)
  return answer
}
const post = (path: string, body?: unknown) =>
  ask(shop.w, { path: `${BASE}${path}`, method: 'POST', ...(body === undefined ? {} : { body }) })
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
    ['?provider=x', 'provider must be one of provider_a, provider_b, stars, cryptobot'],
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

describe('POST /admin/api/payments/{id}/grant', () => {
  test.each([
    ['in review', { review_reason: 'paid with another amount' }],
    ['failed', { status: 'failed', failed_reason: 'expired', review_reason: 'late' }],
    ['just pending', {}],
  ])('200 and a grant for one that is %s', async (_what, row) => {
    addPayment(shop.w, { id: 'p', ...row })
    expect((await post('/p/grant')).json).toEqual({ status: 'paid' })
    expect(shop.payment('p')).toMatchObject({
      status: 'paid',
      review_reason: null,
      failed_reason: null,
    })
    expect(shop.sold()).toHaveLength(1)
    expect(shop.w.node.clients.size).toBe(1)
    expect(shop.w.rows('select admin, ip, action, object from audit_log')).toEqual([
      { admin: 'admin', ip: '127.0.0.1', action: 'payment.grant', object: 'p' },
    ])
  })

  test('200 without an effect for a paid one', async () => {
    const { id } = await shop.buy()
    await confirmPayment(shop.w.s, id, { state: 'paid' })
    await shop.w.s.background.idle()
    const before = shop.w.dump()
    expect((await post(`/${id}/grant`)).json).toEqual({ status: 'paid' })
    expect(shop.w.dump()).toBe(before)
  })

  test.each([
    ['unknown node', { node: 'gone' }],
    ['unknown plan', { plan: 'gone' }],
    ['payment is refunded', { refunded_at: '2026-01-01T00:00:00' }],
  ])('400 %s', async (error, row) => {
    addPayment(shop.w, { id: 'p', ...row })
    const before = shop.w.dump()
    const answer = await post('/p/grant')
    expect([answer.status, answer.json]).toEqual([400, { error }])
    expect(shop.w.dump()).toBe(before)
  })

  test('ten at once grant once', async () => {
    addPayment(shop.w, { id: 'p', status: 'failed' })
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('/p/grant')))
    expect(answers.map(({ json }) => json)).toEqual(answers.map(() => ({ status: 'paid' })))
    expect(shop.sold()).toHaveLength(1)
  })
})

describe('POST /admin/api/payments/{id}/refunded', () => {
  async function granted(order: Record<string, string> = {}) {
    const { id } = await shop.buy(order)
    await confirmPayment(shop.w.s, id, { state: 'paid' })
    await shop.w.s.background.idle()
    return id
  }

  test('200 with the payment, which is marked and out of review', async () => {
    const id = await granted()
    shop.w.change("update payments set review_reason = 'refunded at the provider'")
    shop.w.clock.advance(5000)
    const answer = await post(`/${id}/refunded`)
    expect(answer.json).toMatchObject({
      id,
      status: 'paid',
      refunded_at: nowOf(shop.w),
      review_reason: null,
    })
    expect(shop.sold()[0].active).toBe(1)
    shop.w.clock.advance(5000)
    const again = await post(`/${id}/refunded`, {})
    expect(again.json.refunded_at).toBe(answer.json.refunded_at)
  })

  test('with revoke the subscription ends, with its event', async () => {
    const id = await granted()
    const [{ uuid }] = shop.sold()
    for (let i = 0; i < 2; i++) await post(`/${id}/refunded`, { revoke: true })
    expect(shop.sold()).toMatchObject([{ active: 0 }])
    expect(shop.w.node.clients.size).toBe(0)
    const events = eventsOf(shop.w).filter(({ event }) => event === 'subscription.revoked')
    expect(events).toMatchObject([{ data: { subscription_uuid: uuid } }])
    expect(auditOf(shop.w)).toEqual([
      ...['payment.create', 'payment.grant'],
      ...['payment.refunded', 'subscription.revoke', 'payment.refunded'],
    ])
  })

  test('with revoke a renewal gives its days back, once', async () => {
    const uuid = addSubscription(shop.w, 1, { expires_at: inSeconds(shop.w, 10 * DAY) })
    const id = await granted({ renews: uuid })
    for (let i = 0; i < 3; i++) await post(`/${id}/refunded`, { revoke: true })
    const [row] = shop.w.rows('select * from subscriptions')
    expect(row).toMatchObject({ active: 1, expires_at: inSeconds(shop.w, 10 * DAY) })
    expect(shop.w.node.clients.size).toBe(1)
  })

  test('with revoke a renewal of what had run out leaves nothing', async () => {
    const uuid = addSubscription(shop.w, 1, { expires_at: inSeconds(shop.w, -10) })
    const id = await granted({ renews: uuid })
    expect(shop.w.node.clients.size).toBe(1)
    shop.w.clock.advance(1000)
    await post(`/${id}/refunded`, { revoke: true })
    expect(shop.w.node.clients.size).toBe(0)
  })

  test('a refunded payment that is pending is not granted by its provider any more', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId, { amount: '5.00' })
    await post(`/${id}/check`)
    const answer = await post(`/${id}/refunded`)
    expect(answer.json).toMatchObject({ status: 'pending', review_reason: null })
    shop.a.pay(externalId)
    await post(`/${id}/check`)
    expect(shop.sold()).toEqual([])
  })

  test('400 for a payment that is neither paid nor in review', async () => {
    const { id } = await shop.buy()
    const answer = await post(`/${id}/refunded`, { revoke: true })
    expect([answer.status, answer.json]).toEqual([400, { error: 'payment is not paid' }])
  })

  test('400 for a revoke that is no flag', async () => {
    const id = await granted()
    const before = shop.w.dump()
    const answer = await post(`/${id}/refunded`, { revoke: 'yes' })
    expect([answer.status, answer.json]).toEqual([400, { error: 'revoke must be true or false' }])
    expect(shop.w.dump()).toBe(before)
  })
})

scenarios('an unknown payment', [
  ...['check', 'grant', 'refunded'].map((verb) => ({
    name: `404 at ${verb}`,
    request: { path: `${BASE}/nobody/${verb}`, method: 'POST' },
    status: 404,
    error: 'payment not found',
  })),
  ...['99', 'x', '0'].map((id) => ({
    name: `404 for the orphan ${id}`,
    request: { path: `${BASE}/orphans/${id}/resolve`, method: 'POST' },
    status: 404,
    error: 'payment not found',
  })),
])

describe('orphans', () => {
  test('are listed until they are resolved', async () => {
    putSettings(shop.w, { ADMIN_TG_IDS: '77' })
    const orphan = { provider: 'provider_a', externalId: 'x1', amount: '5.00' } as const
    await noteOrphan(shop.w.s, orphan)
    await noteOrphan(shop.w.s, orphan)
    await noteOrphan(shop.w.s, { ...orphan, externalId: 'x2', currency: 'RUB' })
    await shop.w.s.background.idle()
    const alerts = shop.w.rows("select payload from outbox where kind = 'alert'")
    expect(alerts.map(({ payload }) => JSON.parse(payload).payment)).toEqual(['x1', 'x2'])
    const listed = {
      provider: 'provider_a',
      provider_label: 'YooKassa',
      amount: '5.00',
      found_at: nowOf(shop.w),
    }
    expect((await get('/orphans')).json).toEqual([
      { id: expect.any(Number), external_id: 'x2', currency: 'RUB', ...listed },
      { id: 1, external_id: 'x1', currency: null, ...listed },
    ])
    const [{ id }] = (await get('/orphans')).json
    for (let i = 0; i < 2; i++) {
      expect((await post(`/orphans/${id}/resolve`)).json).toEqual({ ok: true })
    }
    expect((await get('/orphans')).json).toMatchObject([{ id: 1 }])
    expect(auditOf(shop.w).filter((action) => action.includes('resolved'))).toHaveLength(1)
  })
})
