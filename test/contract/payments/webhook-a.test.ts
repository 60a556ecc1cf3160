import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pause } from '#src/lib/pause.ts'
import {
  addFormerCredentials,
  auditOf,
  eventsOf,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
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

/** Until notices that were sent at once have all come to the question. */
const ARRIVAL_MS = 200

describe('provider A', () => {
  const BAD: [what: string, raw: string | Uint8Array, error: string][] = [
    ['no body', '', 'invalid JSON'],
    ['no JSON', '{"event":', 'invalid JSON'],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), 'invalid JSON'],
    ['a list', '[]', 'invalid JSON'],
    ['null', 'null', 'invalid JSON'],
    ['a text', '"payment.succeeded"', 'invalid JSON'],
    ['no event', '{}', 'unsupported event'],
    ['an event that is no text', '{"event":["payment.succeeded"]}', 'unsupported event'],
    ['a refund', '{"event":"refund.succeeded","object":{"payment_id":"x"}}', 'unsupported event'],
    ['another event', '{"event":"payout.succeeded"}', 'unsupported event'],
    ['an event in other letters', '{"event":"Payment.Succeeded"}', 'unsupported event'],
    ['a name of every object', '{"event":"constructor"}', 'unsupported event'],
    ['no object', '{"event":"payment.succeeded"}', 'payment_id is missing'],
    ['a list as object', '{"event":"payment.succeeded","object":[]}', 'payment_id is missing'],
    ['no metadata', '{"event":"payment.canceled","object":{"id":"1"}}', 'payment_id is missing'],
    [
      'an empty payment_id',
      '{"event":"payment.succeeded","object":{"metadata":{"payment_id":""}}}',
      'payment_id is missing',
    ],
    [
      'a payment_id that is no text',
      '{"event":"payment.succeeded","object":{"metadata":{"payment_id":{"a":1}}}}',
      'payment_id is missing',
    ],
    [
      'an unknown payment',
      '{"event":"payment.succeeded","object":{"metadata":{"payment_id":"nobody"}}}',
      'unknown payment',
    ],
  ]
  test.each(BAD)('400 for %s', async (_what, raw, error) => {
    await shop.buy()
    const before = shop.w.dump()
    const answer = await send('provider_a', { raw })
    expect([answer.status, answer.json]).toEqual([400, { error }])
    expect(shop.w.dump()).toBe(before)
    expect(shop.a.calls.filter(({ method }) => method === 'check')).toEqual([])
  })

  test('400 for a payment without external_id, which the reconciler then asks for once more', async () => {
    shop.a.creations.push({ outcome: 'unknown', reason: 'no answer', retryAfterMs: null })
    await expect(shop.buy()).rejects.toThrow('503')
    const { id } = shop.w.rows('select id from payments')[0]
    shop.w.clock.advance(10_000)
    const answer = await shop.noticeA(id, { externalId: 'yoo-1' })
    expect([answer.status, answer.json]).toEqual([400, { error: 'unknown payment' }])
    await idle()
    expect(shop.payment(id)).toMatchObject({ status: 'pending', next_check_at: nowOf(shop.w) })
  })

  test("400 for another provider's payment, which is not granted", async () => {
    const { id } = await shop.buy({ provider: 'provider_b' })
    shop.b.pay(shop.payment(id).external_id)
    const answer = await shop.noticeA(id)
    expect([answer.status, answer.json]).toEqual([400, { error: 'unknown payment' }])
    await idle()
    expect(shop.payment(id).status).toBe('pending')
    expect(shop.w.rows('select * from orphan_payments')).toEqual([])
  })

  test('200 and a grant once the provider itself says that it is paid', async () => {
    const { id, externalId } = await shop.buy()
    expect((await shop.noticeA(id)).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('pending')
    shop.a.pay(externalId)
    expect((await shop.noticeA(id, { event: 'payment.waiting_for_capture' })).json).toEqual(OK)
    await idle()
    const [sold] = shop.sold()
    expect(shop.payment(id)).toMatchObject({
      status: 'paid',
      paid_at: nowOf(shop.w),
      next_check_at: null,
      subscription_uuid: sold.uuid,
    })
    expect(sold).toMatchObject({
      tg_id: 1,
      node: 'de1',
      plan: '1m',
      payment_id: id,
      expires_at: '2026-03-31T12:00:00',
      active: 1,
    })
    expect([...shop.w.node.clients.keys()]).toEqual([sold.uuid])
    expect(eventsOf(shop.w)).toEqual([
      {
        event: 'payment.paid',
        status: 'skipped',
        data: {
          tg_id: 1,
          username: 'buyer',
          node: 'de1',
          node_label: 'Local',
          plan: '1m',
          plan_label: '30 days',
          subscription_uuid: sold.uuid,
          expires_at: '2026-03-31T12:00:00',
          payment_id: id,
          provider: 'provider_a',
          amount: 199,
          currency: 'RUB',
        },
      },
    ])
    const [message] = shop.w.rows('select tg_id, kind, payload from outbox')
    expect([message.tg_id, message.kind]).toEqual([1, 'granted'])
    expect(JSON.parse(message.payload)).toEqual({
      payment_id: id,
      node_label: 'Local',
      plan_label: '30 days',
      expires_at: '2026-03-31T12:00:00',
    })
    expect(auditOf(shop.w)).toEqual(['payment.create', 'payment.grant'])
  })

  test('a further notice of a paid payment changes nothing and asks nobody', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    await shop.noticeA(id)
    await idle()
    const before = shop.w.dump()
    const asked = shop.a.calls.length
    expect((await shop.noticeA(id)).json).toEqual(OK)
    expect((await shop.noticeA(id, { event: 'payment.canceled' })).json).toEqual(OK)
    await idle()
    expect(shop.w.dump()).toBe(before)
    expect(shop.a.calls.length).toBe(asked)
  })

  test('payment.canceled fails a payment only when the provider says so itself', async () => {
    const { id, externalId } = await shop.buy()
    expect((await shop.noticeA(id, { event: 'payment.canceled' })).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('pending')
    shop.a.fail(externalId)
    expect((await shop.noticeA(id)).json).toEqual(OK)
    expect(shop.payment(id)).toMatchObject({
      status: 'failed',
      failed_reason: 'expired',
      next_check_at: null,
    })
    expect(auditOf(shop.w)).toEqual(['payment.create', 'payment.fail'])
  })

  test('the external id of our row is asked about, not that of the notice', async () => {
    const mine = await shop.buy()
    const other = await shop.buy({ plan: '3m' })
    shop.a.pay(mine.externalId)
    expect((await shop.noticeA(other.id, { externalId: mine.externalId })).json).toEqual(OK)
    await idle()
    expect(shop.payment(other.id).status).toBe('pending')
    expect(shop.payment(mine.id).status).toBe('pending')
    expect(shop.a.calls.at(-1)).toMatchObject({ method: 'check', id: other.externalId })
  })

  test('200 without an effect but a check soon when the provider gives no answer', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    shop.a.answer = { state: 'unknown', reason: 'HTTP 500', retryAfterMs: null }
    shop.w.clock.advance(10_000)
    expect((await shop.noticeA(id)).json).toEqual(OK)
    expect(shop.payment(id)).toMatchObject({ status: 'pending', next_check_at: nowOf(shop.w) })
    expect(shop.sold()).toEqual([])
  })

  test('notices at the same time share one question', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    const open = shop.a.hold()
    const answers = Array.from({ length: 10 }, () => shop.noticeA(id))
    await pause(ARRIVAL_MS)
    open()
    expect((await Promise.all(answers)).map(({ json }) => json)).toEqual(answers.map(() => OK))
    expect(shop.a.calls.filter(({ method }) => method === 'check')).toHaveLength(1)
    expect(shop.sold()).toHaveLength(1)
  })

  test('who comes while a question is under way that brings "pending" has it asked again', async () => {
    const { id, externalId } = await shop.buy()
    const open = shop.a.hold()
    const early = shop.noticeA(id)
    await pause(ARRIVAL_MS)
    shop.a.pay(externalId)
    const late = [shop.noticeA(id), shop.noticeA(id)]
    await pause(ARRIVAL_MS)
    open()
    await Promise.all([early, ...late])
    expect(shop.payment(id).status).toBe('paid')
    expect(shop.a.calls.filter(({ method }) => method === 'check')).toHaveLength(2)
  })

  test('a payment of the shop before the last change of credentials is asked about with the old ones', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    putSettings(shop.w, { PROVIDER_A_SHOP_ID: 'new-shop', PROVIDER_A_SECRET_KEY: 'live_new' })
    const former = { provider: 'provider_a', shop_id: '100500', secret: 'live_a' }
    addFormerCredentials(shop.w, { ...former, replaced_at: '2026-02-18T00:00:00' })
    await shop.noticeA(id)
    expect(shop.a.calls.at(-1)?.shop).toMatchObject({ shopId: '100500', secret: 'live_a' })
    expect(shop.payment(id).status).toBe('paid')
  })

  test('nobody is asked about a payment whose shop nobody has credentials of', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    putSettings(shop.w, { PROVIDER_A_SHOP_ID: 'new-shop', PROVIDER_A_SECRET_KEY: 'live_new' })
    expect((await shop.noticeA(id)).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('pending')
    expect(shop.a.calls.filter(({ method }) => method === 'check')).toEqual([])
  })

  test('payments go on when payments and the provider are switched off', async () => {
    const { id, externalId } = await shop.buy()
    putSettings(shop.w, { PAYMENTS_ENABLED: 'false', PROVIDER_A_ENABLED: 'false' })
    shop.a.pay(externalId)
    await shop.noticeA(id)
    expect(shop.payment(id).status).toBe('paid')
  })
})
