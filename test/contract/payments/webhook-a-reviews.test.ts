import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lookUpUnknown } from '#src/domain/payments/orphans.ts'
import { auditOf, eventsOf, putSettings } from '#test/support/rows/records.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'
import type { CallOptions } from '#test/support/worlds/world.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})
afterEach(() => closeShop(shop))

const idle = () => shop.w.s.background.idle()
const send = (path: string, options: CallOptions) => shop.send(path, options)

const OK = { ok: true }

describe('provider A', () => {
  const MISMATCHES: [what: string, paid: object, reason: string][] = [
    [
      'the id of another payment',
      { paymentId: 'another' },
      'the provider knows it as another payment',
    ],
    ['another amount', { amount: '198.99' }, 'paid with another amount'],
    ['an amount that is none', { amount: 'NaN' }, 'paid with another amount'],
    ['another currency', { currency: 'USD' }, 'paid in another currency'],
    ['a test', { test: true }, 'paid as a test'],
    ['a refund', { refunded: true }, 'refunded at the provider'],
  ]
  test.each(MISMATCHES)('no grant but a review for %s', async (_what, paid, reason) => {
    putSettings(shop.w, { ADMIN_TG_IDS: '77 78' })
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId, paid)
    for (let i = 0; i < 3; i++) expect((await shop.noticeA(id)).json).toEqual(OK)
    await idle()
    expect(shop.payment(id)).toMatchObject({ status: 'pending', review_reason: reason })
    expect(shop.sold()).toEqual([])
    expect(eventsOf(shop.w)).toEqual([])
    // Once, to every admin.
    const alerts = shop.w.rows("select tg_id, payload from outbox where kind = 'alert'")
    expect(alerts.map((row) => [row.tg_id, JSON.parse(row.payload)])).toEqual(
      [77, 78].map((tgId) => [tgId, { about: 'payment-in-review', payment: id, reason }]),
    )
  })

  test.each([
    [{ amount: '199' }],
    [{ amount: '199.0', currency: 'rub' }],
    [{ amount: undefined, currency: undefined }],
    [{ test: false }],
  ])('a grant for %j', async (paid) => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId, paid as { amount: string })
    await shop.noticeA(id)
    expect(shop.payment(id).status).toBe('paid')
  })

  test('a test is granted in a test shop', async () => {
    putSettings(shop.w, { PROVIDER_A_SECRET_KEY: 'test_a' })
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId, { test: true })
    await shop.noticeA(id)
    expect(shop.payment(id).status).toBe('paid')
  })

  test('a success after a failure is not granted but reviewed', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.fail(externalId)
    await shop.noticeA(id)
    shop.a.pay(externalId)
    await shop.noticeA(id)
    expect(shop.payment(id)).toMatchObject({
      status: 'failed',
      review_reason: 'paid after it had failed',
    })
    expect(shop.sold()).toEqual([])
  })

  test('an unknown payment that is truly paid becomes an orphan, once', async () => {
    const { id: gone } = await shop.buy()
    shop.w.change('delete from payments where id = ?', gone)
    shop.w.change('delete from audit_log')
    shop.a.pay('yoo-1', { amount: '5.00' })
    for (let i = 0; i < 3; i++) {
      const answer = await shop.noticeA('00000000-0000-4000-8000-000000000099', {
        externalId: 'yoo-1',
      })
      expect([answer.status, answer.json]).toEqual([400, { error: 'unknown payment' }])
      await idle()
      shop.w.clock.advance(3000)
    }
    expect(
      shop.w.rows('select provider, external_id, amount, currency from orphan_payments'),
    ).toEqual([{ provider: 'provider_a', external_id: 'yoo-1', amount: '5.00', currency: 'RUB' }])
    expect(auditOf(shop.w)).toEqual(['payment.orphan'])
  })

  test('a payment of ours that is told of by another id is no orphan, and is asked about', async () => {
    const granted = await shop.buy()
    shop.a.pay(granted.externalId)
    await shop.noticeA(granted.id)
    const open = await shop.buy({ plan: '3m' })
    shop.w.change('update payments set next_check_at = null')
    for (const { externalId } of [granted, open]) {
      await shop.noticeA('00000000-0000-4000-8000-000000000099', { externalId })
      await idle()
      shop.w.clock.advance(3000)
    }
    expect(shop.w.rows('select * from orphan_payments')).toEqual([])
    expect(shop.payment(granted.id).next_check_at).toBeNull()
    expect(shop.payment(open.id).next_check_at).not.toBeNull()
  })

  test('a payment whose row learns its id while it is looked up is no orphan', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    shop.w.change("update payments set external_id = ''")
    const answer = shop.a.hold()
    const looked = lookUpUnknown(shop.w.s, 'provider_a', externalId)
    shop.w.change('update payments set external_id = ?', externalId)
    answer()
    await looked
    expect(shop.w.rows('select * from orphan_payments')).toEqual([])
    expect(shop.payment(id).status).toBe('pending')
  })

  test('an unknown payment that is not paid, or refunded, is no orphan', async () => {
    const { id, externalId } = await shop.buy()
    shop.w.change('delete from payments where id = ?', id)
    await lookUpUnknown(shop.w.s, 'provider_a', externalId)
    shop.a.pay(externalId, { refunded: true })
    await lookUpUnknown(shop.w.s, 'provider_a', externalId)
    shop.a.answer = { state: 'unknown', reason: 'x', retryAfterMs: null }
    await lookUpUnknown(shop.w.s, 'provider_a', externalId)
    expect(shop.w.rows('select * from orphan_payments')).toEqual([])
  })

  test('unknown payments are looked up once in 2 seconds and 60 times an hour, 20 of them for an address, and only by proper ids', async () => {
    const lookUps = () => shop.a.calls.length
    const notice = async (externalId: string, address = '192.0.2.1') => {
      const object = { id: externalId, metadata: { payment_id: 'nobody' } }
      const headers = { 'x-real-ip': address }
      await send('provider_a', { headers, body: { event: 'payment.succeeded', object } })
    }
    for (const bad of ['', '../me', 'x'.repeat(65), 'a b', 'ä']) await notice(bad)
    expect(lookUps()).toBe(0)
    await notice('one')
    await notice('two')
    shop.w.clock.advance(1999)
    await notice('three')
    expect(lookUps()).toBe(1)
    for (let i = 0; i < 40; i++) {
      shop.w.clock.advance(2000)
      await notice(`id-${i}`)
    }
    expect(lookUps()).toBe(20)
    for (let i = 0; i < 100; i++) {
      shop.w.clock.advance(2000)
      await notice(`id-${i}`, ['192.0.2.2', '2001:db8::1', '2001:db8::2', '192.0.2.4'][i % 4])
    }
    expect(lookUps()).toBe(60)
    shop.w.clock.advance(3_600_000)
    await notice('later')
    expect(lookUps()).toBe(61)
  })

  test('refund.succeeded is answered 400 and marks a paid payment that the provider says is refunded', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    await shop.noticeA(id)
    const body = { event: 'refund.succeeded', object: { id: 'r1', payment_id: externalId } }
    const refund = async () => {
      const answer = await send('provider_a', { body })
      expect([answer.status, answer.json]).toEqual([400, { error: 'unsupported event' }])
      shop.w.clock.advance(2000)
    }
    await refund()
    expect(shop.payment(id)).toMatchObject({ refunded_at: null, review_reason: null })
    shop.a.pay(externalId, { refunded: true })
    await refund()
    expect(shop.payment(id)).toMatchObject({
      status: 'paid',
      review_reason: 'refunded at the provider',
    })
    expect(shop.payment(id).refunded_at).not.toBeNull()
    expect(shop.sold()[0].active).toBe(1)
    const asked = shop.a.calls.length
    await refund()
    expect(shop.a.calls.length).toBe(asked)
  })
})
