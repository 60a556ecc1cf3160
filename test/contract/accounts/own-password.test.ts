/** The password of the admin who is logged in. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addAdmin, isAlive, logIn } from '#test/support/calls/admins.ts'
import { auditOf } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

const NEW = 'another password'
const change = (body: unknown) => ({ path: '/admin/api/password', body })
const both = { current_password: PASSWORD, password: NEW }

scenarios('POST /admin/api/password', [
  {
    name: '200, the new password counts, other sessions end, the own one stays',
    given: async (w) => {
      addAdmin(w, 'second')
      w.change("insert into pending_logins (token, admin_id, expires_at) values ('x', 1, '9')")
      w.change("insert into pending_logins (token, admin_id, expires_at) values ('y', 2, '9')")
      return { other: await logIn(w), foreign: await logIn(w, 'second'), own: await logIn(w) }
    },
    request: ({ own }) => ({ ...change(both), cookie: own }),
    status: 200,
    headers: { 'set-cookie': null },
    body: { ok: true },
    effects: async (w, { other, foreign, own }) => {
      expect(await isAlive(w, own)).toBe(true)
      expect(await isAlive(w, foreign)).toBe(true)
      expect(await isAlive(w, other)).toBe(false)
      expect((await w.admin('/admin/api/nodes')).status).toBe(401)
      expect(w.rows('select token from pending_logins')).toEqual([{ token: 'y' }])
      const login = (password: string) =>
        w.call('/admin/api/login', { body: { username: 'admin', password } })
      expect((await login(PASSWORD)).status).toBe(401)
      expect((await login(NEW)).status).toBe(200)
      expect(auditOf(w)).toContain('admin.password')
      expect(w.dump()).not.toContain(NEW)
    },
  },
  {
    name: '401 for a wrong current password, noted without it',
    request: change({ ...both, current_password: 'not this one' }),
    status: 401,
    error: 'wrong password',
    effects: async (w) => {
      expect(w.rows('select action, admin, object, detail from audit_log')).toEqual([
        { action: 'password.failed', admin: 'admin', object: '', detail: '' },
      ])
      expect(w.dump()).not.toContain('not this one')
      await logIn(w)
    },
  },
  {
    name: '401 for an empty current password',
    request: change({ ...both, current_password: '' }),
    status: 401,
    error: 'wrong password',
  },
  ...[
    ['a new one of seven characters', { ...both, password: 'seven77' }, /^password .* 8 char/],
    ['no new one', { current_password: PASSWORD }, /^password /],
    ['no current one', { password: NEW }, /^current_password /],
    ['a number', { ...both, current_password: 1 }, /^current_password /],
    ['a new one of 1025 characters', { ...both, password: 'x'.repeat(1025) }, /^password /],
  ].map(([what, body, error]) => ({
    name: `400 for ${what}, which is no attempt`,
    request: change(body),
    status: 400,
    error: error as RegExp,
    effects: (w: World) => expect(w.rows('select * from login_attempts')).toEqual([]),
  })),
])

describe('a new password under way', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  test('of two changes from two sessions at once one counts', async () => {
    const cookies = [await logIn(w), await logIn(w)]
    const answers = await Promise.all(
      cookies.map((cookie, i) =>
        w.call('/admin/api/password', { cookie, body: { ...both, password: `${NEW} ${i}` } }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    const winner = answers.findIndex(({ status }) => status === 200)
    const alive = await Promise.all(cookies.map((cookie) => isAlive(w, cookie)))
    expect(alive).toEqual([winner === 0, winner === 1])
    const body = { username: 'admin', password: `${NEW} ${winner}` }
    expect((await w.call('/admin/api/login', { body })).status).toBe(200)
  })

  test('a session that is ended meanwhile changes nothing', async () => {
    const cookie = await logIn(w)
    const change = w.call('/admin/api/password', { cookie, body: both })
    await w.call('/admin/api/logout', { cookie, method: 'POST' })
    const answer = await change
    expect([answer.status, answer.json]).toEqual([401, { error: 'unauthorized' }])
    await logIn(w)
  })
})

describe('wrong passwords of a logged-in admin', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  const wrong = { current_password: 'not this one', password: NEW }
  const guess = (i: number, ip = `192.0.2.${i}`) =>
    i % 2
      ? w.admin('/admin/api/password', { body: wrong, headers: { 'x-real-ip': ip } })
      : w.admin('/admin/api/2fa/disable', {
          body: { password: 'not this one' },
          headers: { 'x-real-ip': ip },
        })

  test('429 after ten at both routes together, from whatever addresses, unevaluated', async () => {
    for (let i = 0; i < 10; i++) {
      const answer = await guess(i)
      expect([answer.status, answer.json]).toEqual([401, { error: 'wrong password' }])
    }
    const before = w.dump()
    for (const body of [wrong, both]) {
      const answer = await w.admin('/admin/api/password', { body })
      expect(answer.status).toBe(429)
      expect(answer.json).toEqual({ error: 'too many attempts, try again later' })
      expect(answer.headers.get('retry-after')).toBe('900')
    }
    const disable = { body: { password: PASSWORD } }
    expect((await w.admin('/admin/api/2fa/disable', disable)).status).toBe(429)
    expect(w.hashes()).toBe(10)
    expect(w.dump()).toBe(before)
  })

  test('429 is not counted: it lifts 15 minutes after the first attempt', async () => {
    for (let i = 0; i < 10; i++) await guess(i)
    w.clock.advance(899_000)
    for (let i = 0; i < 20; i++) {
      const answer = await guess(i)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
    }
    w.clock.advance(1000)
    expect((await w.admin('/admin/api/password', { body: both })).status).toBe(200)
  })

  test('the login and other accounts are not concerned', async () => {
    addAdmin(w, 'second')
    for (let i = 0; i < 10; i++) await guess(i, '127.0.0.1')
    await logIn(w)
    const cookie = await logIn(w, 'second')
    const answer = await w.call('/admin/api/password', { cookie, body: both })
    expect(answer.status).toBe(200)
  })

  test('wrong logins of its address do not count for an account', async () => {
    for (let i = 0; i < 10; i++) {
      await w.call('/admin/api/login', { body: { username: 'admin', password: 'wrong' } })
    }
    expect((await w.admin('/admin/api/password', { body: both })).status).toBe(200)
  })

  test('an address that is written like an account is none', async () => {
    for (const ip of ['admin 1', 'admin%201', 'admin+1']) {
      for (let i = 0; i < 10; i++) {
        const body = { username: 'admin', password: 'wrong' }
        await w.call('/admin/api/login', { body, headers: { 'x-real-ip': ip } })
      }
    }
    expect((await w.admin('/admin/api/password', { body: both })).status).toBe(200)
  })

  test('a correct one clears the counter', async () => {
    for (let i = 0; i < 9; i++) await guess(i)
    expect((await w.admin('/admin/api/2fa/disable', { body: { password: PASSWORD } })).status).toBe(
      200,
    )
    expect(w.rows("select * from login_attempts where ip = 'admin 1'")).toEqual([])
    for (let i = 0; i < 10; i++) expect((await guess(i)).status).toBe(401)
    expect((await guess(0)).status).toBe(429)
  })

  test('100 guesses at once: exactly 10 are evaluated', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => guess(i)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(90)
    expect(w.hashes()).toBe(10)
  })
})
