import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { askAgainSoon } from '#src/domain/payments/check.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { REVIEW } from '#src/domain/payments/rules.ts'
import {
  addPayment,
  DAY,
  inSeconds,
  markRestored,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})

afterEach(() => closeShop(shop))

const run = () => reconcilePayments(shop.w.s)
const MINUTE = 60_000
const checks = () => shop.a.calls.filter(({ method }) => method === 'check').length

describe('the reconciler', () => {
  test('grants and fails by what the provider says', async () => {
    const paid = await shop.buy()
    const failed = await shop.buy({ plan: '3m' })
    shop.a.pay(paid.externalId)
    shop.a.fail(failed.externalId)
    shop.w.clock.advance(MINUTE)
    await run()
    expect(shop.payment(paid.id).status).toBe('paid')
    expect(shop.payment(failed.id).status).toBe('failed')
    expect(shop.sold()).toHaveLength(1)
  })

  test('asks every minute in the first hour, then less and less, and after a week no more', async () => {
    const { id } = await shop.buy()
    const times: number[] = []
    const step = 30_000
    for (let at = 0; at <= 9 * DAY * 1000; at += step) {
      const before = checks()
      // As often as it matters: nothing is due in between.
      const { next_check_at: next } = shop.payment(id)
      if (next !== null && next <= nowOf(shop.w)) await run()
      if (checks() > before) times.push(at)
      shop.w.clock.advance(step)
    }
    const within = (from: number, to: number) =>
      times.filter((at) => at >= from * 1000 && at < to * 1000).length
    expect(within(0, 3600)).toBe(59)
    expect(within(3600, 6 * 3600)).toBe(60)
    expect(within(6 * 3600, DAY)).toBe(36)
    expect(within(DAY, 7 * DAY)).toBe(6)
    expect(within(7 * DAY, 9 * DAY)).toBe(1)
    expect(shop.payment(id)).toMatchObject({ status: 'pending', next_check_at: null })
    expect(shop.payment(id).checks).toBe(times.length)
  })

  test('is never led to a failure by an error', async () => {
    const { id } = await shop.buy()
    shop.a.answer = { state: 'unknown', reason: 'HTTP 500', retryAfterMs: null }
    for (let i = 0; i < 100; i++) {
      shop.w.clock.advance(30 * MINUTE)
      await run()
    }
    expect(shop.payment(id).status).toBe('pending')
    shop.a.answer = null
    shop.a.pay(shop.payment(id).external_id)
    shop.w.clock.advance(DAY * 1000)
    await run()
    expect(shop.payment(id).status).toBe('paid')
  })

  test('leaves a provider alone that asks for it, and goes on with the others', async () => {
    for (let i = 0; i < 10; i++) {
      addPayment(shop.w, {
        tg_id: 2,
        external_id: `yoo-x${i}`,
        shop_id: '100500',
        next_check_at: nowOf(shop.w),
      })
    }
    const other = await shop.buy({ provider: 'provider_b' })
    shop.b.pay(other.externalId)
    shop.a.answer = { state: 'unknown', reason: 'HTTP 429', retryAfterMs: 90_000 }
    shop.w.clock.advance(MINUTE)
    await run()
    // Those that were under way when the first answer came.
    expect(checks()).toBeLessThanOrEqual(3)
    expect(shop.payment(other.id).status).toBe('paid')
    const before = checks()
    shop.w.clock.advance(MINUTE)
    await run()
    expect(checks()).toBe(before)
    shop.w.clock.advance(32_000)
    await run()
    expect(checks()).toBeGreaterThan(before)
  })

  test('asks at most 3 questions at a time', async () => {
    for (let i = 0; i < 8; i++) {
      addPayment(shop.w, { external_id: `x${i}`, shop_id: '100500', next_check_at: nowOf(shop.w) })
    }
    const open = shop.a.hold()
    const under = run()
    await vi.waitFor(() => expect(checks()).toBe(3))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(checks()).toBe(3)
    open()
    await under
    expect(checks()).toBe(8)
  })

  test('goes through all that are due in one run', async () => {
    for (let i = 0; i < 130; i++) {
      const row = { shop_id: '100500', next_check_at: nowOf(shop.w), tg_id: i % 10 }
      addPayment(shop.w, { ...row, external_id: `x${i}` })
    }
    await run()
    expect(checks()).toBe(130)
  })

  test('completes a creation that a crash interrupted, by asking with the same key', async () => {
    const open = shop.a.hold()
    const asked = shop.buy().catch(() => null)
    const begun = await vi.waitFor(() => {
      const [row] = shop.w.rows('select * from payments')
      if (!row) throw new Error('no payment has begun')
      return row
    }, 5000)
    shop.w.clock.advance(MINUTE)
    const completed = run()
    open()
    await Promise.all([asked, completed])
    expect(shop.a.known.size).toBe(1)
    expect(shop.payment(begun.id)).toMatchObject({ external_id: 'yoo-1', order_json: null })
    shop.a.pay('yoo-1')
    shop.w.clock.advance(MINUTE)
    await run()
    expect(shop.payment(begun.id).status).toBe('paid')
  })

  test('fails one whose creation the provider refuses, and asks again after an unclear answer', async () => {
    shop.a.creations.push(
      { outcome: 'unknown', reason: 'x', retryAfterMs: null },
      { outcome: 'unknown', reason: 'x', retryAfterMs: 5 * MINUTE },
      { outcome: 'refused', reason: 'no' },
    )
    await shop.buy().catch(() => null)
    const status = () => shop.w.rows('select status, failed_reason from payments')
    shop.w.clock.advance(MINUTE)
    await run()
    shop.w.clock.advance(MINUTE)
    await run()
    expect(shop.a.creations).toHaveLength(1)
    expect(status()).toEqual([{ status: 'pending', failed_reason: null }])
    shop.w.clock.advance(5 * MINUTE)
    await run()
    expect(status()).toEqual([{ status: 'failed', failed_reason: 'no' }])
  })

  test('does not ask a second time where that would make a second payment', async () => {
    shop.b.creations.push({ outcome: 'unknown', reason: 'x', retryAfterMs: null })
    await shop.buy({ provider: 'provider_b' }).catch(() => null)
    shop.a.creations.push({ outcome: 'unknown', reason: 'x', retryAfterMs: null })
    await shop.buy().catch(() => null)
    shop.w.clock.advance(DAY * 1000)
    await run()
    expect([shop.a.calls.length, shop.b.calls.length]).toEqual([1, 1])
    expect(shop.w.rows('select status, next_check_at from payments')).toEqual([
      { status: 'pending', next_check_at: null },
      { status: 'pending', next_check_at: null },
    ])
  })

  test('asks about every pending payment at once after a restore, and only then', async () => {
    const row = { shop_id: '100500', next_check_at: inSeconds(shop.w, DAY) }
    addPayment(shop.w, { ...row, external_id: 'x1' })
    addPayment(shop.w, { ...row, external_id: 'x2', next_check_at: null })
    await run()
    expect(checks()).toBe(0)
    markRestored(shop.w, 'after a restore')
    await run()
    expect(checks()).toBe(2)
    await run()
    expect(checks()).toBe(2)
    markRestored(shop.w, 'after another one')
    await run()
    expect(checks()).toBe(4)
  })

  test('grants what was paid by the safety copy and is unknown to the restored data', async () => {
    addPayment(shop.w, {
      id: 'p',
      external_id: 'x1',
      shop_id: '100500',
      review_reason: 'paid, but unknown to the backup',
      next_check_at: nowOf(shop.w),
    })
    shop.a.answer = { state: 'paid', amount: '199.00', currency: 'RUB' }
    await run()
    expect(shop.payment('p')).toMatchObject({ status: 'paid', review_reason: null })
  })

  test('goes on after one that breaks, and comes back to that one later', async () => {
    for (let i = 0; i < 8; i++) {
      const id = `p${i}`
      addPayment(shop.w, { id, external_id: id, shop_id: '100500', next_check_at: nowOf(shop.w) })
    }
    const { check } = shop.a
    shop.a.check = async (payment, of) => {
      if (payment.externalId === 'p0') throw new Error('of the gateway')
      return check(payment, of)
    }
    await run()
    expect(checks()).toBe(7)
    const lines = shop.w.log.splice(0).filter((line) => / error /.test(line))
    expect(lines).toEqual([expect.stringMatching(/payment=p0 reason="of the gateway"/)])
    // A damaged database would end the process.
    expect(shop.w.fatal.splice(0)).toEqual([new Error('of the gateway')])
    expect(shop.payment('p0')).toMatchObject({
      status: 'pending',
      next_check_at: inSeconds(shop.w, 60),
    })
  })

  test('asks about what is older than a week and unclear once a day, until it is clear', async () => {
    const { id } = await shop.buy()
    shop.w.clock.advance(8 * DAY * 1000)
    shop.w.change('update payments set next_check_at = null')
    shop.a.answer = { state: 'unknown', reason: 'HTTP 500', retryAfterMs: null }
    await shop.noticeA(id)
    expect(shop.payment(id).next_check_at).toBe(nowOf(shop.w))
    await run()
    expect(shop.payment(id).next_check_at).toBe(inSeconds(shop.w, DAY))
    shop.a.answer = null
    shop.w.clock.advance(DAY * 1000)
    await run()
    expect(shop.payment(id)).toMatchObject({ status: 'pending', next_check_at: null })
  })

  test('does not put off what a notice has made due while it asked', async () => {
    const { id, externalId } = await shop.buy()
    shop.w.clock.advance(30 * 3_600_000)
    const open = shop.a.hold()
    const under = run()
    await vi.waitFor(() => expect(checks()).toBe(1))
    shop.w.clock.advance(1000)
    await askAgainSoon(shop.w.s, id)
    open()
    await under
    // Not again so soon by the same run.
    expect(checks()).toBe(1)
    expect(shop.payment(id)).toMatchObject({ next_check_at: inSeconds(shop.w, 10) })
    shop.a.pay(externalId)
    shop.w.clock.advance(MINUTE)
    await run()
    expect(shop.payment(id).status).toBe('paid')
  })

  test('does not let unclear answers of its own shorten the way back', async () => {
    const { id } = await shop.buy()
    shop.w.clock.advance(30 * 3_600_000)
    shop.a.answer = { state: 'unknown', reason: 'HTTP 500', retryAfterMs: null }
    await run()
    expect(checks()).toBe(1)
    expect(shop.payment(id).next_check_at).toBe(inSeconds(shop.w, DAY))
  })

  test('comes to every payment whose node is back, however many can not be asked about', async () => {
    const waiting = { shop_id: 'former', review_reason: REVIEW.node, next_check_at: null }
    for (let i = 0; i < 25; i++) {
      addPayment(shop.w, { id: `old-${i}`, external_id: `gone-${i}`, tg_id: 2, ...waiting })
    }
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    shop.w.change(
      'update payments set review_reason = ?, next_check_at = null where id = ?',
      ...[REVIEW.node, id],
    )
    for (let i = 0; i < 3; i++) {
      await run()
      shop.w.change("update payments set next_check_at = null where status = 'pending'")
    }
    expect(shop.payment(id).status).toBe('paid')
  })

  test('does not care what is switched off', async () => {
    const { id, externalId } = await shop.buy()
    shop.a.pay(externalId)
    putSettings(shop.w, { PAYMENTS_ENABLED: 'false', PROVIDER_A_ENABLED: 'false' })
    shop.w.clock.advance(MINUTE)
    await run()
    expect(shop.payment(id).status).toBe('paid')
  })
})
