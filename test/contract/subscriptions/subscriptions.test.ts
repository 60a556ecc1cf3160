import { expect, test } from 'vitest'
import {
  given,
  post,
  SUBSCRIPTIONS,
  unknown,
  type Verb,
} from '#test/support/calls/subscription-calls.ts'
import { auditOf, DAY, eventsOf, inSeconds } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const held = (w: World) => ({ held_at: inSeconds(w, -3600) })
const expired = (w: World) => ({ expires_at: inSeconds(w, 0) })
const revoked = { active: 0, revoked_at: '2026-02-01T00:00:00' }

const row = (w: World) =>
  w.rows('select expires_at, active, held_at, revoked_at from subscriptions')[0]

const data = (uuid: string, expires_at = '2026-03-31T12:00:00') => ({
  tg_id: 7,
  username: 'alice',
  node: 'de1',
  node_label: 'Local',
  plan: '1m',
  plan_label: '30 days',
  subscription_uuid: uuid,
  expires_at,
})

const refuses = (verb: Verb, what: string, make: Scenario['given'], error: string): Scenario => ({
  name: `400 ${error}: ${what}`,
  given: make as NonNullable<Scenario['given']>,
  request: post(verb),
  status: 400,
  error,
  effects: (w) => {
    expect(eventsOf(w)).toEqual([])
    expect(auditOf(w)).toEqual([])
    expect(w.node.calls).toEqual([])
  },
})

scenarios('POST /admin/api/subscriptions/{uuid}/hold', [
  {
    name: '200 with held_at; the client leaves the node before the answer, event and audit row are written',
    given: given(),
    request: post('hold'),
    status: 200,
    body: { ok: true, held_at: '2026-03-01T12:00:00' },
    effects: (w, uuid) => {
      expect(row(w)).toMatchObject({ active: 1, held_at: '2026-03-01T12:00:00' })
      expect(w.node.clients.has(uuid)).toBe(false)
      expect(eventsOf(w)).toEqual([
        { event: 'subscription.held', status: 'skipped', data: data(uuid) },
      ])
      expect(auditOf(w)).toEqual(['subscription.hold'])
    },
  },
  {
    name: '200 and the sync does not bring the client back',
    given: given(),
    request: post('hold'),
    status: 200,
    effects: async (w, uuid) => {
      await w.s.nodeSync.syncAll({ force: false, remove: true })
      expect(w.node.clients.has(uuid)).toBe(false)
    },
  },
  {
    name: '200 and days_left stands still from then on',
    given: given(),
    request: post('hold'),
    status: 200,
    effects: async (w) => {
      w.clock.advance(10 * DAY * 1000)
      const [listed] = (await w.admin(SUBSCRIPTIONS)).json
      expect([listed.days_left, listed.held_at]).toEqual([30, '2026-03-01T12:00:00'])
    },
  },
  {
    name: '200 although the node does not answer',
    given: (w) => {
      w.node.failure = 'unreachable'
      return given()(w)
    },
    request: post('hold'),
    status: 200,
    effects: (w) => expect(row(w).held_at).toBe('2026-03-01T12:00:00'),
  },
  {
    name: '200 for one that has a second left',
    given: given((w) => ({ expires_at: inSeconds(w, 1) })),
    request: post('hold'),
    status: 200,
  },
  {
    name: '200 for one whose node is gone',
    given: given({ node: 'gone' }),
    request: post('hold'),
    status: 200,
  },
  refuses('hold', 'held before', given(held), 'already held'),
  refuses(
    'hold',
    'held before, its time over meanwhile',
    given((w) => ({ ...held(w), ...expired(w) })),
    'already held',
  ),
  refuses('hold', 'expired this second', given(expired), 'expired'),
  refuses('hold', 'revoked', given(revoked), 'subscription is not active'),
  refuses(
    'hold',
    'revoked and expired',
    given((w) => ({ ...revoked, ...expired(w) })),
    'subscription is not active',
  ),
  ...unknown('hold'),
])

scenarios('POST /admin/api/subscriptions/{uuid}/resume', [
  {
    name: '200 with an expiry moved by exactly the pause; the client returns before the answer',
    given: given((w) => ({ held_at: inSeconds(w, -90_061) })),
    request: post('resume'),
    status: 200,
    body: { ok: true, expires_at: '2026-04-01T13:01:01' },
    effects: (w, uuid) => {
      expect(row(w)).toMatchObject({ held_at: null, expires_at: '2026-04-01T13:01:01', active: 1 })
      expect(w.node.clients.get(uuid)).toBe('de1')
      expect(eventsOf(w)).toEqual([
        {
          event: 'subscription.resumed',
          status: 'skipped',
          data: data(uuid, '2026-04-01T13:01:01'),
        },
      ])
      expect(auditOf(w)).toEqual(['subscription.resume'])
    },
  },
  {
    name: '200 with all its time for one whose expiry passed during the pause',
    given: given((w) => ({
      held_at: inSeconds(w, -40 * DAY),
      expires_at: inSeconds(w, -30 * DAY),
    })),
    request: post('resume'),
    status: 200,
    body: { ok: true, expires_at: '2026-03-11T12:00:00' },
    effects: (w, uuid) => expect(w.node.clients.has(uuid)).toBe(true),
  },
  {
    name: '200 with the expiry as it was where the clock has jumped back',
    given: given((w) => ({ held_at: inSeconds(w, 500) })),
    request: post('resume'),
    status: 200,
    body: { ok: true, expires_at: '2026-03-31T12:00:00' },
  },
  refuses('resume', 'active', given(), 'subscription is not held'),
  refuses('resume', 'expired', given(expired), 'subscription is not held'),
  refuses('resume', 'revoked', given(revoked), 'subscription is not held'),
  refuses(
    'resume',
    'revoked with a pause that an older program left',
    given((w) => ({ ...revoked, ...held(w) })),
    'subscription is not held',
  ),
  ...unknown('resume'),
])

test('a change, its event and its audit row are written together or not at all', async () => {
  const w = await createWorld()
  const uuid = given()(w)
  w.obstruct('insert', 'audit_log')
  const before = w.dump()
  for (const verb of ['hold', 'revoke', 'reset-traffic'] as const) {
    expect((await w.admin(post(verb)(uuid).path, { method: 'POST' })).status, verb).toBe(500)
  }
  const order = { node: 'de1', plan: '1m' }
  expect((await w.admin('/admin/api/users/9/grant', { body: order })).status).toBe(500)
  expect((await w.admin('/admin/api/hwid-settings', { body: { enabled: true } })).status).toBe(500)
  const label = { method: 'PATCH', body: { label: 'x' } }
  expect((await w.admin('/admin/api/nodes/de1', label)).status).toBe(500)
  expect(w.dump()).toBe(before)
  expect(w.node.clients.has(uuid)).toBe(true)
  w.close()
})
