import { describe, expect, test } from 'vitest'
import { USER_VIEW } from '#test/support/calls/views.ts'
import { crowd, ids, PAYMENT, shop, walk } from '#test/support/rows/listed-users.ts'
import { addUser } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'

const FOUND: [query: string, found: number[]][] = [
  ['', [8, 10, 9, 7, 71]],
  ['status=all', [8, 10, 9, 7, 71]],
  ['status=active', [71]],
  ['status=held', [7, 71]],
  ['status=expired', [9]],
  ['status=none', [8, 10]],
  ['banned=true', [7]],
  ['banned=false', [8, 10, 9, 71]],
  ['banned=true&status=held', [7]],
  ['banned=false&status=held', [71]],
  ['q=7', [7, 71]],
  ['q=71', [71]],
  ['q=1', [10]],
  ['q=3', []],
  ['q=07', []],
  ['q=al', [7, 71]],
  ['q=ALI', [71]],
  ['q=%40ali', [71]],
  ['q=%20%40ALAN_%20', [7]],
  ['q=lice', []],
  ['q=%25', []],
  ['q=_lan', []],
  ['q=%40', [9, 7, 71]],
  [`q=${PAYMENT}`, [9]],
  [`q=${PAYMENT.toUpperCase()}`, [9]],
  [`q=${PAYMENT.slice(0, -1)}b`, []],
  ["q=' or 1=1 --", []],
  ['q=al&status=active', [71]],
  ['order=asc', [71, 7, 9, 10, 8]],
  ['sort=tg_id', [71, 10, 9, 8, 7]],
  ['sort=tg_id&order=asc', [7, 8, 9, 10, 71]],
  ['sort=created_at&order=desc', [8, 10, 9, 7, 71]],
  ['limit=2', [8, 10]],
  ['unknown=1', [8, 10, 9, 7, 71]],
]

scenarios('GET /admin/api/users', [
  {
    name: '200 with exactly the ten fields of each user, and never their token',
    given: shop,
    request: { path: `${USERS}?q=71` },
    status: 200,
    headers: { 'x-total-count': '1', 'x-total-capped': null, link: null },
    body: [
      {
        tg_id: 71,
        username: 'Alice',
        created_at: '2026-01-01T00:00:00',
        note: 'vip',
        banned_at: null,
        blocked_at: null,
        active: 2,
        held: 1,
        next_expiry: '2026-03-06T12:00:00',
        devices: 2,
      },
    ],
  },
  {
    name: '200 with zeros and nulls for a user without anything',
    given: (w) => addUser(w, 7),
    request: { path: USERS },
    status: 200,
    body: [USER_VIEW],
  },
  { name: '200 with nothing', request: { path: USERS }, status: 200, body: [] },
  ...FOUND.map(([query, found]) => ({
    name: `200 with ${JSON.stringify(found)} for ?${query}`,
    given: shop,
    request: { path: `${USERS}?${query}` },
    status: 200,
    effects: (
      _w: World,
      _given: unknown,
      answer: { json: { tg_id: number }[]; headers: Headers },
    ) => {
      expect(ids(answer)).toEqual(found)
      const total = query === 'limit=2' ? 5 : found.length
      expect(answer.headers.get('x-total-count')).toBe(String(total))
    },
  })),
  ...(['token', 'uuid'] as const).map((key) => ({
    name: `200 with the one user of a whole ${key}, none for a part of it`,
    given: shop,
    request: (given: Record<string, string>) => ({ path: `${USERS}?q=${given[key]}` }),
    status: 200,
    effects: async (
      w: World,
      given: Record<string, string>,
      answer: { json: { tg_id: number }[] },
    ) => {
      expect(ids(answer)).toEqual([key === 'token' ? 8 : 71])
      expect((await w.admin(`${USERS}?q=${given[key]?.slice(0, -1)}`)).json).toEqual([])
    },
  })),
  ...[
    'status=paid',
    'banned=1',
    'banned=',
    'sort=username',
    'order=up',
    'limit=0',
    'limit=1001',
  ].map((query) => ({
    name: `400 naming the field for ?${query}`,
    request: { path: `${USERS}?${query}` },
    status: 400,
    error: /^(status|banned|sort|order|limit) must be /,
  })),
  ...['cursor=x', 'cursor=', 'cursor=W10', 'cursor=WyIyMDI2IiwiMSJd'].map((query) => ({
    name: `400 for ?${query}`,
    request: { path: `${USERS}?${query}` },
    status: 400,
    error: 'cursor is not one of this list',
  })),
  {
    name: '400 for another format, and for a q of 257 characters',
    request: { path: `${USERS}?format=xml` },
    status: 400,
    error: 'format must be json or csv',
    effects: async (w) => {
      const long = await w.admin(`${USERS}?q=${'x'.repeat(257)}`)
      expect([long.status, long.json]).toEqual([400, { error: 'q is too long' }])
    },
  },
])

test.each(['users', 'subscriptions', 'gift-codes'])(
  'digits that begin no id find nothing in %s',
  async (list) => {
    const w = await createWorld()
    shop(w)
    for (const q of ['9007199254740992', '9999999999999999', '0', '00']) {
      const answer = await w.admin(`/admin/api/${list}?q=${q}`)
      expect([q, answer.status, answer.json]).toEqual([q, 200, []])
    }
    w.close()
  },
)

describe('pages of users', () => {
  test.each(['', 'order=asc', 'sort=tg_id', 'sort=tg_id&order=asc', 'status=active', 'q=user_1'])(
    'name every match exactly once, in the order of one large page: %s',
    async (query) => {
      const w = await createWorld()
      crowd(w, 100)
      const whole = ids(await w.admin(`${USERS}?limit=1000&${query}`))
      expect(whole.length).toBeGreaterThan(10)
      expect(await walk(w, `${USERS}?limit=7&${query}`)).toEqual(whole)
      w.close()
    },
  )

  test('are counted exactly up to 10000, and say so above', async () => {
    const w = await createWorld()
    crowd(w, 10_001)
    const { headers } = await w.admin(`${USERS}?limit=1`)
    expect([headers.get('x-total-count'), headers.get('x-total-capped')]).toEqual(['10000', '1'])
    w.change('delete from users where tg_id = 1000')
    const after = (await w.admin(`${USERS}?limit=1`)).headers
    expect([after.get('x-total-count'), after.get('x-total-capped')]).toEqual(['10000', null])
    w.close()
  })

  test('find the same when the search matches more users than are begun with', async () => {
    const w = await createWorld()
    crowd(w, 21_000)
    addUser(w, 5, { username: 'zed' })
    addUser(w, 900, { username: 'usa' })
    expect(ids(await w.admin(`${USERS}?q=user&limit=2&sort=tg_id&order=asc`))).toEqual([1000, 1001])
    expect(ids(await w.admin(`${USERS}?q=%40USER_2099&limit=20&sort=tg_id`))).toEqual([
      ...Array.from({ length: 10 }, (_, i) => 21_999 - i),
      3099,
    ])
    expect(ids(await w.admin(`${USERS}?q=user&status=none&limit=1&sort=tg_id&order=asc`))).toEqual([
      1001,
    ])
    w.change('delete from subscriptions')
    w.change('update users set username = null, tg_id = tg_id + 1000000 where tg_id >= 1000')
    expect(ids(await w.admin(`${USERS}?q=1&limit=2&sort=tg_id&order=asc`))).toEqual([
      1_001_000, 1_001_001,
    ])
    w.close()
  })
})
