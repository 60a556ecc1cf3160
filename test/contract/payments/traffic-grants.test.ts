/** Traffic that is paid for: added once, told of, reviewed where it can't be, taken back with the money. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { resetTrafficPeriods } from '#src/domain/subscriptions/resets.ts'
import { addUser, auditOf, DAY, eventsOf, inSeconds, nowOf } from '#test/support/rows/records.ts'
import { createPackShop, GB, type PackShop } from '#test/support/worlds/pack-shop.ts'

let shop: PackShop
beforeEach(async () => {
  shop = await createPackShop()
})
afterEach(() => shop.close())

const GONE = 'paid, but its subscription is gone or has no traffic quota'
const post = (id: string, verb: string, body: object = {}) =>
  shop.api(`payments/${id}/${verb}`, body)
const messages = () =>
  shop.w
    .rows("select payload from outbox where kind = 'topped-up'")
    .map(({ payload }) => JSON.parse(payload))

describe('paid traffic', () => {
  test('is added and lifts the limit; the client is back, and everybody is told of it', async () => {
    const uuid = shop.limited()
    await shop.w.s.nodeSync.touch([{ uuid, node: 'de1', nodeGroup: null }])
    expect(shop.holders(uuid)).toEqual([])
    const before = shop.quota(uuid)
    const { id, externalId } = await shop.bought(uuid)
    await shop.pay({ id, externalId })
    expect(shop.quota(uuid)).toEqual({ ...before, extra_bytes: 50 * GB, limited_at: null })
    expect(shop.holders(uuid)).toEqual(['de1'])
    expect(shop.payment(id)).toMatchObject({
      ...{ status: 'paid', subscription_uuid: uuid, renews_uuid: uuid, review_reason: null },
    })
    expect(eventsOf(shop.w)).toMatchObject([
      {
        event: 'payment.paid',
        data: {
          ...{ payment_id: id, subscription_uuid: uuid, amount: 99, plan: '1m' },
          ...{ kind: 'traffic', pack: '50gb', extra_bytes: 50 * GB },
        },
      },
    ])
    expect(messages()).toEqual([
      {
        ...{ payment_id: id, node_label: 'Local', plan_label: '30 days' },
        ...{ bytes: 50 * GB, left: 50 * GB, resets_at: null },
      },
    ])
    expect(
      shop.w.rows("select action, detail from audit_log where action like 'payment%'")[1],
    ).toEqual({ action: 'payment.traffic', detail: `tg_id=1 subscription=${uuid}` })
  })

  test('counts once, whatever notices, checks and admins come at once', async () => {
    const uuid = shop.limited()
    const bought = await shop.bought(uuid)
    shop.a.pay(bought.externalId)
    const { id, externalId } = bought
    await Promise.all([
      ...Array.from({ length: 5 }, () => shop.noticeA(id, { externalId })),
      ...Array.from({ length: 3 }, () => post(id, 'check')),
      ...Array.from({ length: 3 }, () => post(id, 'grant')),
      reconcilePayments(shop.w.s),
    ])
    expect(shop.quota(uuid).extra_bytes).toBe(50 * GB)
    expect(messages()).toHaveLength(1)
  })

  test('is what was ordered, whatever became of its pack', async () => {
    const uuid = shop.limited()
    const bought = await shop.bought(uuid)
    shop.w.change('update traffic_packs set gb = 1, archived = 1')
    await shop.pay(bought)
    expect(shop.quota(uuid).extra_bytes).toBe(50 * GB)
  })

  test('keeps who is still beyond the limit where they are', async () => {
    const uuid = shop.limited({ used_bytes: 70 * GB })
    await shop.pay(await shop.bought(uuid))
    expect(shop.quota(uuid)).toMatchObject({ extra_bytes: 50 * GB, limited_at: expect.anything() })
    expect(shop.holders(uuid)).toEqual([])
  })

  test.each([
    ['has ended', "expires_at = '2026-01-01T00:00:00'"],
    ['was switched off', "disabled_at = '2026-01-01T00:00:00'"],
  ])(
    'is not lost where its subscription %s meanwhile: it is there again with that',
    async (_, change) => {
      const uuid = shop.limited()
      const bought = await shop.bought(uuid)
      shop.w.change(`update subscriptions set ${change}`)
      await shop.pay(bought)
      expect(shop.payment(bought.id)).toMatchObject({ status: 'paid', review_reason: null })
      expect(shop.quota(uuid)).toMatchObject({ extra_bytes: 50 * GB, limited_at: null })
      expect(shop.holders(uuid)).toEqual([])
      shop.w.change(
        `update subscriptions set disabled_at = null, expires_at = ?`,
        inSeconds(shop.w, DAY),
      )
      await shop.w.s.nodeSync.syncAll({ force: false, remove: true })
      expect(shop.holders(uuid)).toEqual(['de1'])
    },
  )

  test('lasts over a period’s end as far as it is not used, and through a renewal', async () => {
    const uuid = shop.limited({ quota_period: 'month', resets_at: inSeconds(shop.w, DAY) })
    await shop.pay(await shop.bought(uuid))
    shop.w.change('update subscriptions set used_bytes = ?', 15 * GB)
    shop.w.clock.advance(2 * DAY * 1000)
    await resetTrafficPeriods(shop.w.s)
    expect(shop.quota(uuid)).toMatchObject({ used_bytes: 0, extra_bytes: 45 * GB })
  })

  test('shows in the listing with its pack; what is no traffic has no such keys', async () => {
    const uuid = shop.limited()
    const { id } = await shop.bought(uuid)
    await shop.buy()
    const [access, traffic] = (await shop.api('payments')).json
    expect(traffic).toMatchObject({
      ...{ id, kind: 'traffic', pack: '50gb', pack_label: '50 GB', extra_bytes: 50 * GB },
    })
    for (const key of ['kind', 'pack', 'pack_label', 'extra_bytes'])
      expect(access).not.toHaveProperty(key)
  })
})

describe('paid traffic whose subscription', () => {
  const LOST: [what: string, change: (uuid: string) => unknown][] = [
    ['was revoked', (uuid) => shop.api(`subscriptions/${uuid}/revoke`, {})],
    ['is gone', (uuid) => shop.w.change('delete from subscriptions where uuid = ?', uuid)],
    [
      'has no quota any more',
      (uuid) => shop.api(`subscriptions/${uuid}`, { quota_gb: null }, 'PATCH'),
    ],
    [
      'is another’s',
      (uuid) => {
        addUser(shop.w, 2)
        shop.w.change('update subscriptions set tg_id = 2 where uuid = ?', uuid)
      },
    ],
  ]
  test.each(LOST)('%s is reviewed, and gives nothing to anybody', async (_what, change) => {
    const uuid = shop.limited()
    const bought = await shop.bought(uuid)
    await change(uuid)
    await shop.pay(bought)
    expect(shop.payment(bought.id)).toMatchObject({ status: 'pending', review_reason: GONE })
    expect(shop.quota(uuid)?.extra_bytes ?? 0).toBe(0)
    expect(shop.sold()).toEqual([])
    const { status, json } = await post(bought.id, 'grant')
    expect([status, json]).toEqual([400, { error: 'unknown subscription' }])
    await post(bought.id, 'refunded')
    expect(shop.payment(bought.id)).toMatchObject({
      review_reason: null,
      refunded_at: nowOf(shop.w),
    })
  })

  test('has a quota again is granted by itself', async () => {
    const uuid = shop.limited()
    const bought = await shop.bought(uuid)
    await shop.api(`subscriptions/${uuid}`, { quota_gb: null }, 'PATCH')
    await shop.pay(bought)
    await shop.api(`subscriptions/${uuid}`, { quota_gb: 5 }, 'PATCH')
    await reconcilePayments(shop.w.s)
    expect(shop.payment(bought.id)).toMatchObject({ status: 'paid', review_reason: null })
    expect(shop.quota(uuid).extra_bytes).toBe(50 * GB)
  })

  test('has a node that is gone is given all the same', async () => {
    const uuid = shop.limited({ node: 'nl1' })
    const bought = await shop.bought(uuid)
    shop.w.change("delete from node_group_nodes where node = 'nl1'")
    shop.w.change("delete from nodes where code = 'nl1'")
    await shop.pay(bought)
    expect(shop.quota(uuid).extra_bytes).toBe(50 * GB)
  })
})

describe('traffic whose money went back', () => {
  const refund = (id: string, revoke = true) => post(id, 'refunded', { revoke })
  const shortened = () => auditOf(shop.w).filter((action) => action.startsWith('subscription.'))

  test('is taken back once, and no day with it', async () => {
    const uuid = shop.limited({ used_bytes: 0, limited_at: null, quota_notice: 0 })
    const before = shop.quota(uuid)
    const { id, externalId } = await shop.bought(uuid)
    await shop.pay({ id, externalId })
    const other = await shop.bought(uuid)
    await shop.pay(other)
    for (let i = 0; i < 3; i++) expect((await refund(id)).status).toBe(200)
    expect(shop.quota(uuid)).toEqual({ ...before, extra_bytes: 50 * GB })
    expect(shortened()).toEqual(['subscription.take-traffic'])
    await refund(other.id)
    expect(shop.quota(uuid)).toEqual(before)
    expect(shop.w.node.clients.size).toBe(1)
  })

  test('limits who has used more than what is left, whose client goes', async () => {
    const uuid = shop.limited()
    const bought = await shop.bought(uuid)
    await shop.pay(bought)
    expect(shop.holders(uuid)).toEqual(['de1'])
    await refund(bought.id)
    await shop.w.s.background.idle()
    expect(shop.quota(uuid)).toMatchObject({
      extra_bytes: 0,
      limited_at: nowOf(shop.w),
      expires_at: inSeconds(shop.w, 30 * DAY),
    })
    expect(shop.holders(uuid)).toEqual([])
  })

  test('takes no more than what is left of it, and nothing without revoke', async () => {
    const uuid = shop.limited()
    const bought = await shop.bought(uuid)
    await shop.pay(bought)
    await refund(bought.id, false)
    expect(shop.quota(uuid).extra_bytes).toBe(50 * GB)
    shop.w.change('update subscriptions set extra_bytes = ?', 20 * GB)
    await refund(bought.id)
    expect(shop.quota(uuid).extra_bytes).toBe(0)
  })

  test('does not keep a subscription whose own money went back', async () => {
    const own = await shop.buy()
    await shop.pay(own)
    const uuid = shop.payment(own.id).subscription_uuid
    await shop.api(`subscriptions/${uuid}`, { quota_gb: 10 }, 'PATCH')
    await shop.pay(await shop.bought(uuid))
    await refund(own.id)
    expect(shop.w.rows('select active from subscriptions')).toEqual([{ active: 0 }])
  })
})
