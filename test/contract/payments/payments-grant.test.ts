import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claimPayment } from '#db/payments.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import {
  addNode,
  addPayment,
  addSubscription,
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
})

afterEach(() => closeShop(shop))

const PAID = { state: 'paid' } as const
const confirm = (id: string) => confirmPayment(shop.w.s, id, PAID)
const all = (table: string) => shop.w.rows(`select * from ${table} order by 1, 2`)

describe('a grant', () => {
  test('happens once, whoever brings the news how often at the same time', async () => {
    const bought = []
    for (const provider of ['provider_a', 'provider_b', 'cryptobot']) {
      bought.push({ provider, ...(await shop.buy({ provider })) })
    }
    shop.a.pay(bought[0]?.externalId ?? '')
    shop.b.pay(bought[1]?.externalId ?? '')
    shop.cryptobot.pay(bought[2]?.externalId ?? '')
    shop.w.clock.advance(60_000)
    const check = (id: string) =>
      shop.w.admin(`/admin/api/payments/${id}/check`, { method: 'POST' })
    const grant = (id: string) =>
      shop.w.admin(`/admin/api/payments/${id}/grant`, { method: 'POST' })
    await Promise.all([
      reconcilePayments(shop.w.s),
      ...bought.flatMap(({ id, provider }) => [
        ...(provider === 'provider_a' ? [shop.noticeA(id), shop.noticeA(id)] : []),
        ...(provider === 'provider_b'
          ? [shop.noticeB({ id, status: 'paid' }), shop.noticeB({ id, status: 'paid' })]
          : []),
        check(id),
        grant(id),
        check(id),
        confirm(id),
        confirm(id),
      ]),
      reconcilePayments(shop.w.s),
    ])
    await shop.w.s.background.idle()
    expect(all('payments').map(({ status }) => status)).toEqual(['paid', 'paid', 'paid'])
    expect(shop.sold()).toHaveLength(3)
    expect(eventsOf(shop.w).map(({ event }) => event)).toEqual([
      'payment.paid',
      'payment.paid',
      'payment.paid',
    ])
    expect(shop.w.rows("select count(*) n from outbox where kind = 'granted'")).toEqual([{ n: 3 }])
    expect(auditOf(shop.w).filter((action) => action === 'payment.grant')).toHaveLength(3)
    expect(shop.w.node.clients.size).toBe(3)
  })

  test('is claimed once, and from a failed payment only by whoever may', async () => {
    const { id } = await shop.buy()
    const claim = (failedToo: boolean) =>
      shop.w.s.db.tx((tx) => claimPayment(tx, id, nowOf(shop.w), failedToo))
    shop.w.change("update payments set status = 'failed'")
    expect(await claim(false)).toBe(false)
    expect([await claim(true), await claim(true), await claim(false)]).toEqual([true, false, false])
    shop.w.change("update payments set status = 'pending'")
    expect([await claim(false), await claim(false)]).toEqual([true, false])
    shop.w.change('delete from payments')
  })

  test('says whether this call gave it, and what', async () => {
    const { id } = await shop.buy()
    const first = await confirm(id)
    expect(first.status).toBe('paid')
    expect(first.given?.row).toMatchObject({ paymentId: id, node: 'de1' })
    expect(await confirm(id)).toEqual({ status: 'paid', given: null })
    await expect(confirm('nobody')).rejects.toMatchObject({ status: 404 })
  })

  test('creates the user where there is none, and keeps their data where there is one', async () => {
    addPayment(shop.w, { id: 'p', tg_id: 55 })
    await confirm('p')
    const [user] = shop.w.rows('select * from users where tg_id = 55')
    expect(user.token).toMatch(/^[\w-]{43}$/)
    const { id } = await shop.buy()
    await confirm(id)
    expect(shop.w.rows('select token from users where tg_id = 1')).toEqual([{ token: shop.token }])
  })

  test('is made on a disabled node and with an archived plan', async () => {
    const { id } = await shop.buy()
    shop.w.change('update nodes set enabled = 0')
    shop.w.change('update plans set archived = 1')
    await confirm(id)
    expect(shop.sold()).toHaveLength(1)
  })

  test('is made for a banned user too: they have paid', async () => {
    const { id } = await shop.buy()
    shop.w.change('update users set banned_at = created_at')
    expect((await confirm(id)).status).toBe('paid')
    await shop.w.s.background.idle()
    expect(shop.w.node.clients.size).toBe(0)
  })

  test('never fails for a date that is too late', async () => {
    addPayment(shop.w, { id: 'p', days: 3_000_000 })
    await confirm('p')
    expect(shop.sold()).toMatchObject([{ expires_at: '9999-12-31T23:59:59' }])
    const uuid = addSubscription(shop.w, 1, { expires_at: '9999-12-20T00:00:00' })
    addPayment(shop.w, { id: 'r', days: 30, renews_uuid: uuid })
    await confirm('r')
    expect(
      shop.w.rows('select expires_at from subscriptions where uuid = ?', uuid)[0].expires_at,
    ).toBe('9999-12-31T23:59:59')
  })

  test('leaves nothing behind when it fails half-way', async () => {
    const { id } = await shop.buy()
    const before = shop.w.dump()
    const end = shop.w.obstruct('insert', 'audit_log')
    await expect(confirm(id)).rejects.toThrow('no')
    end()
    expect(shop.w.dump()).toBe(before)
    await confirm(id)
    expect(shop.sold()).toHaveLength(1)
  })

  test('is told at once: event and message are sent', async () => {
    putSettings(shop.w, { WEBHOOK_URL: 'http://127.0.0.1:1/hook', WEBHOOK_SECRET: 'aa' })
    const { id } = await shop.buy()
    await confirm(id)
    await shop.w.s.background.idle()
    // Nobody listens at either address: the one attempt was made, of both.
    expect(eventsOf(shop.w)[0]?.status).toBe('failed')
    expect(shop.w.rows("select attempts from outbox where kind = 'granted'")).toEqual([
      { attempts: 1 },
    ])
  })

  test("another provider's word is none, where the caller says who speaks", async () => {
    const { id } = await shop.buy()
    const stars = { provider: 'stars', externalId: 'charge' } as const
    await expect(confirmPayment(shop.w.s, id, PAID, stars)).rejects.toMatchObject({ status: 404 })
    expect(shop.payment(id).external_id).toBe('yoo-1')
    shop.w.change("update plans set price_stars = 50 where code = '1m'")
    const own = await shop.buy({ provider: 'stars' })
    const found = { state: 'paid', amount: '50', currency: 'XTR' } as const
    await confirmPayment(shop.w.s, own.id, found, stars)
    expect(shop.payment(own.id)).toMatchObject({ status: 'paid', external_id: 'charge' })
  })

  test.each([
    [{ state: 'pending' } as const],
    [{ state: 'unknown', reason: 'x', retryAfterMs: null } as const],
  ])('nothing happens by %j', async (found) => {
    const { id } = await shop.buy()
    const before = shop.w.dump()
    expect(await confirmPayment(shop.w.s, id, found)).toEqual({ status: 'pending', given: null })
    expect(shop.w.dump()).toBe(before)
  })

  test('a paid payment that its provider takes back is marked once', async () => {
    const { id } = await shop.buy()
    await confirm(id)
    for (let i = 0; i < 2; i++) {
      await confirmPayment(shop.w.s, id, { state: 'failed', reason: 'charged back' })
    }
    expect(shop.payment(id)).toMatchObject({
      status: 'paid',
      review_reason: 'granted, but its provider does not count it as paid any more',
    })
    expect(auditOf(shop.w).filter((action) => action === 'payment.review')).toHaveLength(1)
  })

  test('of a user who was deleted meanwhile is left to an admin', async () => {
    const { id } = await shop.buy()
    shop.w.clock.advance(48 * 3_600_000)
    const answer = await shop.w.admin('/admin/api/users/1', { method: 'DELETE' })
    expect(answer.status).toBe(200)
    await confirm(id)
    expect(shop.payment(id)).toMatchObject({
      status: 'pending',
      deleted_user: 1,
      review_reason: 'paid, but its user was deleted',
    })
    expect(all('users')).toEqual([])
    const granted = await shop.w.admin(`/admin/api/payments/${id}/grant`, { method: 'POST' })
    expect(granted.json).toEqual({ status: 'paid' })
    expect(shop.payment(id)).toMatchObject({ deleted_user: 0, review_reason: null })
    expect(shop.sold()).toMatchObject([{ tg_id: 1 }])
  })
})

test('the payment of somebody who was deleted is that of who has their Telegram account by then', async () => {
  const { w } = shop
  const { id } = await shop.buy()
  w.clock.advance(3 * DAY * 1000)
  expect((await w.admin('/admin/api/users/1', { method: 'DELETE' })).status).toBe(200)
  const { json } = await w.admin('/admin/api/users', { body: { name: 'Ada' } })
  const body = { telegram_id: 1 }
  await w.admin(`/admin/api/users/${json.tg_id}`, { method: 'PATCH', body })
  await w.admin(`/admin/api/payments/${id}/grant`, { method: 'POST' })
  await w.s.background.idle()
  expect(shop.sold()).toMatchObject([{ tg_id: json.tg_id, payment_id: id }])
  expect(shop.payment(id)).toMatchObject({ status: 'paid', tg_id: json.tg_id })
})

describe('a node or plan that is gone', () => {
  test.each([
    ['node', "delete from nodes where code = 'nl1'", 'paid, but its node is gone'],
    ['plan', "delete from plans where code = '3m'", 'paid, but its plan is gone'],
  ])(
    '%s: pending in review, granted by the reconciler when it is back',
    async (what, gone, reason) => {
      addNode(shop.w, 'nl1')
      const { id, externalId } = await shop.buy({ node: 'nl1', plan: '3m' })
      shop.a.pay(externalId)
      const [node] = shop.w.rows("select * from nodes where code = 'nl1'")
      const [plan] = shop.w.rows("select * from plans where code = '3m'")
      shop.w.change(gone)
      expect((await shop.noticeA(id)).json).toEqual({ ok: true })
      expect(shop.payment(id)).toMatchObject({ status: 'pending', review_reason: reason })
      shop.w.clock.advance(30 * DAY * 1000)
      await reconcilePayments(shop.w.s)
      await reconcilePayments(shop.w.s)
      expect(shop.sold()).toEqual([])
      if (what === 'node') addNode(shop.w, 'nl1', { label: node.label })
      else {
        shop.w.change(
          'insert into plans (code, label, days, price, sort_order) values (?, ?, 5, 5, 9)',
          ...[plan.code, plan.label],
        )
      }
      await reconcilePayments(shop.w.s)
      expect(shop.payment(id)).toMatchObject({ status: 'paid', review_reason: null })
      // As long as was paid for, from now on.
      expect(shop.sold()).toMatchObject([
        { node: 'nl1', plan: '3m', expires_at: inSeconds(shop.w, 90 * DAY) },
      ])
    },
  )

  test('a payment that was refunded meanwhile is not granted when it is back', async () => {
    addNode(shop.w, 'nl1')
    const { id, externalId } = await shop.buy({ node: 'nl1' })
    shop.a.pay(externalId)
    shop.w.change("delete from nodes where code = 'nl1'")
    await shop.noticeA(id)
    shop.a.pay(externalId, { refunded: true })
    addNode(shop.w, 'nl1')
    await reconcilePayments(shop.w.s)
    expect(shop.payment(id)).toMatchObject({
      status: 'pending',
      review_reason: 'refunded at the provider',
    })
    expect(shop.sold()).toEqual([])
  })

  test('a node can not be deleted while a younger payment than 48 hours is pending', async () => {
    addNode(shop.w, 'nl1')
    await shop.buy({ node: 'nl1' })
    const remove = () => shop.w.admin('/admin/api/nodes/nl1', { method: 'DELETE' })
    expect((await remove()).json).toEqual({ error: 'node has pending payments' })
    shop.w.clock.advance(48 * 3_600_000)
    expect((await remove()).json).toEqual({ ok: true })
  })
})
