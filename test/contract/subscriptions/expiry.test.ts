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
import { SUBSCRIPTION_VIEW } from '#test/support/views.ts'
import { createWorld, type World } from '#test/support/world.ts'

const LIST = '/admin/api/subscriptions'

type More = Record<string, string | number | null>
/** A subscription of user 7; those that are active are on the node. */
const given =
  (more: More | ((w: World) => More) = {}) =>
  (w: World) => {
    addUser(w, 7, { username: 'alice' })
    const uuid = addSubscription(w, 7, typeof more === 'function' ? more(w) : more)
    return uuid
  }
const held = (w: World): More => ({ held_at: inSeconds(w, -9), expires_at: inSeconds(w, -5) })
const expired = (w: World): More => ({ expires_at: inSeconds(w, 0) })
const revoked: More = { active: 0 }

const extend = (body: unknown) => (uuid: string) => ({ path: `${LIST}/${uuid}/extend`, body })
const edit = (body: unknown) => (uuid: string) => ({
  path: `${LIST}/${uuid}`,
  method: 'PATCH',
  body,
})
const row = (w: World) => w.rows('select * from subscriptions')[0]

const unknown = (request: (uuid: string) => Scenario['request']): Scenario[] =>
  ['00000000-0000-4000-8000-ffffffffffff', 'nope', '%00'].map((uuid) => ({
    name: `404 for the unknown subscription ${uuid}`,
    given: given(),
    request: request(uuid),
    status: 404,
    error: 'subscription not found',
  }))

scenarios('POST /admin/api/subscriptions/{uuid}/extend', [
  {
    name: '200 with the one view; an active one lasts so much longer, without an event',
    given: given({ up_bytes: 5 }),
    request: extend({ days: 10 }),
    status: 200,
    body: (uuid: string) => ({
      ...SUBSCRIPTION_VIEW,
      uuid,
      up: 5,
      expires_at: '2026-04-10T12:00:00',
      days_left: 40,
    }),
    effects: (w, uuid) => {
      expect(w.rows('select admin, action, object, detail from audit_log')).toEqual([
        { admin: 'admin', action: 'subscription.extend', object: uuid, detail: 'tg_id=7 days=10' },
      ])
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 for a held one, which stays held and off its node',
    given: given(held),
    request: extend({ days: 1 }),
    status: 200,
    effects: async (w, uuid, { json }) => {
      expect(json).toMatchObject({ held_at: inSeconds(w, -9), expires_at: inSeconds(w, DAY - 5) })
      expect(w.node.clients.has(uuid)).toBe(false)
      const resumed = await w.admin(`${LIST}/${uuid}/resume`, { method: 'POST' })
      expect(resumed.json.expires_at).toBe(inSeconds(w, DAY + 4))
    },
  },
  ...[0, -300 * DAY].map((seconds) => ({
    name: `200 for one that ran out ${-seconds / DAY} days ago: from now on, and on its node before the answer`,
    given: given((w) => ({ expires_at: inSeconds(w, seconds) })),
    request: extend({ days: 3 }),
    status: 200,
    effects: (w: World, uuid: string, { json }: { json: { expires_at: string } }) => {
      expect(json.expires_at).toBe(inSeconds(w, 3 * DAY))
      expect([...w.node.clients.keys()]).toEqual([uuid])
    },
  })),
  {
    name: '200 for one whose node and plan are gone',
    given: given({ node: 'gone', plan: 'gone' }),
    request: extend({ days: 1 }),
    status: 200,
  },
  {
    name: '400 for a revoked one',
    given: given(revoked),
    request: extend({ days: 1 }),
    status: 400,
    error: 'subscription is revoked',
  },
  {
    name: '400 where the year would have five digits',
    given: given({ expires_at: '9999-12-31T00:00:00' }),
    request: extend({ days: 1 }),
    status: 400,
    error: 'expires_at would be too late',
  },
  ...[
    {},
    { days: 0 },
    { days: -1 },
    { days: 1.5 },
    { days: '1' },
    { days: 3651 },
    { days: null },
  ].map((body) => ({
    name: `400 for ${JSON.stringify(body)}`,
    given: given(),
    request: extend(body),
    status: 400,
    error: /^days (is missing|must be a whole number from 1 to 3650)/,
  })),
  {
    name: '400 for no JSON',
    given: given(),
    request: (uuid) => ({ path: `${LIST}/${uuid}/extend`, raw: 'days=1' }),
    status: 400,
    error: 'invalid JSON',
  },
  ...unknown(extend({ days: 1 })),
])

scenarios('PATCH /admin/api/subscriptions/{uuid}', [
  {
    name: '200 with the one view and another expiry, without an event',
    given: given(),
    request: edit({ expires_at: '2026-03-11T12:00:00' }),
    status: 200,
    body: (uuid: string) => ({
      ...SUBSCRIPTION_VIEW,
      uuid,
      expires_at: '2026-03-11T12:00:00',
      days_left: 10,
    }),
    effects: (w, uuid) => {
      expect(w.rows('select action, object, detail from audit_log')).toEqual([
        {
          action: 'subscription.edit',
          object: uuid,
          detail: 'tg_id=7 expires_at=2026-03-11T12:00:00',
        },
      ])
      expect(eventsOf(w)).toEqual([])
    },
  },
  {
    name: '200 for a time in the past, which ends it: the client leaves before the answer',
    given: async (w) => {
      const uuid = given()(w)
      await w.s.nodeSync.touch([{ uuid, node: 'de1' }])
      expect(w.node.clients.has(uuid)).toBe(true)
      return uuid
    },
    request: edit({ expires_at: '2020-01-01T00:00:00' }),
    status: 200,
    effects: async (w, uuid, { json }) => {
      expect(json).toMatchObject({ active: true, days_left: 0 })
      expect(w.node.clients.has(uuid)).toBe(false)
      const listed = (await w.admin(`${LIST}?status=expired`)).json
      expect(listed).toHaveLength(1)
    },
  },
  {
    name: '200 for an expired one, which comes back on its node before the answer',
    given: given(expired),
    request: edit({ expires_at: '2026-03-01T12:00:01' }),
    status: 200,
    effects: (w, uuid) => expect([...w.node.clients.keys()]).toEqual([uuid]),
  },
  {
    name: '200 for a held one, which stays held',
    given: given(held),
    request: edit({ expires_at: '2026-03-01T12:00:00' }),
    status: 200,
    effects: (w, uuid) => {
      expect(row(w)).toMatchObject({ expires_at: inSeconds(w, 0), held_at: inSeconds(w, -9) })
      expect(w.node.clients.has(uuid)).toBe(false)
    },
  },
  ...[
    {},
    { node: 'de1' },
    { plan: '12m', active: false, unknown: 1 },
    { expires_at: '2026-03-31T12:00:00' },
  ].map((body) => ({
    name: `200 and nothing changes for ${JSON.stringify(body)}`,
    given: given(),
    request: edit(body),
    status: 200,
    body: (uuid: string) => ({
      ...SUBSCRIPTION_VIEW,
      uuid,
      expires_at: '2026-03-31T12:00:00',
      days_left: 30,
    }),
    effects: (w: World) => expect([auditOf(w), w.node.calls]).toEqual([[], []]),
  })),
  {
    name: '400 for another node, and its expiry stays',
    given: given(),
    request: edit({ expires_at: '2026-03-11T12:00:00', node: 'nl1' }),
    status: 400,
    error: 'unknown node',
  },
  {
    name: '400 for a revoked one',
    given: given(revoked),
    request: edit({ expires_at: '2027-01-01T00:00:00' }),
    status: 400,
    error: 'subscription is revoked',
  },
  {
    name: '400 for a held one that would have no time left when it was paused',
    given: given(held),
    request: (uuid, w) => edit({ expires_at: inSeconds(w, -9) })(uuid),
    status: 400,
    error: 'expires_at must be later than held_at',
  },
  ...[
    '2026-03-11',
    '2026-03-11T12:00:00Z',
    '2026-03-11 12:00:00',
    '2026-03-11T12:00:00.000',
    '+10000-01-01T00:00:00',
    '',
  ].map((expires_at) => ({
    name: `400 for ${JSON.stringify(expires_at)}`,
    given: given(),
    request: edit({ expires_at }),
    status: 400,
    error: 'expires_at must be YYYY-MM-DDTHH:MM:SS',
  })),
  ...[
    '2026-02-30T00:00:00',
    '2026-13-01T00:00:00',
    '2026-01-01T24:00:00',
    '0000-00-00T00:00:00',
  ].map((expires_at) => ({
    name: `400 for the time ${expires_at}, which does not exist`,
    given: given(),
    request: edit({ expires_at }),
    status: 400,
    error: 'expires_at must be a time that exists',
  })),
  ...[1, null, {}].map((expires_at) => ({
    name: `400 for ${JSON.stringify(expires_at)}`,
    given: given(),
    request: edit({ expires_at }),
    status: 400,
    error: 'expires_at must be YYYY-MM-DDTHH:MM:SS',
  })),
  ...unknown(edit({ expires_at: '2027-01-01T00:00:00' })),
])

test('a subscription for ever that was held lasts as long as timestamps go', async () => {
  const w = await createWorld()
  const uuid = given()(w)
  const forever = '9999-12-31T23:59:59'
  await w.admin(`${LIST}/${uuid}`, { method: 'PATCH', body: { expires_at: forever } })
  await w.admin(`${LIST}/${uuid}/hold`, { method: 'POST' })
  w.clock.advance(3_600_000)
  const resumed = await w.admin(`${LIST}/${uuid}/resume`, { method: 'POST' })
  expect([resumed.status, resumed.json]).toEqual([200, { ok: true, expires_at: forever }])
  expect((await w.admin(LIST)).json[0].expires_at).toBe(forever)
  w.close()
})

describe('extending at once', () => {
  test('twice adds both, from now on where it had run out', async () => {
    const w = await createWorld()
    const uuid = given(expired)(w)
    const ask = extend({ days: 5 })(uuid)
    await Promise.all([1, 2, 3].map(() => w.admin(ask.path, ask)))
    expect(row(w).expires_at).toBe(inSeconds(w, 15 * DAY))
    w.close()
  })

  test('and revoking: either refused, or revoked later; never on the node', async () => {
    for (const first of ['extend', 'revoke']) {
      const w = await createWorld()
      const uuid = given()(w)
      const acts = [
        () => w.admin(`${LIST}/${uuid}/extend`, { body: { days: 5 } }),
        () => w.admin(`${LIST}/${uuid}/revoke`, { method: 'POST' }),
      ]
      if (first === 'revoke') acts.reverse()
      await Promise.all(acts.map((act) => act()))
      await w.s.background.idle()
      expect([row(w).active, w.node.clients.size]).toEqual([0, 0])
      w.close()
    }
  })
})
