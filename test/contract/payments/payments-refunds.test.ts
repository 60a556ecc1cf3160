/** Money that went back: whole or in part, of what one payment gave and of what several did. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditPayments } from '#src/domain/payments/audit.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { markRefunded } from '#src/domain/payments/review.ts'
import {
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
  putSettings(shop.w, { ADMIN_TG_IDS: '77' })
})
afterEach(() => closeShop(shop))

const post = (id: string, verb: string, body: object = {}) =>
  shop.w.admin(`/admin/api/payments/${id}/${verb}`, { method: 'POST', body })
const checks = () => shop.a.calls.filter(({ method }) => method === 'check').length
const alerts = () =>
  shop.w
    .rows("select payload from outbox where kind = 'alert' order by id")
    .map(({ payload }) => JSON.parse(payload).reason)

async function granted(order: Record<string, unknown> = {}) {
  const { id, externalId } = await shop.buy(order)
  shop.a.pay(externalId)
  await shop.noticeA(id)
  await shop.w.s.background.idle()
  expect(shop.payment(id).status).toBe('paid')
  return { id, externalId }
}

describe('a subscription that two payments paid for', () => {
  const expiry = () => shop.w.rows('select active, expires_at from subscriptions')
  async function boughtAndRenewed() {
    const one = await granted()
    const two = await granted({ renews: shop.payment(one.id).subscription_uuid })
    expect(expiry()).toEqual([{ active: 1, expires_at: inSeconds(shop.w, 60 * DAY) }])
    return { one, two }
  }

  test('loses only the days of the first when that is refunded with revoke, once', async () => {
    const { one, two } = await boughtAndRenewed()
    for (let i = 0; i < 3; i++) await post(one.id, 'refunded', { revoke: true })
    expect(expiry()).toEqual([{ active: 1, expires_at: inSeconds(shop.w, 30 * DAY) }])
    expect(shop.w.node.clients.size).toBe(1)
    expect(eventsOf(shop.w).map(({ event }) => event)).toEqual(['payment.paid', 'payment.paid'])
    expect(auditOf(shop.w).filter((action) => action === 'subscription.shorten')).toHaveLength(1)
    expect(shop.payment(two.id).status).toBe('paid')
  })

  test('has nothing left when both are refunded with revoke', async () => {
    const { one, two } = await boughtAndRenewed()
    await post(one.id, 'refunded', { revoke: true })
    shop.w.clock.advance(1000)
    await post(two.id, 'refunded', { revoke: true })
    expect(expiry()[0].expires_at <= nowOf(shop.w)).toBe(true)
    expect(shop.w.node.clients.size).toBe(0)
  })

  test('is revoked with the first when the second was refunded before', async () => {
    const { one, two } = await boughtAndRenewed()
    await post(two.id, 'refunded', { revoke: true })
    await post(one.id, 'refunded', { revoke: true })
    expect(expiry()).toMatchObject([{ active: 0 }])
    expect(shop.w.node.clients.size).toBe(0)
  })

  test('is not revoked when the second is paid while the first is refunded', async () => {
    const one = await granted()
    const two = await shop.buy({ renews: shop.payment(one.id).subscription_uuid })
    const { s } = shop.w
    await Promise.all([
      markRefunded(s, { admin: 'admin', ip: '' }, one.id, { revoke: true }),
      confirmPayment(s, two.id, { state: 'paid', amount: '199.00', currency: 'RUB' }),
    ])
    await s.background.idle()
    const active = expiry().filter((row) => row.active === 1)
    expect(active).toEqual([{ active: 1, expires_at: inSeconds(shop.w, 30 * DAY) }])
    expect(shop.w.node.clients.size).toBe(1)
  })

  test('stays as it is without revoke', async () => {
    const { one } = await boughtAndRenewed()
    await post(one.id, 'refunded')
    expect(expiry()).toEqual([{ active: 1, expires_at: inSeconds(shop.w, 60 * DAY) }])
  })
})

describe('a part of the money that went back', () => {
  const REASON = 'partly refunded at the provider: 50.00'
  const notice = (externalId: string) =>
    shop.send('provider_a', {
      body: { event: 'refund.succeeded', object: { id: 'r1', payment_id: externalId } },
    })
  const revenue = async () => (await shop.w.admin('/admin/api/stats')).json.revenue.today

  test('is looked at by an admin, and the payment stays earned', async () => {
    const { id, externalId } = await granted()
    expect(await revenue()).toBe(199)
    shop.a.pay(externalId, { refundedPart: '50.00' })
    await notice(externalId)
    expect(shop.payment(id)).toMatchObject({
      status: 'paid',
      review_reason: REASON,
      refunded_at: null,
    })
    expect(await revenue()).toBe(199)
    expect(alerts()).toEqual([REASON])
  })

  test('is no news after the admin has looked, and the rest is', async () => {
    const { id, externalId } = await granted()
    shop.a.pay(externalId, { refundedPart: '50.00' })
    await notice(externalId)
    expect((await post(id, 'grant')).json).toEqual({ status: 'paid' })
    expect(shop.payment(id)).toMatchObject({ status: 'paid', review_reason: null })
    expect(auditOf(shop.w)).toContain('payment.kept')
    shop.w.clock.advance(DAY * 1000)
    await notice(externalId)
    await auditPayments(shop.w.s)
    expect(shop.payment(id).review_reason).toBeNull()
    shop.a.pay(externalId, { refundedPart: '70.00' })
    await auditPayments(shop.w.s)
    expect(shop.payment(id).review_reason).toBe('partly refunded at the provider: 70.00')
    shop.a.pay(externalId, { refunded: true })
    await auditPayments(shop.w.s)
    expect(shop.payment(id)).toMatchObject({
      review_reason: 'refunded at the provider',
      refunded_at: nowOf(shop.w),
    })
    expect(shop.sold()).toHaveLength(1)
    expect(alerts()).toHaveLength(3)
  })

  test('keeps a payment from being granted by itself', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId, { refundedPart: '50.00' })
    await shop.noticeA(id)
    expect(shop.payment(id)).toMatchObject({ status: 'pending', review_reason: REASON })
    expect((await post(id, 'grant')).json).toEqual({ status: 'paid' })
    expect(shop.sold()).toHaveLength(1)
  })
})

describe('a refund that an admin has noted', () => {
  async function refundedBill(provider: string) {
    shop.w.change("update plans set price_stars = 100 where code = '1m'")
    const bill = await shop.buy({ provider })
    const gateway = provider === 'stars' ? shop.stars : shop.cryptobot
    gateway.pay(bill.externalId, { amount: '1.00' })
    await post(bill.id, 'check')
    expect(shop.payment(bill.id).review_reason).toBe('paid with another amount')
    await post(bill.id, 'refunded')
    return bill
  }

  test('ends the bill: whoever orders the same again gets another one', async () => {
    const bill = await refundedBill('cryptobot')
    const again = await shop.buy({ provider: 'cryptobot' })
    expect(again.id).not.toBe(bill.id)
    shop.cryptobot.pay(again.externalId)
    await post(again.id, 'check')
    expect(shop.sold()).toHaveLength(1)
  })

  test('hides no second payment of the same bill', async () => {
    const { id, externalId } = await refundedBill('stars')
    const state = { state: 'paid', amount: '100', currency: 'XTR' } as const
    const by = { provider: 'stars', externalId: 'another charge' } as const
    await confirmPayment(shop.w.s, id, state, by)
    expect(shop.payment(id)).toMatchObject({ status: 'pending', external_id: externalId })
    expect(shop.sold()).toEqual([])
  })

  test('is no news when the provider says it too', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId, { amount: '198.00' })
    await shop.noticeA(id)
    shop.a.pay(externalId, { amount: '198.00', refunded: true })
    await post(id, 'refunded')
    const before = alerts()
    for (let i = 0; i < 2; i++) {
      const asked = checks()
      await auditPayments(shop.w.s)
      expect(checks()).toBe(asked)
      await shop.noticeA(id)
      shop.w.clock.advance(DAY * 1000)
    }
    expect(shop.payment(id).review_reason).toBeNull()
    expect(alerts()).toEqual(before)
  })

  test('is no news of a payment that was paid after it had failed', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.fail(externalId)
    await shop.noticeA(id)
    shop.a.pay(externalId)
    await shop.noticeA(id)
    await post(id, 'refunded')
    shop.a.pay(externalId, { refunded: true })
    shop.w.clock.advance(60_000)
    await shop.noticeA(id)
    expect(shop.payment(id)).toMatchObject({ status: 'failed', review_reason: null })
  })
})
