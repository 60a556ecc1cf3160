/** Who has used up all because an admin or a refund changed what is allowed: told as by a reading, once. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nextTurn } from '#src/lib/event-loop.ts'
import { DAY, eventsOf, inSeconds, putSettings } from '#test/support/rows/records.ts'
import { createPackShop, GB, type PackShop } from '#test/support/worlds/pack-shop.ts'

let shop: PackShop
beforeEach(async () => {
  shop = await createPackShop()
  putSettings(shop.w, { WEBHOOK_EVENTS: 'subscription.limited' })
})
afterEach(async () => {
  await nextTurn()
  expect(shop.w.faults()).toEqual([])
  await shop.close()
})

const OPEN = { limited_at: null, quota_notice: 0 }
const patch = (uuid: string, body: object) =>
  shop.w.admin(`/admin/api/subscriptions/${uuid}`, { method: 'PATCH', body })
const limited = () => eventsOf(shop.w).filter(({ event }) => event === 'subscription.limited')
const told = () =>
  shop.w
    .rows("select tg_id, payload from outbox where kind = 'traffic'")
    .map(({ payload, ...row }) => ({ ...row, ...JSON.parse(payload) }))

/** Bytes that its core tells of now. */
const count = async (uuid: string, bytes: number) => {
  const { w } = shop
  const [up] = w.node.counters.get(uuid) ?? [0]
  w.node.counters.set(uuid, [up + bytes, 0])
  await w.s.nodeSync.syncAll({ force: false, remove: true })
}

test('a smaller quota limits at once, and says so once', async () => {
  const uuid = shop.limited({ ...OPEN, quota_bytes: 20 * GB })
  await shop.w.s.nodeSync.touch([{ uuid, node: 'de1', nodeGroup: null }])
  expect(shop.holders(uuid)).toEqual(['de1'])
  await patch(uuid, { quota_gb: 10 })
  expect(shop.holders(uuid)).toEqual([])
  const message = { tg_id: 1, subscription: uuid, used: 100, left: 0, resets_at: null }
  expect(told()).toMatchObject([message])
  expect(limited()).toMatchObject([{ data: { subscription_uuid: uuid } }])
  // What was on the way when it was cut, and another change, are no news.
  await count(uuid, GB)
  await patch(uuid, { quota_gb: 5 })
  expect(told()).toHaveLength(1)
  expect(limited()).toHaveLength(1)
  expect(shop.quota(uuid)).toMatchObject({ limited_at: expect.any(String) })
})

test('extra bytes that are taken do so too; given again and used, they are told of anew', async () => {
  const uuid = shop.limited({ ...OPEN, extra_bytes: 5 * GB })
  await patch(uuid, { extra_gb: 1 })
  expect(told()).toEqual([])
  await patch(uuid, { extra_gb: 0 })
  expect(told()).toHaveLength(1)
  await patch(uuid, { extra_gb: 1 })
  await count(uuid, GB)
  expect(told()).toHaveLength(2)
  expect(limited()).toHaveLength(2)
})

test('a refund of traffic that is used says so, however often it is noted', async () => {
  const uuid = shop.limited()
  const bought = await shop.bought(uuid)
  await shop.pay(bought)
  expect(told()).toEqual([])
  const refund = () => shop.api(`payments/${bought.id}/refunded`, { revoke: true })
  await Promise.all([refund(), refund()])
  expect(told()).toMatchObject([{ used: 100 }])
  expect(limited()).toHaveLength(1)
})

test('a refund of a renewal that brought traffic says so', async () => {
  shop.w.change("update plans set quota_gb = 10 where code = '1m'")
  const renews = shop.limited()
  const { id } = await shop.buy({ renews })
  await shop.api(`payments/${id}/grant`, {})
  expect(shop.quota(renews)).toMatchObject({ quota_bytes: 20 * GB, limited_at: null })
  await shop.api(`payments/${id}/refunded`, { revoke: true })
  expect(told()).toMatchObject([{ subscription: renews, used: 100 }])
})

test('a refund that ends a subscription does not say so', async () => {
  shop.w.change("update plans set quota_gb = 10 where code = '1m'")
  const renews = shop.limited({ expires_at: inSeconds(shop.w, DAY) })
  const { id } = await shop.buy({ renews })
  await shop.api(`payments/${id}/grant`, {})
  shop.w.clock.advance(3 * DAY * 1000)
  await shop.api(`payments/${id}/refunded`, { revoke: true })
  expect(shop.quota(renews)).toMatchObject({ limited_at: expect.any(String) })
  expect([...told(), ...limited()]).toEqual([])
})

test('an edit that also ends one does not say so, one that brings it back does', async () => {
  const uuid = shop.limited({ ...OPEN, quota_bytes: 20 * GB })
  await patch(uuid, { quota_gb: 10, expires_at: inSeconds(shop.w, -60) })
  expect(shop.quota(uuid)).toMatchObject({ limited_at: expect.any(String) })
  expect([...told(), ...limited()]).toEqual([])
  await patch(uuid, { quota_gb: 20 })
  await patch(uuid, { quota_gb: 10, expires_at: inSeconds(shop.w, DAY) })
  expect(told()).toMatchObject([{ subscription: uuid, used: 100 }])
  expect(limited()).toHaveLength(1)
})

test('of what has ended nobody hears', async () => {
  const uuid = shop.limited({ ...OPEN, quota_bytes: 20 * GB, expires_at: inSeconds(shop.w, -DAY) })
  await patch(uuid, { quota_gb: 10 })
  expect(shop.quota(uuid)).toMatchObject({ limited_at: expect.any(String) })
  expect([...told(), ...limited()]).toEqual([])
})

test('what has no end and no periods is not told to renew', async () => {
  const uuid = shop.limited({ ...OPEN, quota_bytes: 20 * GB, expires_at: '9999-12-31T23:59:59' })
  await patch(uuid, { quota_gb: 10 })
  expect(told()).toMatchObject([{ endless: true, resets_at: null }])
})
