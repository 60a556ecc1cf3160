import { describe, expect, test } from 'vitest'
import {
  addSubscription,
  addUser,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
} from '#test/support/records.ts'
import { type Scenario, scenarios } from '#test/support/scenario.ts'
import { createWorld, type World } from '#test/support/world.ts'

const SUBSCRIPTIONS = '/admin/api/subscriptions'
type Verb = 'hold' | 'resume' | 'revoke' | 'reset-traffic'

const post = (verb: Verb) => (uuid: string) => ({
  path: `${SUBSCRIPTIONS}/${uuid}/${verb}`,
  method: 'POST',
})

/** A subscription whose client is on the node. */
const given =
  (more: Record<string, string | number | null> | ((w: World) => typeof more) = {}) =>
  (w: World): string => {
    addUser(w, 7, { username: 'alice' })
    const uuid = addSubscription(w, 7, typeof more === 'function' ? (more(w) as never) : more)
    w.node.clients.set(uuid, 'de1')
    return uuid
  }

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

const UNKNOWN = '00000000-0000-4000-8000-ffffffffffff'

const unknown = (verb: Verb): Scenario[] =>
  [UNKNOWN, 'nope', '%00', '%F0%9F%92%A9', 'x'.repeat(10_000)].map((uuid) => ({
    name: `404 for the unknown subscription ${uuid.slice(0, 40)}`,
    given: given(),
    request: () => post(verb)(uuid),
    status: 404,
    error: 'subscription not found',
  }))

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

const revokes = (what: string, make: ReturnType<typeof given>): Scenario => ({
  name: `200 for one that is ${what}; the client is removed, event and audit row are written`,
  given: make,
  request: post('revoke'),
  status: 200,
  body: { ok: true },
  effects: (w, uuid) => {
    expect(row(w)).toMatchObject({ active: 0, held_at: null, revoked_at: '2026-03-01T12:00:00' })
    expect(w.node.clients.has(uuid)).toBe(false)
    expect(eventsOf(w).map(({ event }) => event)).toEqual(['subscription.revoked'])
    expect(eventsOf(w)[0]?.data).toMatchObject({ subscription_uuid: uuid, tg_id: 7 })
    expect(auditOf(w)).toEqual(['subscription.revoke'])
  },
})

scenarios('POST /admin/api/subscriptions/{uuid}/revoke', [
  revokes('active', given()),
  revokes('held', given(held)),
  revokes('expired', given(expired)),
  {
    name: '200 without event, audit row or node call for one that is revoked',
    given: given(revoked),
    request: post('revoke'),
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(row(w).revoked_at).toBe('2026-02-01T00:00:00')
      expect(eventsOf(w)).toEqual([])
      expect(auditOf(w)).toEqual([])
      expect(w.node.calls).toEqual([])
    },
  },
  {
    name: '200 for one whose node is gone',
    given: given({ node: 'gone' }),
    request: post('revoke'),
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(row(w).active).toBe(0)
      expect(w.node.calls).toEqual([])
    },
  },
  {
    name: '200 and other subscriptions of the user stay',
    given: (w) => {
      const uuid = given()(w)
      addSubscription(w, 7)
      return uuid
    },
    request: post('revoke'),
    status: 200,
    effects: (w) =>
      expect(w.rows('select active from subscriptions order by rowid')).toEqual([
        { active: 0 },
        { active: 1 },
      ]),
  },
  ...unknown('revoke'),
])

const counted = (w: World) =>
  w.rows('select up_bytes as up, down_bytes as down from subscriptions')[0]

scenarios('POST /admin/api/subscriptions/{uuid}/reset-traffic', [
  {
    name: '200 ok: the totals become 0 and what the core counts from now on is added',
    given: given({ up_bytes: 10, down_bytes: 20 }),
    request: (uuid, w) => {
      w.node.counters.set(uuid, [100, 200])
      return post('reset-traffic')(uuid)
    },
    status: 200,
    body: { ok: true },
    effects: async (w, uuid) => {
      expect(counted(w)).toEqual({ up: 0, down: 0 })
      w.node.counters.set(uuid, [101, 203])
      await w.s.nodeSync.readTraffic(1000)
      expect(counted(w)).toEqual({ up: 1, down: 3 })
      expect(auditOf(w)).toEqual(['subscription.reset-traffic'])
    },
  },
  {
    name: '200 not ok when the node does not answer: the totals are 0, its next reading is the base',
    given: (w) => {
      const uuid = given({ up_bytes: 10 })(w)
      w.node.counters.set(uuid, [100, 200])
      w.node.failure = 'timeout'
      return uuid
    },
    request: post('reset-traffic'),
    status: 200,
    body: { ok: false },
    effects: async (w, uuid) => {
      expect(counted(w)).toEqual({ up: 0, down: 0 })
      w.node.failure = null
      await w.s.nodeSync.readTraffic(1000)
      expect(counted(w)).toEqual({ up: 0, down: 0 })
      w.node.counters.set(uuid, [150, 200])
      await w.s.nodeSync.readTraffic(1000)
      expect(counted(w)).toEqual({ up: 50, down: 0 })
    },
  },
  {
    name: '200 for a revoked one',
    given: given({ ...revoked, up_bytes: 10 }),
    request: post('reset-traffic'),
    status: 200,
    effects: (w) => expect(counted(w)).toEqual({ up: 0, down: 0 }),
  },
  {
    name: '404 when the node is gone, and the totals stay',
    given: given({ node: 'gone', up_bytes: 10 }),
    request: post('reset-traffic'),
    status: 404,
    error: 'node not found',
  },
  ...unknown('reset-traffic'),
])

describe('the same change many times at once', () => {
  const all = async (w: World, verb: Verb, uuid: string) => {
    const { path, method } = post(verb)(uuid)
    const answers = await Promise.all(Array.from({ length: 10 }, () => w.admin(path, { method })))
    await w.s.background.idle()
    return answers.map(({ status }) => status).sort()
  }
  const ONE_WINS = [200, ...Array(9).fill(400)]

  test('holds: one wins, one event', async () => {
    const w = await createWorld()
    const uuid = given()(w)
    expect(await all(w, 'hold', uuid)).toEqual(ONE_WINS)
    expect(eventsOf(w)).toHaveLength(1)
    expect(w.node.clients.has(uuid)).toBe(false)
    w.close()
  })

  test('resumes: one wins, the pause counts once', async () => {
    const w = await createWorld()
    const uuid = given((world) => ({ held_at: inSeconds(world, -3600) }))(w)
    expect(await all(w, 'resume', uuid)).toEqual(ONE_WINS)
    expect(row(w).expires_at).toBe('2026-03-31T13:00:00')
    expect(eventsOf(w)).toHaveLength(1)
    w.close()
  })

  test('revokes: all are answered, one event', async () => {
    const w = await createWorld()
    const uuid = given()(w)
    expect(await all(w, 'revoke', uuid)).toEqual(Array(10).fill(200))
    expect(eventsOf(w)).toHaveLength(1)
    expect(auditOf(w)).toHaveLength(1)
    w.close()
  })

  test('hold, resume and revoke mixed: the node has what the database says', async () => {
    const w = await createWorld()
    const uuid = given()(w)
    const verbs: Verb[] = ['hold', 'resume', 'hold', 'resume', 'hold', 'revoke', 'resume', 'hold']
    const path = (verb: Verb) => post(verb)(uuid).path
    await Promise.all(verbs.map((verb) => w.admin(path(verb), { method: 'POST' })))
    await w.s.background.idle()
    expect(row(w).active).toBe(0)
    expect(w.node.clients.has(uuid)).toBe(false)
    w.close()
  })
})

test('a change, its event and its audit row are written together or not at all', async () => {
  const w = await createWorld()
  const uuid = given()(w)
  w.change("create trigger fail before insert on audit_log begin select raise(abort, 'no'); end")
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
