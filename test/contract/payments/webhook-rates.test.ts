/** How often a provider is asked because of notices that anybody may send, and that the true ones among them still count. */
import { createHash, createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { addPayment, nowOf, putSettings } from '#test/support/rows/records.ts'
import {
  B_SECRET,
  closeShop,
  createShop,
  SHOP_ENVIRONMENT,
  type Shop,
} from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})
afterEach(() => closeShop(shop))

const OK = { ok: true }
const checks = () => shop.a.calls.filter(({ method }) => method === 'check').length
const SECOND = 1000

/** The headers of a true notice. */
function signedFor(webhook: string, raw: string): Record<string, string> {
  if (webhook === 'platega') return { 'x-merchantid': 'merchant', 'x-secret': B_SECRET }
  const key = createHash('sha256').update(SHOP_ENVIRONMENT.CRYPTOBOT_TOKEN).digest()
  return { 'crypto-pay-api-signature': createHmac('sha256', key).update(raw).digest('hex') }
}

describe('notices of one payment', () => {
  test('are asked about three times in ten seconds, and the rest is left to the reconciler', async () => {
    const { id, externalId } = await shop.buy()
    for (let i = 0; i < 50; i++) expect((await shop.noticeA(id)).json).toEqual(OK)
    expect(checks()).toBe(3)
    expect(shop.payment(id).next_check_at).toBe(nowOf(shop.w))
    shop.a.pay(externalId)
    expect((await shop.noticeA(id)).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('pending')
    await reconcilePayments(shop.w.s)
    expect(shop.payment(id).status).toBe('paid')
  })

  test('are heard again ten seconds after the first of three', async () => {
    const { id } = await shop.buy()
    for (let i = 0; i < 4; i++) {
      await shop.noticeA(id)
      shop.w.clock.advance(4 * SECOND)
    }
    expect(checks()).toBe(4)
    await shop.noticeA(id)
    await shop.noticeA(id)
    expect(checks()).toBe(5)
  })

  test('the second, right after one that came too early, grants at once', async () => {
    const { id, externalId } = await shop.buy()
    await shop.noticeA(id)
    shop.a.pay(externalId)
    await shop.noticeA(id)
    expect(shop.payment(id).status).toBe('paid')
  })

  test('do not use up what other payments have', async () => {
    const first = await shop.buy()
    const other = await shop.buy({ plan: '3m' })
    for (let i = 0; i < 10; i++) await shop.noticeA(first.id)
    shop.a.pay(other.externalId)
    await shop.noticeA(other.id)
    expect(shop.payment(other.id).status).toBe('paid')
  })

  test('that has failed are asked about once a minute, the first one at once', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.fail(externalId)
    await shop.noticeA(id)
    expect(shop.payment(id).status).toBe('failed')
    const before = checks()
    for (let i = 0; i < 50; i++) await shop.noticeA(id)
    expect(checks()).toBe(before + 1)
    shop.w.clock.advance(60 * SECOND)
    shop.a.pay(externalId)
    await shop.noticeA(id)
    expect(shop.payment(id).review_reason).toBe('paid after it had failed')
  })

  test.each([
    ['platega', (id: string) => ({ id, status: 'CONFIRMED' })],
    ['cryptobot', (id: string) => ({ payload: { invoice_id: id, status: 'paid' } })],
  ])('of %s are bounded too', async (webhook, notice) => {
    putSettings(shop.w, { PROVIDER_B_PRESET: 'platega' })
    const provider = webhook === 'platega' ? 'provider_b' : webhook
    const gateway = webhook === 'platega' ? shop.b : shop.cryptobot
    const { externalId } = await shop.buy({ provider })
    const raw = JSON.stringify(notice(externalId))
    const headers = signedFor(webhook, raw)
    for (let i = 0; i < 10; i++)
      expect((await shop.send(webhook, { raw, headers })).json).toEqual(OK)
    expect(gateway.calls.filter(({ method }) => method === 'check')).toHaveLength(3)
  })
})

describe('notices of many payments of one customer', () => {
  const add = (id: string, tgId: number) =>
    addPayment(shop.w, { id, external_id: `x-${id}`, shop_id: '100500', tg_id: tgId })

  test('are asked about six times in ten seconds and twenty times a minute, and others are heard at once', async () => {
    shop.a.answer = { state: 'pending' }
    for (let i = 0; i < 5; i++) add(`p${i}`, 1)
    add('other', 2)
    const all = async () => {
      for (let i = 0; i < 50; i++) await shop.noticeA(`p${i % 5}`)
    }
    await all()
    expect(checks()).toBe(6)
    // What was not asked about is due.
    expect(shop.payment('p4').next_check_at).toBe(nowOf(shop.w))
    await shop.noticeA('other')
    expect(shop.a.calls.at(-1)?.id).toBe('x-other')
    expect(checks()).toBe(7)
    for (let i = 0; i < 5; i++) {
      shop.w.clock.advance(10 * SECOND)
      await all()
    }
    expect(checks()).toBe(1 + 20)
    shop.w.clock.advance(10 * SECOND)
    await all()
    expect(checks()).toBe(1 + 20 + 6)
  })

  test('use up nothing of what the same customer has at another provider', async () => {
    putSettings(shop.w, { PROVIDER_B_PRESET: 'platega' })
    const { externalId } = await shop.buy({ provider: 'provider_b' })
    for (let i = 0; i < 5; i++) add(`p${i}`, 1)
    for (let i = 0; i < 50; i++) await shop.noticeA(`p${i % 5}`)
    shop.b.pay(externalId)
    const raw = JSON.stringify({ id: externalId, status: 'CONFIRMED' })
    await shop.send('platega', { raw, headers: signedFor('platega', raw) })
    expect(shop.w.rows("select id from payments where status = 'paid'")).toHaveLength(1)
  })
})

describe('a provider that wants to be left alone', () => {
  test('is not asked because of notices until its time is over', async () => {
    const one = await shop.buy()
    const two = await shop.buy({ plan: '3m' })
    shop.a.answer = { state: 'unknown', reason: 'HTTP 429', retryAfterMs: 90 * SECOND }
    await shop.noticeA(one.id)
    expect(checks()).toBe(1)
    shop.a.answer = null
    shop.a.pay(two.externalId)
    shop.w.clock.advance(89 * SECOND)
    for (let i = 0; i < 5; i++) expect((await shop.noticeA(two.id)).json).toEqual(OK)
    expect(checks()).toBe(1)
    // The reconciler has its own way of leaving it alone.
    expect(shop.payment(two.id)).toMatchObject({ status: 'pending', next_check_at: nowOf(shop.w) })
    shop.w.clock.advance(SECOND)
    await shop.noticeA(two.id)
    expect(shop.payment(two.id).status).toBe('paid')
  })

  test('does not keep another one from being asked', async () => {
    putSettings(shop.w, { PROVIDER_B_PRESET: 'platega' })
    const one = await shop.buy()
    shop.a.answer = { state: 'unknown', reason: 'HTTP 429', retryAfterMs: 90 * SECOND }
    await shop.noticeA(one.id)
    const other = await shop.buy({ provider: 'provider_b' })
    shop.b.pay(other.externalId)
    const raw = JSON.stringify({ id: other.externalId, status: 'CONFIRMED' })
    await shop.send('platega', { raw, headers: signedFor('platega', raw) })
    expect(shop.payment(other.id).status).toBe('paid')
  })
})

describe('refunds', () => {
  const refund = (externalId: string) =>
    shop.send('provider_a', {
      body: { event: 'refund.succeeded', object: { id: 'r1', payment_id: externalId } },
    })
  const paid = (externalId: string, tgId = 2) =>
    addPayment(shop.w, {
      ...{ id: `id-${externalId}`, external_id: externalId, shop_id: '100500', tg_id: tgId },
      ...{ status: 'paid', paid_at: nowOf(shop.w), deleted_user: 1 },
    })

  test('are noted however many unknown payments were told of', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    await shop.noticeA(id)
    shop.a.pay(externalId, { refunded: true })
    for (let i = 0; i < 60; i++) {
      await shop.noticeA('nobody', { externalId: `x${i}` })
      await shop.w.s.background.idle()
      shop.w.clock.advance(2 * SECOND)
    }
    await refund(externalId)
    expect(shop.payment(id)).toMatchObject({
      review_reason: 'refunded at the provider',
      refunded_at: nowOf(shop.w),
    })
  })

  test('of one payment are looked up three times a minute, whatever is told of others', async () => {
    paid('x1')
    paid('x2')
    for (let i = 0; i < 20; i++) await refund('x1')
    expect(checks()).toBe(3)
    await refund('x2')
    expect(checks()).toBe(4)
    shop.w.clock.advance(60 * SECOND)
    await refund('x1')
    expect(checks()).toBe(5)
  })

  test('that come while 16 questions are under way break nothing', async () => {
    for (let i = 0; i < 20; i++) paid(`x${i}`, 2 + i)
    const open = shop.a.hold()
    const notices = Array.from({ length: 20 }, (_, i) => refund(`x${i}`))
    await vi.waitFor(() => expect(checks()).toBe(16))
    // The others have to have come, too, and nothing tells it.
    await new Promise((resolve) => setTimeout(resolve, 300))
    open()
    for (const { status } of await Promise.all(notices)) expect(status).toBe(400)
    expect(checks()).toBe(16)
  })
})
