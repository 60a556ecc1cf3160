import { describe, expect, test } from 'vitest'
import {
  addDevice,
  addPayment,
  addSubscription,
  addUser,
  DAY,
  inSeconds,
} from '#test/support/records.ts'
import { scenarios } from '#test/support/scenario.ts'
import { USER_VIEW } from '#test/support/views.ts'
import { createWorld, type World } from '#test/support/world.ts'

const USERS = '/admin/api/users'
const PAYMENT = '0aaaaaaa-0000-4000-8000-00000000000a'

/** Users of every kind; the newest is 8. */
function shop(w: World) {
  const day = (n: number) => ({ created_at: `2026-01-0${n}T00:00:00` })
  addUser(w, 71, { username: 'Alice', note: 'vip', ...day(1) })
  addUser(w, 7, { username: 'alan_b', banned_at: '2026-02-01T00:00:00', ...day(2) })
  addUser(w, 9, { username: 'bob', blocked_at: '2026-02-02T00:00:00', ...day(3) })
  addUser(w, 10, day(4))
  const token = addUser(w, 8, day(5))
  const uuid = addSubscription(w, 71, { expires_at: inSeconds(w, 9 * DAY) })
  addSubscription(w, 71, { expires_at: inSeconds(w, 5 * DAY) })
  addSubscription(w, 71, { held_at: inSeconds(w, -9), expires_at: inSeconds(w, 1) })
  addSubscription(w, 71, { active: 0 })
  addSubscription(w, 7, { held_at: inSeconds(w, -9) })
  addSubscription(w, 7, { expires_at: inSeconds(w, -9) })
  addSubscription(w, 9, { expires_at: inSeconds(w, 0) })
  addSubscription(w, 10, { active: 0 })
  addDevice(w, 71, 'device-0001')
  addDevice(w, 71, 'device-0002')
  addPayment(w, { id: PAYMENT, tg_id: 9 })
  return { token, uuid }
}

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

const ids = (answer: { json: { tg_id: number }[] }) => answer.json.map((user) => user.tg_id)

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

async function walk(w: World, first: string): Promise<number[]> {
  const seen: number[] = []
  const totals = new Set<string | null>()
  let path: string | undefined = first
  while (path !== undefined) {
    const answer = await w.admin(path)
    seen.push(...ids(answer))
    totals.add(answer.headers.get('x-total-count'))
    path = /<([^>]+)>/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  expect([...totals]).toEqual([String(seen.length)])
  return seen
}

/** `count` users, three of each second; every seventh has an active subscription. */
function crowd(w: World, count: number): void {
  const user = w.s.db.raw.prepare(
    'insert into users (tg_id, username, token, created_at) values (?, ?, ?, ?)',
  )
  const subscription = w.s.db.raw.prepare(
    "insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at) values (?, ?, 'de1', '1m', '2027-01-01T00:00:00', 'admin', '2026-01-01T00:00:00')",
  )
  w.s.db.raw.transaction(() => {
    for (let i = 0; i < count; i++) {
      const at = inSeconds(w, -Math.floor(i / 3))
      user.run(1000 + i, `user_${i}`, `t${i}`, at)
      if (i % 7 === 0) subscription.run(`s${i}`, 1000 + i)
    }
  })()
}

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

const HEADER = 'tg_id,username,created_at,note,banned_at,blocked_at,active,held,next_expiry,devices'

describe('GET /admin/api/users?format=csv', () => {
  test('is a download of all that match, in their order, whatever the limit', async () => {
    const w = await createWorld()
    shop(w)
    const { status, headers, text } = await w.admin(`${USERS}?format=csv&limit=1&order=asc&q=7`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="users-2026-03-01.csv"')
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(text.split('\r\n')).toEqual([
      HEADER,
      '71,Alice,2026-01-01T00:00:00,vip,,,2,1,2026-03-06T12:00:00,2',
      '7,alan_b,2026-01-02T00:00:00,,2026-02-01T00:00:00,,0,1,,0',
      '',
    ])
    w.close()
  })

  test('quotes as RFC 4180 says, and lets no cell be a formula', async () => {
    const w = await createWorld()
    const notes = [
      ['a,b', '"a,b"'],
      ['say "hi"', '"say ""hi"""'],
      ['two\nlines', '"two\nlines"'],
      ['two\r\nlines', '"two\r\nlines"'],
      ['=1+1', "'=1+1"],
      ['+7 900', "'+7 900"],
      ['-5', "'-5"],
      ['@SUM(A1)', "'@SUM(A1)"],
      ['\tx', "'\tx"],
      ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
      ['a=1', 'a=1'],
      ['не звонить', 'не звонить'],
    ] as const
    notes.forEach(([note], i) => {
      addUser(w, i + 1, { note })
    })
    const { text } = await w.admin(`${USERS}?format=csv&sort=tg_id&order=asc`)
    const rows = notes.map(([, cell], i) => `${i + 1},,2026-03-01T12:00:00,${cell},,,0,0,,0\r\n`)
    expect(text).toBe(`${HEADER}\r\n${rows.join('')}`)
    w.close()
  })

  test('goes on over many batches', async () => {
    const w = await createWorld()
    crowd(w, 1203)
    const { text } = await w.admin(`${USERS}?format=csv`)
    const lines = text.trimEnd().split('\r\n').slice(1)
    expect(lines.map((row) => Number(row.split(',')[0]))).toEqual(
      await walk(w, `${USERS}?limit=1000`),
    )
    w.close()
  })

  test('goes on where the row of a user is not found', async () => {
    const w = await createWorld()
    crowd(w, 1203)
    const [gone] = await walk(w, `${USERS}?limit=1000`)
    w.change('drop trigger fact_users_delete')
    w.change('delete from users where tg_id = ?', gone)
    const { text } = await w.admin(`${USERS}?format=csv`)
    expect(text.trimEnd().split('\r\n')).toHaveLength(1 + 1202)
    w.close()
  })

  test('lets other requests through between its batches', async () => {
    const w = await createWorld()
    crowd(w, 5000)
    let over = false
    const all = w.admin(`${USERS}?format=csv`).then(() => (over = true))
    let turns = 0
    while (!over) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }
    await all
    expect(turns).toBeGreaterThan(9)
    w.close()
  })

  test('has only its header without a match', async () => {
    const w = await createWorld()
    expect((await w.admin(`${USERS}?format=csv`)).text).toBe(`${HEADER}\r\n`)
    w.close()
  })
})
