/** Subscriptions that get more days. */
import { describe, expect, test } from 'vitest'
import { SUBSCRIPTION_VIEW } from '#test/support/calls/views.ts'
import { given, type More, unknown } from '#test/support/rows/expiry-rows.ts'
import { DAY, eventsOf, inSeconds } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const LIST = '/admin/api/subscriptions'
const held = (w: World): More => ({ held_at: inSeconds(w, -9), expires_at: inSeconds(w, -5) })
const expired = (w: World): More => ({ expires_at: inSeconds(w, 0) })
const revoked: More = { active: 0 }
const extend = (body: unknown) => (uuid: string) => ({ path: `${LIST}/${uuid}/extend`, body })
const row = (w: World) => w.rows('select * from subscriptions')[0]

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
