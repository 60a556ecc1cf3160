import { describe, expect, test } from 'vitest'
import { DatabaseFailure } from '#db/engine/failures.ts'
import {
  addSubscription,
  addUser,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
} from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, grantUser, type World } from '#test/support/worlds/world.ts'

const BULK = '/admin/api/users/bulk'
const GRANT = { action: 'grant', node: 'de1', plan: '1m' }

const bulk = (body: unknown): Scenario['request'] => ({ path: BULK, body })
const range = (count: number, from = 1) => Array.from({ length: count }, (_, i) => from + i)
const clients = (w: World) => [...w.node.clients.keys()].sort()
const applies = (w: World) => w.node.calls.filter(({ verb }) => verb === 'apply')
const done = (...ids: number[]) => ids.map((tg_id) => ({ tg_id, ok: true }))

scenarios('POST /admin/api/users/bulk', [
  {
    name: '200 for a grant to known and unknown users, each once, in their order; no event',
    given: (w) => addUser(w, 7, { username: 'alice' }),
    request: bulk({ ...GRANT, tg_ids: [9, 7, 9, 8, 7] }),
    status: 200,
    body: done(9, 7, 8),
    effects: (w) => {
      const rows = w.rows('select uuid, tg_id, source, expires_at from subscriptions order by seq')
      expect(rows.map(({ uuid: _, ...row }) => row)).toEqual(
        [9, 7, 8].map((tg_id) => ({ tg_id, source: 'admin', expires_at: '2026-03-31T12:00:00' })),
      )
      expect(clients(w)).toEqual(rows.map(({ uuid }) => uuid).sort())
      expect(applies(w)).toHaveLength(1)
      expect(w.rows('select tg_id from users order by tg_id').map(({ tg_id }) => tg_id)).toEqual([
        7, 8, 9,
      ])
      expect(w.rows('select action, object, detail from audit_log')).toEqual(
        rows.map(({ uuid, tg_id }) => ({
          action: 'subscription.grant',
          object: uuid,
          detail: `tg_id=${tg_id} node=de1 plan=1m`,
        })),
      )
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 for a thousand users, whose node is told once',
    request: bulk({ ...GRANT, tg_ids: range(1000) }),
    status: 200,
    body: done(...range(1000)),
    effects: (w) => {
      expect(w.node.clients.size).toBe(1000)
      expect(applies(w)).toHaveLength(1)
      expect(auditOf(w)).toHaveLength(1000)
    },
  },
  {
    name: '200 for an extension of what runs and what is held, the others told why not',
    given: (w) => {
      for (const tgId of [1, 2, 3, 4]) addUser(w, tgId)
      addSubscription(w, 1, { expires_at: inSeconds(w, DAY) })
      addSubscription(w, 1, { expires_at: inSeconds(w, 0) })
      addSubscription(w, 1, { active: 0, expires_at: inSeconds(w, DAY) })
      addSubscription(w, 2, { held_at: inSeconds(w, -9), expires_at: inSeconds(w, -5) })
      addSubscription(w, 3, { expires_at: inSeconds(w, -1) })
    },
    request: bulk({ action: 'extend', tg_ids: [1, 2, 3, 4, 5], days: 3 }),
    status: 200,
    body: [
      ...done(1, 2),
      { tg_id: 3, ok: false, error: 'no active or held subscription' },
      { tg_id: 4, ok: false, error: 'no active or held subscription' },
      { tg_id: 5, ok: false, error: 'user not found' },
    ],
    effects: (w) => {
      const rows = w.rows('select expires_at as e, held_at as h from subscriptions order by seq')
      expect(rows.map(({ e }) => e)).toEqual([
        inSeconds(w, 4 * DAY),
        inSeconds(w, 0),
        inSeconds(w, DAY),
        inSeconds(w, 3 * DAY - 5),
        inSeconds(w, -1),
      ])
      expect(rows[3]?.h).toBe(inSeconds(w, -9))
      expect(auditOf(w)).toEqual(['subscription.extend', 'subscription.extend'])
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 and nothing of a user is extended when one of their subscriptions cannot be',
    given: (w) => {
      addUser(w, 1)
      addSubscription(w, 1)
      addSubscription(w, 1, { expires_at: '9999-12-31T00:00:00' })
      return w.dump()
    },
    request: bulk({ action: 'extend', tg_ids: [1], days: 30 }),
    status: 200,
    body: [{ tg_id: 1, ok: false, error: 'expires_at would be too late' }],
    effects: (w, before) => expect(w.dump()).toBe(before),
  },
  {
    name: '200 for a ban of known users; their clients leave together',
    given: async (w) => {
      for (const tgId of [1, 2, 3]) await grantUser(w, tgId)
      addUser(w, 4, { banned_at: '2026-01-01T00:00:00' })
      w.node.calls.length = 0
    },
    request: bulk({ action: 'ban', tg_ids: [1, 2, 4, 5] }),
    status: 200,
    body: [...done(1, 2, 4), { tg_id: 5, ok: false, error: 'user not found' }],
    effects: (w) => {
      expect(w.node.clients.size).toBe(1)
      expect(applies(w).map(({ request }) => request?.remove.length)).toEqual([2])
      expect(w.rows('select tg_id, banned_at from users order by tg_id')).toEqual([
        { tg_id: 1, banned_at: '2026-03-01T12:00:00' },
        { tg_id: 2, banned_at: '2026-03-01T12:00:00' },
        { tg_id: 3, banned_at: null },
        { tg_id: 4, banned_at: '2026-01-01T00:00:00' },
      ])
      expect(auditOf(w).slice(3)).toEqual(['user.ban', 'user.ban'])
    },
  },
  {
    name: '200 for the end of bans; the clients come back',
    given: async (w) => {
      await grantUser(w, 1)
      await w.admin(BULK, { body: { action: 'ban', tg_ids: [1] } })
    },
    request: bulk({ action: 'unban', tg_ids: [1] }),
    status: 200,
    body: done(1),
    effects: (w) => expect(w.node.clients.size).toBe(1),
  },
  {
    name: '200 although the node does not answer',
    given: (w) => {
      w.node.failure = 'unreachable'
    },
    request: bulk({ ...GRANT, tg_ids: [1] }),
    status: 200,
    body: done(1),
  },
  ...(
    [
      [{ ...GRANT, tg_ids: [1], node: 'gone' }, 'unknown node'],
      [{ ...GRANT, tg_ids: [1], plan: 'gone' }, 'unknown plan'],
      [{ action: 'grant', tg_ids: [1], plan: '1m' }, 'node is missing or of the wrong type'],
      [{ action: 'grant', tg_ids: [1], node: 'de1' }, 'plan is missing or of the wrong type'],
      [{ action: 'extend', tg_ids: [1] }, 'days is missing or of the wrong type'],
      ...[0, -1, 1.5, '3', 3651].map(
        (days) =>
          [
            { action: 'extend', tg_ids: [1], days },
            'days must be a whole number from 1 to 3650',
          ] as const,
      ),
      ...['delete', 'BAN', '', null, 1, undefined, 'constructor'].map(
        (action) =>
          [{ action, tg_ids: [1] }, 'action must be one of grant, extend, ban, unban'] as const,
      ),
      [{ action: 'ban' }, 'tg_ids is missing or of the wrong type'],
      [{ action: 'ban', tg_ids: 1 }, 'tg_ids must be a list of Telegram ids'],
      [{ action: 'ban', tg_ids: [] }, 'tg_ids must not be empty'],
      [{ action: 'ban', tg_ids: range(1001) }, 'tg_ids must have at most 1000 ids'],
      ...[0, 1.5, '1', null, 2 ** 53].map(
        (id) =>
          [
            { action: 'ban', tg_ids: [1, id] },
            'tg_ids.1 must be a whole number from 1 to 9007199254740991',
          ] as const,
      ),
      [[], 'the body must be a JSON object'],
    ] as const
  ).map(([body, error]) => ({
    name: `400 ${error} for ${JSON.stringify(body).slice(0, 60)}`,
    given: (w: World) => addUser(w, 1),
    request: bulk(body),
    status: 400,
    error,
    effects: (w: World) => expect([auditOf(w), w.node.calls]).toEqual([[], []]),
  })),
  {
    name: '400 for no JSON',
    request: { path: BULK, raw: '{' },
    status: 400,
    error: 'invalid JSON',
  },
])

describe('two bulk actions at once', () => {
  test('extend every user twice', async () => {
    const w = await createWorld()
    for (const tgId of range(60)) {
      addUser(w, tgId)
      addSubscription(w, tgId)
    }
    const body = { action: 'extend', tg_ids: range(60), days: 1 }
    const answers = await Promise.all([1, 2].map(() => w.admin(BULK, { body })))
    for (const { json } of answers) expect(json).toEqual(done(...range(60)))
    const expiries = w.rows('select distinct expires_at as e from subscriptions')
    expect(expiries).toEqual([{ e: inSeconds(w, 32 * DAY) }])
    w.close()
  })

  test('ban each user once, and leave none of their clients', async () => {
    const w = await createWorld()
    await w.admin(BULK, { body: { ...GRANT, tg_ids: range(60) } })
    await w.s.background.idle()
    const body = { action: 'ban', tg_ids: range(60) }
    const both = [w.admin(BULK, { body }), w.admin(BULK, { body: { ...GRANT, tg_ids: range(60) } })]
    await Promise.all([...both, w.admin(BULK, { body })])
    await w.s.background.idle()
    expect(auditOf(w).filter((action) => action === 'user.ban')).toHaveLength(60)
    expect(w.rows('select count(*) as n from subscriptions')[0].n).toBe(120)
    expect(w.node.clients.size).toBe(0)
    w.close()
  })

  test('let other requests through while they last', async () => {
    const w = await createWorld()
    let over = false
    const all = w.admin(BULK, { body: { ...GRANT, tg_ids: range(1000) } }).then(() => (over = true))
    let answered = 0
    while (!over) {
      await w.call('/healthz')
      await new Promise((resolve) => setImmediate(resolve))
      answered++
    }
    await all
    expect(answered).toBeGreaterThan(10)
    w.close()
  })
})

test('a user whose turn finds the database locked is told so, and the others are done', async () => {
  const w = await createWorld()
  const tx = w.s.db.tx
  let calls = 0
  w.s.db.tx = (body) => {
    if (++calls === 2) throw new DatabaseFailure('busy', 'locked')
    return tx(body)
  }
  const { status, json } = await w.admin(BULK, { body: { ...GRANT, tg_ids: range(60) } })
  const failed = range(5, 6)
  expect(status).toBe(200)
  const error = 'not done: the database cannot be written now'
  expect(json).toEqual(
    range(60).map((tg_id) =>
      failed.includes(tg_id) ? { tg_id, ok: false, error } : { tg_id, ok: true },
    ),
  )
  expect(w.node.clients.size).toBe(55)
  w.close()
})
