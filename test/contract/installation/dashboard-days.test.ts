/** Days of the dashboard: traffic of a node and who is active. */
import { expect } from 'vitest'
import { addNode, addSubscription, addUser, DAY, inSeconds } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'

const BAD_DAYS = ['0', '401', '-1', '1.5', 'x', '']
const TRAFFIC = '/admin/api/nodes/de1/traffic'

scenarios('GET /admin/api/nodes/{code}/traffic', [
  {
    name: '200 with each of the last days, oldest first, of this node alone, zero days included',
    given: (w) => {
      for (const [node, date, up, down] of [
        ['de1', '2026-03-01', 5, 2 ** 53 - 1],
        ['nl', '2026-03-01', 6, 1],
        ['de1', '2026-02-27', 1, 0],
        ['de1', '2026-02-26', 9, 9],
      ]) {
        const sql = 'insert into traffic_samples (node, day, up, down) values (?, ?, ?, ?)'
        w.change(sql, node, date, up, down)
      }
    },
    request: { path: `${TRAFFIC}?days=3` },
    status: 200,
    body: [
      { day: '2026-02-27', up: 1, down: 0 },
      { day: '2026-02-28', up: 0, down: 0 },
      { day: '2026-03-01', up: 5, down: Number.MAX_SAFE_INTEGER },
    ],
  },
  {
    name: '200 with 30 days of TIMEZONE unless another number is asked for, also of a node that waits to be set up',
    world: { environment: { TIMEZONE: 'Asia/Tokyo' }, now: '2026-03-01T15:00:00' },
    given: (w) => addNode(w, 'new', { kind: 'managed', status: 'pending', enabled: 0 }),
    request: { path: '/admin/api/nodes/new/traffic' },
    status: 200,
    effects: async (w, _given, { json }) => {
      expect([json.length, json[0].day, json[29].day]).toEqual([30, '2026-02-01', '2026-03-02'])
      expect((await w.admin(`${TRAFFIC}?days=400`)).json).toHaveLength(400)
    },
  },
  ...BAD_DAYS.map((days) => ({
    name: `400 for days=${days}`,
    request: { path: `${TRAFFIC}?days=${days}` },
    status: 400,
    error: 'days must be a whole number from 1 to 400',
  })),
  {
    name: '404 for an unknown node, whatever the days',
    request: { path: '/admin/api/nodes/nope/traffic?days=x' },
    status: 404,
    error: 'node not found',
  },
])

scenarios('GET /admin/api/stats/active', [
  {
    name: '200 with nothing but 14 days without an ending',
    request: { path: '/admin/api/stats/active' },
    status: 200,
    body: {
      by_plan: [],
      by_node: [],
      endings: Array.from({ length: 14 }, (_, day) => ({
        date: `2026-03-${String(day + 1).padStart(2, '0')}`,
        count: 0,
      })),
    },
  },
  {
    name: '200 with active subscriptions alone: by plan and node, most first, and by the day they end',
    given: (w) => {
      addUser(w, 7)
      addSubscription(w, 7, { plan: '3m', node: 'gone', expires_at: inSeconds(w, DAY) })
      addSubscription(w, 7, { plan: '3m', expires_at: inSeconds(w, 1) })
      addSubscription(w, 7, { plan: 'old', expires_at: inSeconds(w, 13 * DAY) })
      addSubscription(w, 7, { plan: '1m', expires_at: inSeconds(w, 14 * DAY) })
      addSubscription(w, 7, { expires_at: inSeconds(w, 0) })
      addSubscription(w, 7, { held_at: inSeconds(w, -9), expires_at: inSeconds(w, DAY) })
      addSubscription(w, 7, { active: 0, expires_at: inSeconds(w, DAY) })
    },
    request: { path: '/admin/api/stats/active' },
    status: 200,
    body: {
      by_plan: [
        { plan: '3m', plan_label: '90 days', active: 2 },
        { plan: '1m', plan_label: '30 days', active: 1 },
        { plan: 'old', plan_label: 'old', active: 1 },
      ],
      by_node: [
        { node: 'de1', active: 3 },
        { node: 'gone', active: 1 },
      ],
      endings: Array.from({ length: 14 }, (_, day) => ({
        date: `2026-03-${String(day + 1).padStart(2, '0')}`,
        count: [0, 1, 13].includes(day) ? 1 : 0,
      })),
    },
  },
])
