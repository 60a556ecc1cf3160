import { expect, test } from 'vitest'
import { day } from '#test/support/calls/dashboard-day.ts'
import {
  addDevice,
  addNode,
  addPayment,
  addSubscription,
  addUser,
  DAY,
  inSeconds,
} from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const STATS = '/admin/api/stats'
const SERIES = '/admin/api/stats/series'
const BAD_DAYS = ['0', '401', '-1', '1.5', 'x', '']

/** Sets when and how payments were paid: `at` seconds from now. */
const paid = (w: World, at: number, more: Record<string, string | number> = {}) =>
  addPayment(w, { status: 'paid', paid_at: inSeconds(w, at), amount: 100, ...more })

const EMPTY = {
  users: 0,
  subscriptions: { active: 0, held: 0, expired: 0, revoked: 0 },
  nodes: { total: 1, active: 1, down: 0 },
  payments: { pending: 0, paid_today: 0, paid_30d: 0, review: 0, orphans: 0 },
  revenue: { today: 0, days_30: 0, currency: 'RUB' },
  devices: 0,
  expiring_3d: 0,
  traffic: { up: 0, down: 0 },
  last_sync_at: null,
  sync_blocked: [],
  version: expect.stringMatching(/^\d+\.\d+\.\d+/),
}

scenarios('GET /admin/api/stats', [
  { name: '200 with zeros', request: { path: STATS }, status: 200, body: EMPTY },
  {
    name: '200 with users, devices, and each subscription in exactly one state',
    given: (w) => {
      addUser(w, 7, { banned_at: inSeconds(w, -9) })
      addUser(w, 8)
      addDevice(w, 7, 'device-0001')
      addDevice(w, 8, 'device-0001')
      addDevice(w, 8, 'device-0002')
      addSubscription(w, 7, { expires_at: inSeconds(w, 1), up_bytes: 5 })
      addSubscription(w, 7, { expires_at: inSeconds(w, 3 * DAY), down_bytes: 7, node: 'gone' })
      addSubscription(w, 7, { expires_at: inSeconds(w, 3 * DAY + 1) })
      addSubscription(w, 8, { expires_at: inSeconds(w, 0), up_bytes: 2 ** 40 })
      addSubscription(w, 8, { held_at: inSeconds(w, -9), expires_at: inSeconds(w, DAY) })
      addSubscription(w, 8, { held_at: inSeconds(w, -9), expires_at: inSeconds(w, -5) })
      addSubscription(w, 8, { active: 0, expires_at: inSeconds(w, DAY), down_bytes: 1 })
    },
    request: { path: STATS },
    status: 200,
    body: {
      ...EMPTY,
      users: 2,
      devices: 3,
      subscriptions: { active: 3, held: 2, expired: 1, revoked: 1 },
      expiring_3d: 2,
      traffic: { up: 5 + 2 ** 40, down: 8 },
    },
  },
  {
    name: '200 with the nodes: pending ones are not active, one that fails is down until it answers',
    given: async (w) => {
      addNode(w, 'new', { status: 'pending', enabled: 0, last_error: 'x' })
      addNode(w, 'off', { enabled: 0 })
      addNode(w, 'far', { kind: 'managed', last_error: 'unreachable', sync_blocked: 1 })
      await w.s.nodeSync.syncAll({ force: false, remove: true })
    },
    request: { path: STATS },
    status: 200,
    body: {
      ...EMPTY,
      nodes: { total: 4, active: 3, down: 1 },
      last_sync_at: '2026-03-01T12:00:00',
      sync_blocked: ['far'],
    },
    effects: async (w) => {
      w.clock.advance(90_000)
      w.node.failure = 'unreachable'
      await w.s.nodeSync.syncAll({ force: false, remove: true })
      const { nodes, last_sync_at } = (await w.admin(STATS)).json
      expect([nodes.down, last_sync_at]).toEqual([2, '2026-03-01T12:00:00'])
    },
  },
  {
    name: '200 with payments and revenue of today and of 30 days of TIMEZONE',
    world: { environment: { TIMEZONE: 'Asia/Tokyo' }, now: '2026-03-01T15:00:00' },
    given: (w) => {
      // Midnight in Tokyo is this very second.
      paid(w, 0)
      paid(w, 5)
      paid(w, -1)
      paid(w, -29 * DAY)
      paid(w, -29 * DAY - 1)
      paid(w, 0, { currency: 'XTR', amount: 7000 })
      paid(w, 0, { refunded_at: inSeconds(w, 0), amount: 5000 })
      paid(w, 0, { deleted_user: 1, review_reason: 'refunded elsewhere' })
      addPayment(w, { review_reason: 'node is gone' })
      for (const [id, resolved] of [
        ['open', null],
        ['closed', inSeconds(w, 0)],
      ]) {
        w.change(
          "insert into orphan_payments (provider, external_id, found_at, resolved_at) values ('provider_a', ?, ?, ?)",
          ...[id, inSeconds(w, 0), resolved],
        )
      }
      addPayment(w, { status: 'failed', paid_at: inSeconds(w, 0) })
      addPayment(w)
    },
    request: { path: STATS },
    status: 200,
    body: {
      ...EMPTY,
      payments: { pending: 2, paid_today: 5, paid_30d: 7, review: 3, orphans: 1 },
      revenue: { today: 300, days_30: 500, currency: 'RUB' },
    },
  },
  {
    name: '200 in the CURRENCY of the environment',
    world: { environment: { CURRENCY: 'EUR' } },
    given: (w) => {
      paid(w, 0)
      paid(w, 0, { currency: 'EUR', amount: 3 })
    },
    request: { path: STATS },
    status: 200,
    effects: (_w, _given, { json }) => {
      expect(json.payments.paid_today).toBe(2)
      expect(json.revenue).toEqual({ today: 3, days_30: 3, currency: 'EUR' })
    },
  },
])

scenarios('GET /admin/api/stats/series', [
  {
    name: '200 with each of the last days, oldest first, zero days included',
    given: (w) => {
      addUser(w, 1)
      addUser(w, 2, { created_at: '2026-03-01T00:00:00' })
      addUser(w, 3, { created_at: '2026-02-28T23:59:59' })
      addUser(w, 4, { created_at: '2026-02-25T23:59:59' })
      paid(w, 0)
      paid(w, 0, { currency: 'XTR' })
      paid(w, -3 * DAY)
      paid(w, -3 * DAY, { refunded_at: inSeconds(w, 0) })
      for (const [node, date, up] of [
        ['de1', '2026-03-01', 5],
        ['gone', '2026-03-01', 6],
        ['de1', '2026-02-25', 9],
        ['de1', '2026-02-27', 1],
      ])
        w.change(
          'insert into traffic_samples (node, day, up, down) values (?, ?, ?, 1)',
          node,
          date,
          up,
        )
    },
    request: { path: `${SERIES}?days=4` },
    status: 200,
    body: [
      day('2026-02-26', { paid: 2, revenue: 100 }),
      day('2026-02-27', { up: 1, down: 1 }),
      day('2026-02-28', { users: 1 }),
      day('2026-03-01', { users: 2, paid: 2, revenue: 100, up: 11, down: 2 }),
    ],
  },
  {
    name: '200 with days of TIMEZONE, one of which has 23 hours',
    world: { environment: { TIMEZONE: 'Europe/Berlin' }, now: '2026-03-30T08:00:00' },
    given: (w) => {
      for (const [i, at] of [
        '2026-03-28T22:59:59',
        '2026-03-28T23:00:00',
        '2026-03-29T21:59:59',
        '2026-03-29T22:00:00',
      ].entries()) {
        addUser(w, i + 1, { created_at: at })
      }
    },
    request: { path: `${SERIES}?days=3` },
    status: 200,
    body: [
      day('2026-03-28', { users: 1 }),
      day('2026-03-29', { users: 2 }),
      day('2026-03-30', { users: 1 }),
    ],
  },
  {
    name: '200 with 30 days unless another number is asked for',
    request: { path: SERIES },
    status: 200,
    effects: async (w, _given, { json }) => {
      expect([json.length, json[0].date, json[29].date]).toEqual([30, '2026-01-31', '2026-03-01'])
      const year = (await w.admin(`${SERIES}?days=400`)).json
      expect([year.length, year[0].date]).toEqual([400, '2025-01-26'])
      expect((await w.admin(`${SERIES}?days=1`)).json).toEqual([day('2026-03-01')])
    },
  },
  ...BAD_DAYS.map((days) => ({
    name: `400 for days=${days}`,
    request: { path: `${SERIES}?days=${days}` },
    status: 400,
    error: 'days must be a whole number from 1 to 400',
  })),
])

test('the sum of the last 30 days is what stats say of them', async () => {
  const w = await createWorld({ environment: { TIMEZONE: 'America/Sao_Paulo' } })
  for (let hours = 0; hours < 24 * 35; hours += 7) paid(w, -hours * 3600, { amount: hours + 1 })
  const { payments, revenue } = (await w.admin(STATS)).json
  const series: { paid: number; revenue: number }[] = (await w.admin(SERIES)).json
  const sum = (key: 'paid' | 'revenue') => series.reduce((total, row) => total + row[key], 0)
  expect([sum('paid'), sum('revenue')]).toEqual([payments.paid_30d, revenue.days_30])
  expect(series.at(-1)).toMatchObject({ paid: payments.paid_today, revenue: revenue.today })
  w.close()
})
