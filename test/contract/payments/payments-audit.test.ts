/** The daily audit of what provider A was paid. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditPayments } from '#src/domain/payments/audit.ts'
import { saveCredentials } from '#src/domain/payments/credentials.ts'
import { providerA } from '#src/integrations/payments/provider-a/index.ts'
import { auditOf, DAY, nowOf, putSettings } from '#test/support/rows/records.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})

afterEach(() => closeShop(shop))

const checks = () => shop.a.calls.filter(({ method }) => method === 'check').length

describe('the daily audit of provider A', () => {
  const audit = () => auditPayments(shop.w.s)
  const orphans = () => shop.w.rows('select external_id, amount, currency from orphan_payments')

  test('finds nothing where the books agree', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    await shop.noticeA(id)
    await shop.w.s.background.idle()
    const before = shop.w.dump()
    const asked = checks()
    expect(await audit()).toBe(true)
    expect(shop.w.dump()).toBe(before)
    expect(checks()).toBe(asked)
  })

  test('grants a pending payment that is paid', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    await audit()
    expect(shop.payment(id).status).toBe('paid')
  })

  test('reviews a failed payment that is paid, and a granted one that is refunded', async () => {
    const failed = await shop.buy()
    shop.a.fail(failed.externalId)
    await shop.noticeA(failed.id)
    const refunded = await shop.buy()
    shop.a.pay(refunded.externalId)
    await shop.noticeA(refunded.id)
    shop.a.pay(failed.externalId)
    shop.a.pay(refunded.externalId, { refunded: true })
    await audit()
    expect(shop.payment(failed.id)).toMatchObject({
      status: 'failed',
      review_reason: 'paid after it had failed',
    })
    expect(shop.payment(refunded.id)).toMatchObject({
      status: 'paid',
      review_reason: 'refunded at the provider',
      refunded_at: nowOf(shop.w),
    })
  })

  test('finds the external id of a payment whose creation was interrupted', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    shop.w.change("update payments set external_id = '', pay_url = null, next_check_at = null")
    await audit()
    expect(shop.payment(id)).toMatchObject({ status: 'paid', external_id: externalId })
  })

  test('notes as orphan what has an id of ours and no row, and nothing of other programs', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    shop.w.change('delete from payments where id = ?', id)
    shop.w.change('delete from audit_log')
    const order = shop.a.known.get(externalId)?.order
    if (!order) throw new Error('no order')
    for (const [name, paymentId] of [
      ['foreign-1', ''],
      ['foreign-2', 'order-17'],
    ] as const) {
      shop.a.known.set(name, {
        externalId: name,
        order: { ...order, paymentId },
        state: { state: 'paid', amount: '7.00', currency: 'RUB' },
      })
    }
    for (let i = 0; i < 2; i++) await audit()
    expect(orphans()).toEqual([{ external_id: externalId, amount: '199.00', currency: 'RUB' }])
    expect(auditOf(shop.w)).toEqual(['payment.orphan'])
  })

  test('takes a second payment of one of ours for an orphan', async () => {
    const { id, externalId } = await shop.buy()
    const order = shop.a.known.get(externalId)?.order
    if (!order) throw new Error('no order')
    shop.a.known.set('second', {
      externalId: 'second',
      order,
      state: { state: 'paid', amount: '199.00', currency: 'RUB' },
    })
    await audit()
    expect(shop.payment(id).status).toBe('pending')
    expect(orphans()).toMatchObject([{ external_id: 'second' }])
  })

  test('says that it has to be repeated when there is no answer, and asks nobody without credentials', async () => {
    shop.a.listed = false
    expect(await audit()).toBe(false)
    expect(shop.w.log.at(-1)).toMatch(
      / warn the list of paid payments could not be read shop=100500$/,
    )
    putSettings(shop.w, { PROVIDER_A_SECRET_KEY: '' })
    await shop.w.settle()
    expect(await audit()).toBe(true)
    expect(shop.a.calls).toHaveLength(1)
  })

  test('goes through the shop before as well, as long as its credentials are kept', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    const { s } = shop.w
    const change = (shopId: string) =>
      saveCredentials(s, { admin: 'admin', ip: 'x' }, providerA, {
        PROVIDER_A_SHOP_ID: shopId,
        PROVIDER_A_SECRET_KEY: `live_${shopId}`,
      })
    await change('new')
    await change('newest')
    expect(await audit()).toBe(true)
    expect(shop.payment(id).status).toBe('paid')
    const listed = () => shop.a.calls.splice(0).filter(({ method }) => method === 'list')
    expect(listed().map((call) => [call.shop.shopId, call.shop.secret])).toEqual([
      ['newest', 'live_newest'],
      ['new', 'live_new'],
      ['100500', 'live_a'],
    ])
    // A former shop that answers no more does not have the present one asked each hour.
    const { listSucceeded } = shop.a
    shop.a.listSucceeded = async (since, of) =>
      of.shopId === 'newest' ? listSucceeded(since, of) : { reason: 'x', retryAfterMs: null }
    expect(await audit()).toBe(true)
    shop.a.listSucceeded = listSucceeded
    shop.w.clock.advance(30 * DAY * 1000)
    await audit()
    expect(listed().map((call) => call.shop.shopId)).toEqual(['newest', 'newest'])
  })
})
