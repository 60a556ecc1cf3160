/** Gift codes that are listed and revoked. */
import { describe, expect, test } from 'vitest'
import {
  addNode,
  addUser,
  auditOf,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import { type Ask, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const GIFTS = '/admin/api/gift-codes'
const ORDER = { node: 'de1', plan: '1m' }
const named = (w: World, username = 'shop_bot') => putSettings(w, { BOT_USERNAME: username })
const linkOf = (code: string) => `https://t.me/shop_bot?start=gift_${code}`

/** A gift code; the first letter names it. */
function addGift(
  w: World,
  letter: string,
  more: Record<string, string | number | null> = {},
): string {
  const row = { node: 'de1', plan: '1m', created_at: inSeconds(w, 0), ...more }
  const code = letter.padEnd(16, 'A')
  const names = Object.keys(row)
  w.change(
    `insert into gift_codes (code, ${names.join(', ')}) values (?${', ?'.repeat(names.length)})`,
    code,
    ...Object.values(row),
  )
  return code
}

/** One code in each state, the newest first in the alphabet. */
function mixed(w: World) {
  addUser(w, 77, { username: 'Alice' })
  addNode(w, 'nl1')
  addGift(w, 'F', { created_at: inSeconds(w, -6) })
  addGift(w, 'E', { created_at: inSeconds(w, -5), node: 'nl1', expires_at: inSeconds(w, 1) })
  addGift(w, 'D', { created_at: inSeconds(w, -4), expires_at: inSeconds(w, 0) })
  addGift(w, 'C', {
    created_at: inSeconds(w, -3),
    used_at: inSeconds(w, -1),
    used_by: 77,
    expires_at: inSeconds(w, 0),
  })
  addGift(w, 'B', { created_at: inSeconds(w, -2), revoked_at: inSeconds(w, -1) })
  addGift(w, 'A2', { created_at: inSeconds(w, -1), node: 'gone', plan: 'gone' })
}

const FOUND: [query: string, found: string][] = [
  ['', 'A C D E F'],
  ['status=unused', 'A E F'],
  ['status=used', 'C'],
  ['status=expired', 'D'],
  ['status=revoked', 'B'],
  ['node=nl1', 'E'],
  ['plan=gone', 'A'],
  ['plan=gone&node=de1', ''],
  ['q=c', 'C'],
  ['q=CA', 'C'],
  ['q=AA', ''],
  ['q=a2', 'A'],
  [`q=${'F'.padEnd(16, 'A')}`, 'F'],
  ['q=B', ''],
  ['q=7', 'C'],
  ['q=77', 'C'],
  ['q=8', ''],
  ['q=%40ALI', 'C'],
  ['q=%40bob', ''],
  ['q=%25', ''],
  ['order=asc', 'F E D C A'],
  ['limit=2', 'A C'],
]

scenarios('GET /admin/api/gift-codes', [
  {
    name: '200 with exactly the eleven fields, and labels',
    given: (w) => {
      named(w, '@shop_bot')
      mixed(w)
    },
    request: { path: `${GIFTS}?status=used` },
    status: 200,
    headers: { 'x-total-count': '1', link: null },
    body: [
      {
        code: 'CAAAAAAAAAAAAAAA',
        node: 'de1',
        node_label: 'Local',
        plan: '1m',
        plan_label: '30 days',
        created_by: 0,
        link: linkOf('CAAAAAAAAAAAAAAA'),
        created_at: '2026-03-01T11:59:57',
        used_at: '2026-03-01T11:59:59',
        used_by: 77,
        expires_at: '2026-03-01T12:00:00',
      },
    ],
  },
  {
    name: '200 with the codes of what is gone as its labels',
    given: mixed,
    request: { path: `${GIFTS}?limit=1` },
    status: 200,
    effects: (_w, _given, { json }) =>
      expect(json[0]).toMatchObject({ node_label: 'gone', plan_label: 'gone', link: null }),
  },
  { name: '200 with nothing', request: { path: GIFTS }, status: 200, body: [] },
  ...FOUND.map(([query, found]) => ({
    name: `200 with ${found || 'none'} for ?${query}`,
    given: mixed,
    request: { path: `${GIFTS}?${query}` },
    status: 200,
    effects: (
      _w: World,
      _given: unknown,
      answer: { json: { code: string }[]; headers: Headers },
    ) => {
      expect(answer.json.map(({ code }) => code[0]).join(' ')).toBe(found)
      const total = query === 'limit=2' ? 5 : answer.json.length
      expect(answer.headers.get('x-total-count')).toBe(String(total))
    },
  })),
  ...['status=all', 'limit=0', 'limit=1001', 'cursor=x', 'order=up'].map((query) => ({
    name: `400 for ?${query}`,
    request: { path: `${GIFTS}?${query}` },
    status: 400,
    error: /^(status|limit|cursor|order) /,
  })),
])

const revoke = (code: string): Ask => ({
  path: `${GIFTS}/${code}`,
  method: 'DELETE',
})

scenarios('DELETE /admin/api/gift-codes/{code}', [
  {
    name: '200 and the code is worthless and out of the list',
    given: (w) => [addGift(w, 'B'), addGift(w, 'C')][0],
    request: revoke,
    status: 200,
    body: { ok: true },
    effects: async (w, code) => {
      expect(w.rows('select code from gift_codes where revoked_at is not null')).toEqual([{ code }])
      expect((await w.admin(GIFTS)).json).toHaveLength(1)
      expect(w.rows('select action, object from audit_log')).toEqual([
        { action: 'gift.revoke', object: 'BAAA…' },
      ])
    },
  },
  {
    name: '200 for one that has run out',
    given: (w) => addGift(w, 'B', { expires_at: inSeconds(w, -DAY) }),
    request: revoke,
    status: 200,
  },
  {
    name: '200 and nothing changes for a revoked one',
    given: (w) => addGift(w, 'B', { revoked_at: '2026-01-01T00:00:00' }),
    request: revoke,
    status: 200,
    body: { ok: true },
    effects: (w) => {
      expect(w.rows('select revoked_at from gift_codes')).toEqual([
        { revoked_at: '2026-01-01T00:00:00' },
      ])
      expect(auditOf(w)).toEqual([])
    },
  },
  {
    name: '400 for a used one',
    given: (w) => addGift(w, 'B', { used_at: inSeconds(w, -9), used_by: 1 }),
    request: revoke,
    status: 400,
    error: 'gift code is used',
  },
  ...['nope', 'baaaaaaaaaaaaaaa', '%00', 'x'.repeat(5000)].map((code) => ({
    name: `404 for ${code.slice(0, 20)}`,
    given: (w: World) => addGift(w, 'B'),
    request: revoke(code),
    status: 404,
    error: 'gift code not found',
  })),
])

describe('gift codes', () => {
  test('are paged by a thousand, without gaps among those of one second', async () => {
    const w = await createWorld()
    await w.admin(GIFTS, { body: { ...ORDER, count: 1000 } })
    await w.admin(GIFTS, { body: { ...ORDER, count: 5 } })
    const first = await w.admin(GIFTS)
    const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] as string
    const second = await w.admin(next)
    expect([first.json.length, second.json.length, second.headers.get('link')]).toEqual([
      1000,
      5,
      null,
    ])
    const codes = [...first.json, ...second.json].map(({ code }: { code: string }) => code)
    expect(new Set(codes).size).toBe(1005)
    w.close()
  })

  test('are revoked once by two admins at once', async () => {
    const w = await createWorld()
    const code = addGift(w, 'B')
    const answers = await Promise.all(
      [1, 2].map(() => w.admin(`${GIFTS}/${code}`, { method: 'DELETE' })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(auditOf(w)).toEqual(['gift.revoke'])
    w.close()
  })
})
