/** What one customer can have asked of a payment provider, and that one that wants to be left alone is: nobody buys less for it, nothing is lost. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditPayments } from '#src/domain/payments/audit.ts'
import { askAgainSoon } from '#src/domain/payments/check.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import type { PaymentState } from '#src/ports/payment-gateway.ts'
import { addPayment, addUser, inSeconds, nowOf } from '#test/support/rows/records.ts'
import { testOnSqlite } from '#test/support/worlds/engines.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
let other: string
beforeEach(async () => {
  shop = await createShop()
  other = addUser(shop.w, 2, { username: 'other' })
})
afterEach(() => closeShop(shop))

const SECOND = 1000
const MINUTE = 60 * SECOND
const run = () => reconcilePayments(shop.w.s)
const called = (method: string) => shop.a.calls.filter((call) => call.method === method)
const payments = () => shop.w.rows('select * from payments order by seq')

const tap = (token = shop.token, order: object = {}) =>
  shop.w.call(`/api/cabinet/${token}/payments`, {
    body: { node: 'de1', plan: '1m', provider: 'provider_a', ...order },
  })

/** Has the next creations answered without a link. */
function answerNothing(times: number, retryAfterMs: number | null): void {
  for (let i = 0; i < times; i++) {
    shop.a.creations.push({ outcome: 'unknown', reason: 'x', retryAfterMs })
  }
}
const busy = (ms: number): PaymentState => ({
  state: 'unknown',
  reason: 'HTTP 429',
  retryAfterMs: ms,
})

const NO_ANSWER = { error: 'the provider gives no answer, try again' }

describe('an order that has no link yet', () => {
  test('is asked for once in 5 seconds, however often it is tapped', async () => {
    answerNothing(50, null)
    for (let i = 0; i < 50; i++) {
      const answer = await tap()
      expect([answer.status, answer.json]).toEqual([503, NO_ANSWER])
      expect(answer.headers.get('retry-after')).toBe('5')
    }
    expect(called('create')).toHaveLength(1)
    shop.w.clock.advance(3500)
    expect((await tap()).headers.get('retry-after')).toBe('2')
    expect(called('create')).toHaveLength(1)
    shop.w.clock.advance(1500)
    expect((await tap()).status).toBe(503)
    expect(called('create')).toHaveLength(2)
    shop.a.creations = []
    shop.w.clock.advance(5 * SECOND)
    expect((await tap()).status).toBe(200)
    expect([called('create').length, payments().length, shop.a.known.size]).toEqual([3, 1, 1])
  })

  test('is asked for once by the customer, an admin and the reconciler at about the same time', async () => {
    answerNothing(5, null)
    await tap()
    shop.w.change('update payments set next_check_at = ?', nowOf(shop.w))
    const body = { tg_id: 1, node: 'de1', plan: '1m', provider: 'provider_a' }
    expect((await shop.w.admin('/admin/api/payments', { body })).status).toBe(503)
    await run()
    expect(called('create')).toHaveLength(1)
    // It comes back to it.
    expect(payments()).toMatchObject([{ next_check_at: inSeconds(shop.w, 60) }])
    shop.a.creations = []
    shop.w.clock.advance(MINUTE)
    await run()
    expect(payments()).toMatchObject([{ external_id: 'yoo-1' }])
  })

  test('is asked for no more often by being one of many', async () => {
    answerNothing(1000, null)
    const plans = ['1m', '3m', '6m', '12m']
    const orders = [...plans.map((plan) => ({ plan })), { plan: '1m', provider: 'stars' }]
    shop.w.change("update plans set price_stars = 75 where code = '1m'")
    for (let second = 0; second < 60; second++) {
      for (const order of orders) await tap(shop.token, order)
      shop.w.clock.advance(SECOND)
    }
    expect(payments()).toHaveLength(5)
    expect(called('create')).toHaveLength(20)
    // Stars gave a link at once, whatever the other one did.
    expect(shop.stars.calls).toHaveLength(1)
    expect((await tap(other)).status).toBe(503)
    expect(called('create')).toHaveLength(21)
  })
})

describe('a provider that wants to be left alone', () => {
  test('is asked for no payments until then, whoever taps, and then for all', async () => {
    answerNothing(1, 90 * SECOND)
    for (let i = 0; i < 50; i++) {
      const answer = await tap()
      expect([answer.status, answer.json]).toEqual([503, NO_ANSWER])
      expect(answer.headers.get('retry-after')).toBe('90')
    }
    const before = shop.w.dump()
    for (let i = 0; i < 50; i++) {
      const answer = await tap(other)
      expect([answer.status, answer.json]).toEqual([503, NO_ANSWER])
    }
    // Nobody can ask for a new one: there are no rows of them.
    expect(shop.w.dump()).toBe(before)
    expect(called('create')).toHaveLength(1)
    shop.w.clock.advance(90 * SECOND - 1)
    expect((await tap(other)).headers.get('retry-after')).toBe('1')
    shop.w.clock.advance(1)
    expect((await tap(other)).status).toBe(200)
    expect((await tap()).status).toBe(200)
    expect(payments().map((row) => [row.tg_id, row.external_id])).toEqual([
      [1, 'yoo-2'],
      [2, 'yoo-1'],
    ])
  })

  test('leaves no rows of its new payments behind, and uses up nothing of the five in ten minutes', async () => {
    shop.b.creations.push({ outcome: 'unknown', reason: 'x', retryAfterMs: 30 * SECOND })
    const order = { provider: 'provider_b' }
    for (let i = 0; i < 20; i++) expect((await tap(shop.token, order)).status).toBe(503)
    expect(payments()).toHaveLength(1)
    shop.w.clock.advance(30 * SECOND)
    expect((await tap(shop.token, order)).status).toBe(200)
  })

  test('still has its links given again, and its wrong orders refused', async () => {
    const made = await tap()
    shop.a.answer = busy(90 * SECOND)
    await shop.noticeA(made.json.id)
    expect((await tap()).json).toEqual(made.json)
    expect((await tap(other, { plan: 'nope' })).status).toBe(400)
    expect((await tap(other)).status).toBe(503)
    expect((await tap(other, { provider: 'provider_b' })).status).toBe(200)
  })

  const QUESTIONS: [what: string, ask: (id: string) => unknown][] = [
    ['a notice', (id) => shop.noticeA(id)],
    ['an admin', (id) => shop.w.admin(`/admin/api/payments/${id}/check`, { method: 'POST' })],
    [
      'the reconciler',
      async () => {
        shop.w.change('update payments set next_check_at = ?', nowOf(shop.w))
        await run()
      },
    ],
    ['the daily list', () => auditPayments(shop.w.s)],
    [
      'a look-up',
      async () => {
        await shop.noticeA('nobody', { externalId: 'x1' })
        await shop.w.s.background.idle()
      },
    ],
  ]
  test.each(QUESTIONS)('is left alone by all once %s has heard it', async (_what, ask) => {
    const { id } = await shop.buy()
    shop.a.answer = busy(90 * SECOND)
    Object.assign(shop.a, { listed: false, listRestMs: 90 * SECOND })
    await ask(id)
    const asked = shop.a.calls.length
    expect(asked).toBe(2)
    for (const [, again] of QUESTIONS) await again(id)
    expect((await tap(other)).status).toBe(503)
    expect(shop.a.calls).toHaveLength(asked)
    expect(shop.payment(id).status).toBe('pending')
    shop.a.answer = null
    shop.a.pay(shop.payment(id).external_id)
    shop.w.clock.advance(90 * SECOND)
    await run()
    expect(shop.payment(id).status).toBe('paid')
    expect((await tap(other)).status).toBe(200)
  })
})

describe('the order of what is due', () => {
  const add = (tgId: number, name: string, waitingSeconds = 0) =>
    addPayment(shop.w, {
      ...{ id: name, external_id: name, tg_id: tgId, shop_id: '100500' },
      next_check_at: inSeconds(shop.w, -waitingSeconds),
    })
  const asked = () => called('check').map(({ id }) => id)

  testOnSqlite(
    'takes one of each customer, those who wait longest first, then the second of each',
    async () => {
      for (let i = 0; i < 30; i++) add(1, `many-${i}`, 100 - i)
      add(3, 'three-a', 20)
      add(3, 'three-b', 10)
      add(2, 'two-a', 5)
      shop.a.answer = { state: 'pending' }
      await run()
      expect(asked().slice(0, 6)).toEqual([
        'many-0',
        'three-a',
        'two-a',
        'many-1',
        'three-b',
        'many-2',
      ])
    },
  )

  testOnSqlite(
    'asks 20 questions about one customer in a run, and goes on in the next',
    async () => {
      for (let i = 0; i < 50; i++) add(1, `many-${i}`, 100 - i)
      for (let i = 0; i < 30; i++) add(10 + i, `other-${i}`)
      shop.a.answer = { state: 'pending' }
      await run()
      expect(asked()).toHaveLength(20 + 30)
      const due = () =>
        shop.w.rows('select id from payments where next_check_at <= ?', nowOf(shop.w)).length
      expect(due()).toBe(30)
      shop.w.clock.advance(MINUTE)
      shop.a.calls.length = 0
      await run()
      // Those that were not asked about yet come before those that are due again.
      expect(asked().filter((id) => id.startsWith('many'))).toEqual(
        Array.from({ length: 20 }, (_, i) => `many-${20 + i}`),
      )
    },
  )

  testOnSqlite('is kept over a rest: only what was asked about is put off', async () => {
    for (let i = 0; i < 10; i++) add(1, `many-${i}`, 100)
    add(2, 'true', 1)
    shop.a.answer = busy(90 * SECOND)
    await run()
    const first = asked()
    expect(first.length).toBeLessThanOrEqual(3)
    expect(first).toContain('true')
    const { next_check_at: then } = shop.payment('many-9')
    expect(then < nowOf(shop.w)).toBe(true)
    add(3, 'later', 0)
    shop.a.answer = { state: 'pending' }
    shop.w.clock.advance(MINUTE)
    await run()
    expect(asked()).toEqual(first)
    shop.w.clock.advance(30 * SECOND)
    await run()
    expect(asked().slice(first.length, first.length + 2)).toContain('later')
    expect(new Set(asked()).size).toBe(12)
  })

  test('asks about one payment once in ten seconds, however many notices make it due', async () => {
    add(1, 'noisy')
    shop.a.answer = { state: 'pending' }
    const times: number[] = []
    const { check } = shop.a
    shop.a.check = async (payment, of) => {
      const answer = await check(payment, of)
      times.push(shop.w.clock.monotonicMs())
      // Each answer takes four seconds, in which a notice comes.
      shop.w.clock.advance(4 * SECOND)
      await askAgainSoon(shop.w.s, payment.externalId)
      return answer
    }
    for (let i = 0; i < 4; i++) {
      await run()
      // It is not put off for longer by notices that come meanwhile.
      expect(shop.payment('noisy').next_check_at <= inSeconds(shop.w, 10)).toBe(true)
      shop.w.clock.advance(7 * SECOND)
    }
    expect(times).toEqual([0, 11, 22, 33].map((at) => at * SECOND))
  })
})
