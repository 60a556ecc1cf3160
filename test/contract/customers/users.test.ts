import { expect } from 'vitest'
import { SUBSCRIPTION_VIEW } from '#test/support/calls/views.ts'
import { addDevice, addSubscription, addUser, auditOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const TG_ID = 'tg_id must be a positive integer'

/** Every route of one user refuses a tg_id that is none, and but for grant one that is unknown. */
const ROUTES: [method: string, path: string, body?: unknown][] = [
  ['GET', ''],
  ['GET', '/devices'],
  ['DELETE', '/devices/1'],
  ['POST', '/hwid-limit', { limit: 1 }],
]
const NO_IDS = ['0', '-0', '1.5', 'abc', '007', '9007199254740992', '1e3', '%20', '1%00', '１']

const refusals = ROUTES.flatMap(([method, path, body]): Scenario[] => {
  const ask = (id: string) => ({
    path: `${USERS}/${id}${path}`,
    method,
    ...(body === undefined ? {} : { body }),
  })
  return [
    ...NO_IDS.map((id) => ({
      name: `400 for ${method} users/${id}${path}`,
      request: ask(id),
      status: 400,
      error: TG_ID,
    })),
    ...['1', '9007199254740991'].map((id) => ({
      name: `404 for ${method} users/${id}${path}`,
      request: ask(id),
      status: 404,
      error: 'user not found',
    })),
  ]
})

scenarios('routes of a user', [
  ...refusals,
  ...NO_IDS.map((id) => ({
    name: `400 for POST users/${id}/grant`,
    request: { path: `${USERS}/${id}/grant`, body: { node: 'de1', plan: '1m' } },
    status: 400,
    error: TG_ID,
  })),
])

scenarios('GET /admin/api/users/{tg_id}', [
  {
    name: '200 with exactly the eight fields for a user without anything',
    given: (w) => addUser(w, 7),
    request: { path: `${USERS}/7` },
    status: 200,
    body: (token: string) => ({
      tg_id: 7,
      username: null,
      created_at: '2026-03-01T12:00:00',
      token,
      subscriptions: [],
      devices: [],
      hwid_limit: null,
      hwid_fallback_limit: 5,
    }),
  },
  {
    name: '200 with all subscriptions, newest first, devices and limits',
    world: { environment: { HWID_FALLBACK_LIMIT: '9' } },
    given: (w) => {
      addUser(w, 7, { username: 'alice', hwid_limit: 0 })
      const old = addSubscription(w, 7, {
        node: 'gone',
        plan: 'gone',
        active: 0,
        created_at: '2026-02-01T00:00:00',
        expires_at: '2026-02-10T00:00:00',
        up_bytes: 5,
      })
      const uuid = addSubscription(w, 7)
      const id = addDevice(w, 7, 'device-0001', { device_os: 'iOS', user_agent: 'Happ/1' })
      addUser(w, 8)
      addSubscription(w, 8)
      addDevice(w, 8, 'device-0002')
      return { old, uuid, id }
    },
    request: { path: `${USERS}/7` },
    status: 200,
    effects: (_w, { old, uuid, id }, { json }) => {
      expect(json.subscriptions).toEqual([
        { ...SUBSCRIPTION_VIEW, uuid },
        {
          ...SUBSCRIPTION_VIEW,
          uuid: old,
          node: 'gone',
          node_label: 'gone',
          plan: 'gone',
          plan_label: 'gone',
          active: false,
          days_left: 0,
          created_at: '2026-02-01T00:00:00',
          expires_at: '2026-02-10T00:00:00',
          up: 5,
        },
      ])
      expect(json.devices).toEqual([
        {
          id,
          tg_id: 7,
          hwid: 'device-0001',
          device_os: 'iOS',
          device_model: null,
          user_agent: 'Happ/1',
          created_at: '2026-03-01T12:00:00',
          last_seen_at: '2026-03-01T12:00:00',
        },
      ])
      expect([json.hwid_limit, json.hwid_fallback_limit]).toEqual([0, 9])
    },
  },
  {
    name: '200 for the largest tg_id',
    given: (w) => addUser(w, Number.MAX_SAFE_INTEGER),
    request: { path: `${USERS}/9007199254740991` },
    status: 200,
    effects: (_w, _given, { json }) => expect(json.tg_id).toBe(Number.MAX_SAFE_INTEGER),
  },
])

scenarios('GET /admin/api/users/{tg_id}/devices', [
  {
    name: '200 with devices in the order of their coming, own and fallback limit',
    given: (w) => {
      addUser(w, 7, { hwid_limit: 3 })
      return [addDevice(w, 7, 'device-0001'), addDevice(w, 7, 'device-0002')]
    },
    request: { path: `${USERS}/7/devices` },
    status: 200,
    effects: (_w, ids, { json }) => {
      expect(Object.keys(json).sort()).toEqual(['devices', 'fallback_limit', 'limit'])
      expect(json.devices.map((device: { id: number }) => device.id)).toEqual(ids)
      expect([json.limit, json.fallback_limit]).toEqual([3, 5])
    },
  },
  {
    name: '200 with nothing and no own limit',
    given: (w) => addUser(w, 7),
    request: { path: `${USERS}/7/devices` },
    status: 200,
    body: { devices: [], limit: null, fallback_limit: 5 },
  },
])

const removeDevice = (id: string | number, tgId = 7) => ({
  path: `${USERS}/${tgId}/devices/${id}`,
  method: 'DELETE',
})
const one = (w: World) => {
  addUser(w, 7)
  addUser(w, 8)
  return addDevice(w, 7, 'device-0001')
}
const ok = { status: 200, body: { ok: true } }

scenarios('DELETE /admin/api/users/{tg_id}/devices/{device_id}', [
  {
    name: '200 and the device is gone',
    given: one,
    request: (id) => removeDevice(id),
    ...ok,
    effects: (w) => {
      expect(w.rows('select * from devices')).toEqual([])
      expect(auditOf(w)).toEqual(['device.remove'])
    },
  },
  {
    name: '200 and nothing is deleted when the device is of another user',
    given: one,
    request: (id) => removeDevice(id, 8),
    ...ok,
    effects: (w) => expect(w.rows('select * from devices')).toHaveLength(1),
  },
  ...['999', '0', '-1', 'abc', '1.5', '%00', '99999999999999999999'].map((id) => ({
    name: `200 and nothing is deleted for the unknown device ${id}`,
    given: one,
    request: removeDevice(id),
    ...ok,
    effects: (w: World) => {
      expect(w.rows('select * from devices')).toHaveLength(1)
      expect(auditOf(w)).toEqual([])
    },
  })),
])

const limit = (value: unknown) => ({ path: `${USERS}/7/hwid-limit`, body: { limit: value } })
const STORED: [unknown, number | null][] = [
  [null, null],
  [0, null],
  ['0', null],
  ['', null],
  [false, null],
  [undefined, null],
  [-0, null],
  [1, 1],
  [5, 5],
  ['5', 5],
  ['05', 5],
  [1_000_000, 1_000_000],
  ['1000000', 1_000_000],
  [1.0, 1],
]
const REFUSED = [-1, 1.5, '1.5', ' 5', '5 ', 'abc', '-1', '+1', '0x10', '1e3', '５', true, [], [1]]
REFUSED.push({} as never, { limit: 1 } as never, 1_000_001, '1000001', 1e21, '9'.repeat(400))

scenarios('POST /admin/api/users/{tg_id}/hwid-limit', [
  ...STORED.map(([value, stored]) => ({
    name: `200 and ${JSON.stringify(value)} is stored as ${stored}`,
    given: (w: World) => addUser(w, 7, { hwid_limit: 77 }),
    request: limit(value),
    ...ok,
    effects: (w: World) => {
      expect(w.rows('select hwid_limit from users')).toEqual([{ hwid_limit: stored }])
      expect(auditOf(w)).toEqual(['user.hwid-limit'])
    },
  })),
  ...REFUSED.map((value) => ({
    name: `400 for ${JSON.stringify(value).slice(0, 40)}`,
    given: (w: World) => addUser(w, 7, { hwid_limit: 77 }),
    request: limit(value),
    status: 400,
    error: 'limit must be a whole number up to 1000000',
  })),
  {
    name: '200 and the limit of other users stays',
    given: (w) => {
      addUser(w, 7)
      addUser(w, 8, { hwid_limit: 8 })
    },
    request: limit(3),
    ...ok,
    effects: (w) =>
      expect(w.rows('select tg_id, hwid_limit from users order by tg_id')).toEqual([
        { tg_id: 7, hwid_limit: 3 },
        { tg_id: 8, hwid_limit: 8 },
      ]),
  },
  {
    name: '400 for a body that is no object',
    given: (w) => addUser(w, 7),
    request: { path: `${USERS}/7/hwid-limit`, body: 5 },
    status: 400,
    error: 'the body must be a JSON object',
  },
])
