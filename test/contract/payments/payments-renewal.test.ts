/** Payments that renew a subscription. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import {
  addNode,
  addSubscription,
  addUser,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
} from '#test/support/rows/records.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})

afterEach(() => closeShop(shop))

const PAID = { state: 'paid' } as const
const confirm = (id: string) => confirmPayment(shop.w.s, id, PAID)
const all = (table: string) => shop.w.rows(`select * from ${table} order by seq`)

describe('a renewal', () => {
  const renew = async (renews: string, order: Record<string, unknown> = {}) => {
    const { id } = await shop.buy({ renews, ...order })
    await confirm(id)
    await shop.w.s.background.idle()
    return id
  }
  const subscription = (uuid: string) =>
    shop.w.rows('select * from subscriptions where uuid = ?', uuid)[0]

  test('lengthens the subscription from its expiry on, on the same uuid', async () => {
    const uuid = addSubscription(shop.w, 1)
    const before = subscription(uuid)
    const id = await renew(uuid, { node: undefined, plan: '3m' })
    expect(subscription(uuid)).toEqual({ ...before, expires_at: inSeconds(shop.w, 120 * DAY) })
    expect(shop.sold()).toEqual([])
    expect(shop.payment(id)).toMatchObject({
      status: 'paid',
      node: 'de1',
      renews_uuid: uuid,
      subscription_uuid: uuid,
    })
    expect(eventsOf(shop.w)).toMatchObject([
      {
        event: 'payment.paid',
        data: {
          subscription_uuid: uuid,
          plan: '3m',
          plan_label: '90 days',
          expires_at: inSeconds(shop.w, 120 * DAY),
        },
      },
    ])
    expect(auditOf(shop.w)).toEqual(['payment.create', 'payment.renew'])
    const [message] = shop.w.rows("select payload from outbox where kind = 'granted'")
    expect(JSON.parse(message.payload)).toMatchObject({ plan_label: '90 days' })
  })

  test('lengthens an expired one from now on, and its client returns', async () => {
    const uuid = addSubscription(shop.w, 1, { expires_at: inSeconds(shop.w, -DAY) })
    await renew(uuid)
    expect(subscription(uuid).expires_at).toBe(inSeconds(shop.w, 30 * DAY))
    expect([...shop.w.node.clients.keys()]).toEqual([uuid])
  })

  test('of a held one adds the days and leaves it held', async () => {
    const heldAt = inSeconds(shop.w, -20 * DAY)
    const expiresAt = inSeconds(shop.w, -10 * DAY)
    const uuid = addSubscription(shop.w, 1, { held_at: heldAt, expires_at: expiresAt })
    await renew(uuid)
    expect(subscription(uuid)).toMatchObject({
      held_at: heldAt,
      expires_at: inSeconds(shop.w, 20 * DAY),
    })
    expect(shop.w.node.clients.size).toBe(0)
  })

  test('uses the node of the subscription, whatever node is named', async () => {
    addNode(shop.w, 'nl1')
    const uuid = addSubscription(shop.w, 1, { node: 'nl1' })
    const { id } = await shop.buy({ renews: uuid, node: 'de1' })
    expect(shop.payment(id).node).toBe('nl1')
  })

  test('is sold on a disabled node, and with its own archived plan', async () => {
    const uuid = addSubscription(shop.w, 1)
    shop.w.change('update nodes set enabled = 0')
    shop.w.change('update plans set archived = 1')
    await renew(uuid)
    expect(subscription(uuid).expires_at).toBe(inSeconds(shop.w, 60 * DAY))
    await expect(shop.buy({ renews: uuid, plan: '3m' })).rejects.toThrow('plan is archived')
  })

  test('of a subscription that was revoked meanwhile creates one there', async () => {
    const uuid = addSubscription(shop.w, 1)
    const { id } = await shop.buy({ renews: uuid })
    await shop.w.admin(`/admin/api/subscriptions/${uuid}/revoke`, { method: 'POST' })
    await confirm(id)
    const [sold] = shop.sold()
    expect(sold).toMatchObject({ node: 'de1', payment_id: id, active: 1 })
    expect(shop.payment(id).subscription_uuid).toBe(sold.uuid)
    expect(subscription(uuid).active).toBe(0)
  })

  test('of a subscription that is gone, or another user’s by now, creates one', async () => {
    const gone = addSubscription(shop.w, 1)
    const first = await shop.buy({ renews: gone })
    shop.w.change('delete from subscriptions where uuid = ?', gone)
    await confirm(first.id)
    expect(shop.sold()).toHaveLength(1)
    addUser(shop.w, 2)
    const moved = addSubscription(shop.w, 1)
    const second = await shop.buy({ renews: moved })
    shop.w.change('update subscriptions set tg_id = 2 where uuid = ?', moved)
    await confirm(second.id)
    expect(shop.sold()).toHaveLength(2)
  })

  test('waits in review when the node of the subscription is gone', async () => {
    addNode(shop.w, 'nl1')
    const uuid = addSubscription(shop.w, 1, { node: 'nl1' })
    const { id, externalId } = await shop.buy({ renews: uuid })
    shop.a.pay(externalId)
    shop.w.change("delete from nodes where code = 'nl1'")
    await confirm(id)
    expect(shop.payment(id)).toMatchObject({
      status: 'pending',
      review_reason: 'paid, but its node is gone',
    })
    addNode(shop.w, 'nl1')
    await reconcilePayments(shop.w.s)
    expect(shop.payment(id)).toMatchObject({ status: 'paid', subscription_uuid: uuid })
    expect(shop.sold()).toEqual([])
  })

  test('follows a subscription to its new uuid', async () => {
    const uuid = addSubscription(shop.w, 1)
    const { id } = await shop.buy({ renews: uuid })
    await shop.w.admin('/admin/api/users/1/rotate-token', { method: 'POST' })
    await confirm(id)
    const [row] = all('subscriptions')
    expect(row.uuid).not.toBe(uuid)
    expect(row.expires_at).toBe(inSeconds(shop.w, 60 * DAY))
    expect(shop.payment(id).subscription_uuid).toBe(row.uuid)
  })

  test('happens once for each payment', async () => {
    const uuid = addSubscription(shop.w, 1)
    const first = await shop.buy({ renews: uuid })
    const second = await shop.buy({ renews: uuid, plan: '3m' })
    const ids = [first.id, second.id, first.id, second.id, first.id]
    await Promise.all(ids.map(confirm))
    expect(subscription(uuid).expires_at).toBe(inSeconds(shop.w, 150 * DAY))
    expect(nowOf(shop.w)).toBe(shop.payment(first.id).paid_at)
  })
})
