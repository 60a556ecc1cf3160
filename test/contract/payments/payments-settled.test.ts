/** Payments that an admin grants, calls refunded or finds without an owner. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { noteOrphan } from '#src/domain/payments/orphans.ts'
import { closeDesk, getPayments, postPayments } from '#test/support/calls/payment-desk.ts'
import {
  addPayment,
  addSubscription,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createShop, type Shop } from '#test/support/worlds/shop.ts'

const BASE = '/admin/api/payments'
let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})

afterEach(() => closeDesk(shop))

const get = (query?: string) => getPayments(shop, query)
const post = (path: string, body?: unknown) => postPayments(shop, path, body)

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
