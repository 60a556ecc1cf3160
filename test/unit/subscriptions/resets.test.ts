/** New periods of traffic: begun once however long nobody looked, for all, a portion at a time. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { resetTrafficPeriods } from '#src/domain/subscriptions/resets.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addAll } from '#test/support/rows/groups.ts'
import {
  addSubscription,
  addUser,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const GB = 1024 ** 3

let w: World
let nodes: Record<'de1' | 'nl1' | 'us1', FakeNode>
beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7)
  nodes = addAll(w)
})
afterEach(() => w.close())

const YEAR = 400 * DAY
const subscribe = (more: Parameters<typeof addSubscription>[2]) =>
  addSubscription(w, 7, {
    ...{ quota_bytes: 10 * GB, used_bytes: 4 * GB, quota_period: 'month' },
    ...{ quota_anchor: nowOf(w), expires_at: inSeconds(w, YEAR) },
    ...{ resets_at: '2026-04-01T00:00:00', ...more },
  })
const rowOf = (uuid: string) =>
  w.rows(
    'select used_bytes, extra_bytes, limited_at, quota_notice, resets_at from subscriptions where uuid = ?',
    uuid,
  )[0]
const reset = async () => {
  await resetTrafficPeriods(w.s)
  await w.s.background.idle()
}
const to = (at: string) => w.clock.advance(Date.parse(`${at}Z`) - w.clock.now().getTime())

test('a period ends at its very second, and not before', async () => {
  const uuid = subscribe({ used_bytes: 11 * GB, extra_bytes: 3 * GB, quota_notice: 80 })
  to('2026-03-31T23:59:59')
  await reset()
  expect(rowOf(uuid)).toMatchObject({ used_bytes: 11 * GB, resets_at: '2026-04-01T00:00:00' })
  to('2026-04-01T00:00:00')
  await reset()
  expect(rowOf(uuid)).toEqual({
    ...{ used_bytes: 0, extra_bytes: 2 * GB, limited_at: null, quota_notice: 0 },
    resets_at: '2026-05-01T00:00:00',
  })
})

test('a scheduler that was away over three of them begins one, and the next is ahead', async () => {
  putSettings(w, { WEBHOOK_EVENTS: 'subscription.traffic_reset' })
  const month = subscribe({})
  const own = subscribe({ quota_period: 'rolling', quota_anchor: '2026-01-31T08:00:00' })
  w.change("update subscriptions set resets_at = '2026-03-31T08:00:00' where uuid = ?", own)
  to('2026-06-30T09:00:00')
  await reset()
  await reset()
  expect(rowOf(month).resets_at).toBe('2026-07-01T00:00:00')
  expect(rowOf(own).resets_at).toBe('2026-07-31T08:00:00')
  const events = eventsOf(w).filter(({ event }) => event === 'subscription.traffic_reset')
  expect(events).toHaveLength(2)
})

test('who had used up all is served again, everywhere', async () => {
  const uuid = subscribe({ node_group: 'all', used_bytes: 10 * GB, limited_at: nowOf(w) })
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  for (const node of Object.values(nodes)) expect(node.clients.has(uuid)).toBe(false)
  to('2026-04-01T00:00:01')
  await reset()
  for (const node of Object.values(nodes)) expect(node.clients.has(uuid)).toBe(true)
})

test('a held one’s own months wait for it, those of the calendar do not; ended ones tell nobody', async () => {
  putSettings(w, { WEBHOOK_EVENTS: 'subscription.traffic_reset' })
  const held = { held_at: nowOf(w) }
  const own = subscribe({ ...held, quota_period: 'rolling' })
  const month = subscribe(held)
  const ended = subscribe({ expires_at: inSeconds(w, DAY) })
  const revoked = subscribe({ active: 0 })
  to('2026-04-11T12:00:00')
  await reset()
  expect(rowOf(own)).toMatchObject({ used_bytes: 4 * GB, resets_at: '2026-04-01T00:00:00' })
  expect(rowOf(month).used_bytes).toBe(0)
  expect(rowOf(ended)).toMatchObject({ used_bytes: 0, resets_at: '2026-05-01T00:00:00' })
  expect(rowOf(revoked).used_bytes).toBe(4 * GB)
  expect(eventsOf(w)).toEqual([])
  await w.admin(`/admin/api/subscriptions/${own}/resume`, { method: 'POST' })
  // Held for 41 days: that much later.
  expect(rowOf(own).resets_at).toBe('2026-05-12T00:00:00')
})

test('thousands are reset in portions, and requests go on in between', async () => {
  const many = Array.from({ length: 1000 }, () => subscribe({}))
  to('2026-04-02T00:00:00')
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  await reset()
  clearInterval(timer)
  expect(turns).toBeGreaterThan(2)
  const [{ n }] = w.rows('select count(*) as n from subscriptions where used_bytes = 0')
  expect(n).toBe(many.length)
})

test('a run that is to end leaves the rest to the next one', async () => {
  for (let i = 0; i < 12; i++) subscribe({})
  to('2026-04-01T00:00:00')
  await resetTrafficPeriods(w.s, () => false)
  const left = () => w.rows('select 1 from subscriptions where used_bytes > 0').length
  expect(left()).toBe(7)
  await reset()
  expect(left()).toBe(0)
})
