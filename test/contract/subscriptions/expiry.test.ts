import { expect, test } from 'vitest'
import { SUBSCRIPTION_VIEW } from '#test/support/calls/views.ts'
import { given, type More, unknown } from '#test/support/rows/expiry-rows.ts'
import { auditOf, eventsOf, inSeconds } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const LIST = '/admin/api/subscriptions'
const held = (w: World): More => ({ held_at: inSeconds(w, -9), expires_at: inSeconds(w, -5) })
const expired = (w: World): More => ({ expires_at: inSeconds(w, 0) })
const revoked: More = { active: 0 }

const edit = (body: unknown) => (uuid: string) => ({
  path: `${LIST}/${uuid}`,
  method: 'PATCH',
  body,
})

const row = (w: World) => w.rows('select * from subscriptions')[0]

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
      await w.s.nodeSync.touch([{ uuid, node: 'de1', nodeGroup: null }])
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
