import { expect } from 'vitest'
import { SUBSCRIPTION_VIEW } from '#test/support/calls/views.ts'
import { addNode, addSubscription, addUser, eventsOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'

const grant = (body: unknown, tgId: number | string = 7) => ({
  path: `${USERS}/${tgId}/grant`,
  body,
})
const ORDER = { node: 'de1', plan: '1m' }

const refusesGrant = (
  body: unknown,
  error: string | RegExp,
  given?: (w: World) => void,
): Scenario => ({
  name: `400 for ${JSON.stringify(body)}${given ? ' when it is archived' : ''}`,
  ...(given ? { given } : {}),
  request: grant(body),
  status: 400,
  error,
  effects: (w) => {
    expect(w.rows('select * from users')).toEqual([])
    expect(eventsOf(w)).toEqual([])
    expect(w.node.calls).toEqual([])
  },
})

scenarios('POST /admin/api/users/{tg_id}/grant', [
  {
    name: '200 with the created subscription; the user is created, the client added, the event written',
    request: grant(ORDER),
    status: 200,
    effects: (w, _given, { json }) => {
      const { uuid } = json
      expect(json).toEqual({ ...SUBSCRIPTION_VIEW, uuid, username: null })
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const [user] = w.rows('select * from users')
      expect(user).toMatchObject({ tg_id: 7, username: null, hwid_limit: null })
      expect(user.token).toMatch(/^[A-Za-z0-9_-]{43}$/)
      expect(w.node.clients.get(uuid)).toBe('de1')
      expect(eventsOf(w)).toEqual([
        {
          event: 'subscription.granted_by_admin',
          status: 'skipped',
          data: {
            tg_id: 7,
            username: null,
            node: 'de1',
            node_label: 'Local',
            plan: '1m',
            plan_label: '30 days',
            subscription_uuid: uuid,
            expires_at: '2026-03-31T12:00:00',
          },
        },
      ])
      expect(w.rows('select admin, action, object, detail from audit_log')).toEqual([
        {
          admin: 'admin',
          action: 'subscription.grant',
          object: uuid,
          detail: 'tg_id=7 node=de1 plan=1m',
        },
      ])
      expect(w.rows('select * from outbox')).toEqual([])
    },
  },
  {
    name: '200 for a user who exists, who keeps name and token; a further subscription is added',
    given: (w) => {
      const token = addUser(w, 7, { username: 'alice', hwid_limit: 3 })
      addSubscription(w, 7)
      return token
    },
    request: grant({ node: 'de1', plan: '12m' }),
    status: 200,
    effects: (w, token, { json }) => {
      expect(json).toMatchObject({
        username: 'alice',
        plan_label: '365 days',
        expires_at: '2027-03-01T12:00:00',
        days_left: 365,
      })
      expect(w.rows('select token, username, hwid_limit from users')).toEqual([
        { token, username: 'alice', hwid_limit: 3 },
      ])
      expect(w.rows('select * from subscriptions')).toHaveLength(2)
    },
  },
  {
    name: '200 with an event that is sent where a webhook is set, whatever becomes of it',
    world: { environment: { WEBHOOK_URL: 'http://127.0.0.1:1/', WEBHOOK_SECRET: 'x' } },
    request: grant(ORDER),
    status: 200,
    effects: (w) => expect(eventsOf(w)[0]?.status).toBe('failed'),
  },
  {
    name: '200 although the node does not answer: the sync adds the client later',
    given: (w) => {
      w.node.failure = 'unreachable'
    },
    request: grant(ORDER),
    status: 200,
    effects: async (w, _given, { json }) => {
      expect(w.node.clients.size).toBe(0)
      w.node.failure = null
      await w.s.nodeSync.syncAll({ force: false, remove: true })
      expect(w.node.clients.has(json.uuid)).toBe(true)
    },
  },
  ...[
    ['a disabled node', { enabled: 0 }],
    ['a pending node', { status: 'pending' }],
    ['an external node', {}],
  ].map(([what, more]) => ({
    name: `200 on ${what}`,
    given: (w: World) => addNode(w, 'nl', more as Record<string, string>),
    request: grant({ node: 'nl', plan: '1m' }),
    status: 200,
    effects: (w: World) => expect(w.node.calls).toEqual([]),
  })),
  {
    name: '200 for a plan that costs nothing and is not for sale',
    given: (w) => w.change('update plans set price = 0'),
    request: grant(ORDER),
    status: 200,
  },
  {
    name: '200 for the largest tg_id',
    request: grant(ORDER, '9007199254740991'),
    status: 200,
    effects: (_w, _given, { json }) => expect(json.tg_id).toBe(Number.MAX_SAFE_INTEGER),
  },
  {
    name: '200 for each of many grants at once to a new user, who is created once',
    given: (w) =>
      Promise.all(Array.from({ length: 9 }, () => w.admin(`${USERS}/7/grant`, { body: ORDER }))),
    request: grant(ORDER),
    status: 200,
    effects: (w, answers) => {
      expect(answers.map((answer: { status: number }) => answer.status)).toEqual(Array(9).fill(200))
      expect(w.rows('select * from users')).toHaveLength(1)
      expect(w.rows('select * from subscriptions')).toHaveLength(10)
      expect(w.node.clients.size).toBe(10)
      expect(eventsOf(w)).toHaveLength(10)
    },
  },
  refusesGrant({ node: 'nope', plan: '1m' }, 'unknown node'),
  refusesGrant({ node: 'DE1', plan: '1m' }, 'unknown node'),
  refusesGrant({ node: '', plan: '1m' }, 'unknown node'),
  refusesGrant({ node: 'de1', plan: 'nope' }, 'unknown plan'),
  refusesGrant({ node: 'de1', plan: '' }, 'unknown plan'),
  refusesGrant(ORDER, 'plan is archived', (w) => w.change('update plans set archived = 1')),
  refusesGrant({ plan: '1m' }, /^node /),
  refusesGrant({ node: 'de1' }, /^plan /),
  refusesGrant({ node: 1, plan: '1m' }, /^node /),
  refusesGrant({ node: 'de1', plan: null }, /^plan /),
  refusesGrant({}, /^node /),
])
