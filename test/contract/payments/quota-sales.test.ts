/** What sales, refunds, new links and joined customers make of traffic and of devices that go with plans. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BOT_ACTOR } from '#src/domain/audit.ts'
import { connectTelegram, createConnectLink } from '#src/domain/customers/linking.ts'
import { creationsOf } from '#test/support/calls/cabinet-orders.ts'
import { addDevice, addSubscription, addUser, putSettings } from '#test/support/rows/records.ts'
import { createGroupShop, type GroupShop } from '#test/support/worlds/group-shop.ts'
import type { World } from '#test/support/worlds/world.ts'

const GB = 1024 ** 3

let shop: GroupShop
let w: World
beforeEach(async () => {
  shop = await createGroupShop()
  w = shop.w
})
afterEach(() => shop.close())

const setPlan = (code: string, body: object) => shop.api(`plans/${code}`, body, 'PATCH')
const rowOf = (uuid: string) =>
  w.rows('select plan, quota_bytes, used_bytes from subscriptions where uuid = ?', uuid)[0]

/** Renews a subscription of user 1 by a plan; the payment's id. */
async function renew(uuid: string, plan: string): Promise<string> {
  const order = { tg_id: 1, plan, provider: 'provider_a', renews: uuid }
  const { id } = (await shop.api('payments', order)).json
  const { external_id: externalId } = shop.payment(id)
  shop.a.pay(externalId)
  await shop.noticeA(id, { externalId })
  await w.s.background.idle()
  return id
}

test('a renewal by a plan with more devices brings them, one with as many leaves the plan', async () => {
  await setPlan('6m', { hwid_limit: 5 })
  const uuid = addSubscription(w, 1)
  await renew(uuid, '12m')
  expect(rowOf(uuid).plan).toBe('1m')
  await renew(uuid, '6m')
  expect(rowOf(uuid).plan).toBe('6m')
})

test('the gateway is told the group, of an order and of a renewal, else the server', async () => {
  const order = { tg_id: 1, provider: 'provider_a' }
  await shop.api('payments', { ...order, plan: '3m' })
  await shop.api('payments', { ...order, plan: '1m', node: 'nl1' })
  await renew(addSubscription(w, 1, { plan: '1m', node_group: 'all' }), '1m')
  expect(creationsOf(shop).map((made) => made.order?.description)).toEqual([
    'Subpanel, Label of all, 90 days',
    'Subpanel, Label of nl1, 30 days',
    'Subpanel, Label of all, 30 days',
  ])
})

test('a refunded renewal takes back the traffic that it added, and no more', async () => {
  await setPlan('1m', { quota_gb: 100 })
  const uuid = addSubscription(w, 1, { quota_bytes: 100 * GB, used_bytes: 90 * GB })
  const id = await renew(uuid, '1m')
  expect(rowOf(uuid).quota_bytes).toBe(200 * GB)
  await shop.api(`payments/${id}/refunded`, { revoke: true })
  await shop.api(`payments/${id}/refunded`, { revoke: true })
  expect(rowOf(uuid)).toMatchObject({ quota_bytes: 100 * GB, used_bytes: 90 * GB })
})

test('what was moved until now counts where a new link brings new clients', async () => {
  const uuid = addSubscription(w, 1, { node_group: 'all', quota_bytes: GB })
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  shop.nodes.nl1.counters.set(uuid, [3, 4])
  await shop.api('users/1/rotate-token', {})
  expect(w.rows('select used_bytes from subscriptions')).toEqual([{ used_bytes: 7 }])
})

test('what waits for its first use and was used until then begins with a new link', async () => {
  const { json } = await shop.api('users/1/grant', { node: 'nl1', plan: '1m', start: 'first_use' })
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  shop.nodes.nl1.counters.set(json.uuid, [3, 4])
  await shop.api('users/1/rotate-token', {})
  const [row] = w.rows('select start_by, started_at from subscriptions')
  expect(row).toMatchObject({ start_by: null, started_at: expect.any(String) })
})

test('who becomes one with another has as many devices as their plans allow', async () => {
  putSettings(w, { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '1' })
  await setPlan('1m', { hwid_limit: 2 })
  const token = addUser(w, -1, { telegram_id: null })
  addSubscription(w, 1)
  addSubscription(w, -1)
  addDevice(w, 1, 'device-0001')
  for (const hwid of ['device-0002', 'device-0003']) addDevice(w, -1, hwid)
  const link = await createConnectLink(w.s, token)
  const code = /link_(.*)$/.exec(link)?.[1] ?? ''
  await connectTelegram(w.s, BOT_ACTOR, code, { tgId: 1, username: 'buyer', lang: 'en' })
  expect(w.rows('select distinct tg_id from devices')).toEqual([{ tg_id: 1 }])
  expect(w.rows('select count(*) as n from devices')).toEqual([{ n: 2 }])
})
