/** Another server by the customer's own hand: free, once in NODE_CHANGE_HOURS, with the same client and time. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { auditOf, DAY, eventsOf, inSeconds, putSettings } from '#test/support/rows/records.ts'
import { type ChangeShop, createChangeShop } from '#test/support/worlds/change-shop.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const HOUR_MS = 3_600_000

let shop: ChangeShop
let w: World
beforeEach(async () => {
  shop = await createChangeShop()
  w = shop.w
})
afterEach(() => shop.close())

test('200: the same client and time, both nodes right before the answer; what waits for its renewal follows', async () => {
  const uuid = await shop.basic()
  const renewal = await shop.ordered(uuid)
  const before = w.dump()
  const preview = await shop.change(uuid, { node: 'nl1', preview: true })
  expect(preview.json).toEqual({
    ...{ days: 30, expires_at: inSeconds(w, 30 * DAY), plan_label: 'Basic' },
  })
  expect(w.dump()).toBe(before)
  const { status, json } = await shop.change(uuid, { node: 'nl1' })
  expect([status, json]).toEqual([200, preview.json])
  expect([shop.rowOf(uuid).node, shop.holders(uuid)]).toEqual(['nl1', ['nl1']])
  expect(w.rows('select object, detail, admin from audit_log order by id desc limit 1')).toEqual([
    { object: uuid, detail: 'tg_id=1 node=nl1', admin: null },
  ])
  expect(auditOf(w).at(-1)).toBe('subscription.change')
  expect([eventsOf(w), w.rows('select id from outbox')]).toEqual([[], []])
  expect(shop.payment(renewal.id).node).toBe('nl1')
  await shop.paid(renewal)
  expect(shop.all(uuid).expires_at).toBe(inSeconds(w, 60 * DAY))
})

test('200 when both nodes are down: they are put right by the sync', async () => {
  const uuid = await shop.basic({ node: 'nl1' })
  for (const code of ['nl1', 'us1']) w.remote(code).failure = 'unreachable'
  expect((await shop.change(uuid, { node: 'us1' })).status).toBe(200)
  expect(shop.holders(uuid)).toEqual(['nl1'])
  for (const code of ['nl1', 'us1']) w.remote(code).failure = null
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  expect(shop.holders(uuid)).toEqual(['us1'])
})

test('200: what the nodes have counted until then counts', async () => {
  const uuid = await shop.basic()
  w.node.counters.set(uuid, [3, 4])
  await shop.change(uuid, { node: 'nl1' })
  expect(shop.all(uuid)).toMatchObject({ up_bytes: 3, down_bytes: 4 })
})

test('429 within the hours that are set, with the time to wait; each subscription for itself, and not by an admin', async () => {
  putSettings(w, { NODE_CHANGE_HOURS: '2' })
  const [one, other] = [await shop.basic(), await shop.basic()]
  await shop.change(one, { node: 'nl1' })
  w.clock.advance(2 * HOUR_MS - 5000)
  for (const more of [{}, { preview: true }]) {
    const answer = await shop.change(one, { node: 'us1', ...more })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '5'])
    expectDecent('/api/cabinet', answer)
  }
  expect((await shop.change(other, { node: 'us1' })).status).toBe(200)
  expect((await shop.api(`subscriptions/${one}`, { node: 'us1' }, 'PATCH')).status).toBe(200)
  w.clock.advance(5000)
  expect((await shop.change(one, { node: 'de1' })).status).toBe(200)
})

test('200 for one whose traffic is used up, that waits, or that has no end', async () => {
  const given = [
    { quota_bytes: 1, used_bytes: 1, limited_at: '2026-03-01T11:00:00', quota_notice: 100 },
    { start_seconds: DAY, start_by: '2026-03-05T00:00:00', expires_at: '2026-03-06T00:00:00' },
    { expires_at: '9999-12-31T23:59:59' },
  ]
  for (const more of given) {
    const uuid = await shop.basic(more)
    expect((await shop.change(uuid, { node: 'nl1' })).status).toBe(200)
    expect(shop.all(uuid)).toMatchObject({ ...more, node: 'nl1' })
  }
})

const refused: [
  name: string,
  more: Record<string, string | number>,
  node: string,
  error: string,
][] = [
  ['held', { held_at: '2026-03-01T11:00:00' }, 'nl1', 'subscription is held'],
  ['ended', { expires_at: '2026-03-01T12:00:00' }, 'nl1', 'expired'],
  ['disabled', { disabled_at: '2026-03-01T11:00:00' }, 'nl1', 'subscription is disabled'],
  ['with a group', { node_group: 'all' }, 'nl1', 'subscription has several servers'],
  ['to where it is', {}, 'de1', 'node must be another node'],
  ['to an unknown node', {}, 'nope', 'unknown node'],
  ['to a node that is off', {}, 'us1', 'node is not for sale'],
]
test.each(refused)('400 %s', async (_, more, node, error) => {
  await shop.api('nodes/us1', { enabled: false }, 'PATCH')
  const uuid = await shop.basic(more)
  const before = w.dump('audit_log')
  for (const preview of [false, true]) {
    const answer = await shop.change(uuid, { node, preview })
    expect([answer.status, answer.json]).toEqual([400, { error }])
    expectDecent('/api/cabinet', answer)
  }
  expect(w.dump('audit_log')).toBe(before)
})

test('400 where an admin has set the hours to 0; 404 for what is revoked', async () => {
  const uuid = await shop.basic()
  const form = await w.admin('/admin/api/settings/lists', { body: { node_change_hours: 0 } })
  expect(form.json.node_change_hours).toBe(0)
  const answer = await shop.change(uuid, { node: 'nl1' })
  expect([answer.status, answer.json]).toEqual([400, { error: 'servers are not changed here' }])
  expect((await shop.choices(uuid)).json.nodes).toEqual([])
  expect((await shop.change(await shop.basic({ active: 0 }), { node: 'nl1' })).status).toBe(404)
})
