/** What the panel makes of what it is told of nodes. */
import { expect, test } from 'vitest'
import { tellsOnce, withNode } from '#src/admin-ui/live-told.ts'
import {
  daysOf,
  faultyOf,
  type isCounted,
  ratesOf,
  uptimeOf,
} from '#src/admin-ui/screens/nodes/live-sums.ts'

type Live = Parameters<typeof isCounted>[0]

const node = (code: string, more: Partial<Live> = {}): Live => ({
  code,
  label: code,
  kind: 'managed',
  state: 'up',
  down_since: null,
  last_error: null,
  last_seen_at: null,
  core_version: null,
  at: '2026-03-01T12:00:00',
  online: 1,
  up_rate: 10,
  down_rate: 100,
  spark: [],
  core_uptime_s: null,
  host: null,
  ...more,
})

test('a node that changes stays in its place, a new one comes last', () => {
  const nodes = [node('a'), node('b')]
  const changed = node('a', { online: 5 })
  expect(withNode(nodes, changed)).toEqual([changed, node('b')])
  expect(withNode(nodes, node('c'))).toEqual([...nodes, node('c')])
})

test('what is told again is not told, as long as it is remembered', () => {
  const isNew = tellsOnce(2)
  expect(['a', 'b', 'a', 'c', 'b', 'a'].map(isNew)).toEqual([true, true, false, true, false, true])
})

test('rates are summed of the nodes of which they are so now', () => {
  const down = node('down', { state: 'down', down_since: '2026-03-01T12:01:00' })
  const fresh = node('fresh', { up_rate: null, down_rate: null })
  expect(ratesOf([node('a'), node('b', { state: 'disabled' }), down, fresh])).toEqual({
    up: 20,
    down: 200,
  })
  expect(ratesOf([fresh])).toEqual({ up: null, down: null })
  expect(ratesOf([node('idle', { up_rate: 0, down_rate: 0 })])).toEqual({ up: 0, down: 0 })
})

test('nodes that are down are said before those with a fault, others not at all', () => {
  const nodes = [
    node('fault', { state: 'trouble' }),
    node('up'),
    node('down', { state: 'down' }),
    node('off', { state: 'disabled' }),
    node('new', { state: 'pending' }),
  ]
  expect(faultyOf(nodes).map(({ code }) => code)).toEqual(['down', 'fault'])
})

test('uptime has 90 days to the one of now (UTC), those without checks too', () => {
  const days = daysOf(
    [
      { day: '2026-02-28', ok: 5, bad: 0 },
      { day: '2026-05-28', ok: 3, bad: 1 },
      { day: '2026-02-27', ok: 0, bad: 9 },
    ],
    new Date('2026-05-28T23:59:59Z'),
  )
  expect(days).toHaveLength(90)
  expect(days[0]).toEqual({ day: '2026-02-28', ok: 5, bad: 0 })
  expect(days[1]).toEqual({ day: '2026-03-01', ok: 0, bad: 0 })
  expect(days[89]).toEqual({ day: '2026-05-28', ok: 3, bad: 1 })
  expect(uptimeOf(days)).toEqual({ checks: 9, share: 0.888 })
})

test.each([
  [
    { ok: 958, bad: 2 },
    { checks: 960, share: 0.997 },
  ],
  // One of many that found it down is told all the same.
  [
    { ok: 85_999, bad: 1 },
    { checks: 86_000, share: 0.999 },
  ],
  [
    { ok: 960, bad: 0 },
    { checks: 960, share: 1 },
  ],
  [
    { ok: 0, bad: 4 },
    { checks: 4, share: 0 },
  ],
  [{ ok: 0, bad: 0 }, null],
])('of the checks %o the share is %o', (day, told) => {
  expect(uptimeOf([day])).toEqual(told)
})
