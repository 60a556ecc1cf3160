/** Subscriptions that are revoked or counted anew, and one change many times at once. */
import { describe, expect, test } from 'vitest'
import { given, post, unknown, type Verb } from '#test/support/calls/subscription-calls.ts'
import { addSubscription, auditOf, eventsOf, inSeconds } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const held = (w: World) => ({ held_at: inSeconds(w, -3600) })
const expired = (w: World) => ({ expires_at: inSeconds(w, 0) })
const revoked = { active: 0, revoked_at: '2026-02-01T00:00:00' }

const row = (w: World) =>
  w.rows('select expires_at, active, held_at, revoked_at from subscriptions')[0]

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
      expect(w.rows('select active from subscriptions order by seq')).toEqual([
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
