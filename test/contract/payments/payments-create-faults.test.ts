/** Orders whose link is not given again, orders past the limit, and those whose provider refuses or gives no answer. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { creationsOf, ORDER, orderIn, paymentsOf } from '#test/support/calls/cabinet-orders.ts'
import {
  addNode,
  addPayment,
  addSubscription,
  auditOf,
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
  const OTHERS: [what: string, change: () => unknown, body?: Record<string, string>][] = [
    ['is for another plan', () => {}, { plan: '3m' }],
    ['is for another provider', () => {}, { provider: 'provider_b' }],
    ['has another price by now', () => shop.w.change('update plans set price = price + 1')],
    ['has another length by now', () => shop.w.change('update plans set days = days + 1')],
    ['has failed', () => shop.w.change("update payments set status = 'failed'")],
    ['is paid', () => shop.w.change("update payments set status = 'paid'")],
    ['is in review', () => shop.w.change("update payments set review_reason = 'x'")],
    ['is of another user', () => shop.w.change('update payments set tg_id = 2')],
    ['is of a former shop', () => shop.w.change("update payments set shop_id = 'old'")],
    [
      'lengthens a subscription',
      () => shop.w.change('update payments set renews_uuid = ?', addSubscription(shop.w, 1)),
    ],
  ]
  test.each(OTHERS)('a link is not given again when it %s', async (_what, change, body = {}) => {
    const { id } = await shop.buy()
    change()
    expect((await shop.buy(body)).id).not.toBe(id)
  })

  test('429 after 5 new payments in 10 minutes, whatever became of them', async () => {
    const plans = ['1m', '3m', '6m', '12m']
    for (const plan of plans) await shop.buy({ plan })
    shop.w.clock.advance(60_000)
    await shop.buy({ provider: 'cryptobot' })
    shop.w.change("update payments set status = 'failed'")
    const before = shop.w.dump()
    const answer = await order(ORDER)
    expect([answer.status, answer.json]).toEqual([
      429,
      { error: 'too many attempts, try again later' },
    ])
    expect(answer.headers.get('retry-after')).toBe('540')
    expect(shop.w.dump()).toBe(before)
    shop.w.clock.advance(540_000)
    expect((await order(ORDER)).status).toBe(200)
    // The one that was made later still counts, and so do four new ones.
    shop.w.change("update payments set status = 'failed'")
    for (const plan of plans.slice(0, 3)) await shop.buy({ plan })
    expect((await order({ ...ORDER, plan: '12m' })).status).toBe(429)
  })

  test('of 20 orders at once 5 become payments, one each', async () => {
    addNode(shop.w, 'nl1')
    const plans = ['1m', '3m', '6m', '12m']
    const providers = ['provider_a', 'provider_b', 'cryptobot']
    const orders = ['de1', 'nl1'].flatMap((node) =>
      plans.flatMap((plan) => providers.map((provider) => ({ node, plan, provider }))),
    )
    const answers = await Promise.all(orders.slice(0, 20).map((body) => order(body)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
    expect(payments()).toHaveLength(5)
  })

  test('the same order ten times at once is one payment at a provider that takes our key', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => order(ORDER)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(payments()).toHaveLength(1)
    expect(shop.a.known.size).toBe(1)
  })

  test('400 when the provider refuses, and the payment has failed', async () => {
    shop.a.creations.push({ outcome: 'refused', reason: 'receipt is missing' })
    const answer = await order(ORDER)
    expect([answer.status, answer.json]).toEqual([
      400,
      { error: 'the provider refused the payment' },
    ])
    expect(payments()).toMatchObject([{ status: 'failed', failed_reason: 'receipt is missing' }])
    expect(auditOf(shop.w)).toEqual(['payment.create', 'payment.fail'])
  })

  test('503 when the provider gives no answer; the next tap asks with the same key and the same words', async () => {
    shop.a.creations.push({ outcome: 'unknown', reason: 'no answer', retryAfterMs: 7001 })
    const answer = await order(ORDER)
    expect([answer.status, answer.json]).toEqual([
      503,
      { error: 'the provider gives no answer, try again' },
    ])
    expect(answer.headers.get('retry-after')).toBe('8')
    expect(payments()).toMatchObject([{ status: 'pending', external_id: '' }])
    putSettings(shop.w, { BRAND_NAME: 'Another', RECEIPT_MODE: 'on', RECEIPT_EMAIL: 'a@b.test' })
    shop.w.clock.advance(60_000)
    await shop.buy()
    const [first, second] = creations()
    expect(second?.order).toEqual(first?.order)
    expect(payments()).toMatchObject([{ external_id: 'yoo-1' }])
  })

  test('after a day another payment is made, because the key may count as a new one', async () => {
    shop.a.creations.push({ outcome: 'unknown', reason: 'no answer', retryAfterMs: null })
    await order(ORDER)
    shop.w.clock.advance(23 * 3_600_000)
    await shop.buy()
    expect(payments()).toHaveLength(2)
  })

  test('a provider without such keys is asked for another payment', async () => {
    shop.b.creations.push({ outcome: 'unknown', reason: 'no answer', retryAfterMs: null })
    await order({ ...ORDER, provider: 'provider_b' })
    await shop.buy({ provider: 'provider_b' })
    expect(payments()).toMatchObject([{ external_id: '' }, { external_id: 'platega-1' }])
  })

  test('no link of a payment that has failed meanwhile', async () => {
    const open = shop.a.hold()
    const asked = order(ORDER)
    await vi.waitFor(() => expect(shop.a.calls).toHaveLength(1))
    shop.w.change("update payments set status = 'failed'")
    open()
    expect((await asked).json).toEqual({ error: 'the provider refused the payment' })
  })

  test('503 when a restore took the row away meanwhile, and nobody gets the link', async () => {
    const open = shop.a.hold()
    const asked = order(ORDER)
    await vi.waitFor(() => expect(shop.a.calls).toHaveLength(1))
    shop.w.change('delete from payments')
    open()
    expect((await asked).status).toBe(503)
  })

  test('503 when a provider gives the id of another payment', async () => {
    addPayment(shop.w, { external_id: 'yoo-1' })
    const answer = await order(ORDER)
    expect(answer.status).toBe(503)
    expect(payments()).toMatchObject([{ external_id: 'yoo-1' }, { external_id: '' }])
    expect(shop.w.log.some((line) => line.includes('the same id'))).toBe(true)
  })
})
