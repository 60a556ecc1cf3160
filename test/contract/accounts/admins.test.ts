import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removeAdmin } from '#src/domain/accounts/admins.ts'
import { addAdmin, isAlive, logIn, turnTotpOn } from '#test/support/admins.ts'
import { create, good, refused } from '#test/support/new-account.ts'
import { auditOf } from '#test/support/records.ts'
import { scenarios } from '#test/support/scenario.ts'
import { createWorld, PASSWORD, type World } from '#test/support/world.ts'

const FIRST = {
  id: 1,
  username: 'admin',
  created_at: '2026-03-01T12:00:00',
  last_login_at: null,
  totp_enabled: false,
}
const names = (w: World) => w.rows('select username from admins order by id').map((r) => r.username)

scenarios('GET /admin/api/admins', [
  {
    name: '200 with every account, oldest first, without hash or secret',
    given: async (w) => {
      turnTotpOn(w, addAdmin(w, 'second'))
      w.clock.advance(60_000)
      await logIn(w)
    },
    request: { path: '/admin/api/admins' },
    status: 200,
    body: [
      { ...FIRST, last_login_at: '2026-03-01T12:01:00' },
      { ...FIRST, id: 2, username: 'second', totp_enabled: true },
    ],
    effects: (_w, _given, { text }) => expect(text).not.toMatch(/pbkdf2|JBSW/),
  },
])

scenarios('POST /admin/api/admins', [
  {
    name: '200 with the created account, which can log in',
    request: create(good),
    status: 200,
    body: { ...FIRST, id: 2, username: 'second' },
    effects: async (w) => {
      const hashes = w.rows('select password_hash as hash from admins').map((row) => row.hash)
      expect(hashes[1]).toMatch(/^pbkdf2-sha256\$200000\$[\w-]{22}\$[\w-]{43}$/)
      expect(w.dump()).not.toContain('eight888')
      expect(w.rows('select action, object, admin from audit_log')).toEqual([
        { action: 'admin.create', object: 'second', admin: 'admin' },
      ])
      const login = await w.call('/admin/api/login', { body: good })
      expect([login.status, login.json]).toEqual([200, { ok: true }])
    },
  },
  {
    name: '200 with a trimmed name of three characters, and the password as it is',
    request: create({ username: '  a b\t', password: '  with spaces ' }),
    status: 200,
    effects: async (w) => {
      expect(names(w)).toEqual(['admin', 'a b'])
      const body = { username: 'a b', password: '  with spaces ' }
      expect((await w.call('/admin/api/login', { body })).status).toBe(200)
    },
  },
  {
    name: '200 for a name outside ASCII, which logs in without case',
    request: create({ ...good, username: 'Мария' }),
    status: 200,
    effects: async (w) => {
      const body = { ...good, username: 'МАРИЯ' }
      expect((await w.call('/admin/api/login', { body })).status).toBe(200)
    },
  },
  {
    name: '200 whatever other fields are there, which are ignored',
    request: create({ ...good, id: 1, totp_secret: 'x', is_owner: true }),
    status: 200,
    body: { ...FIRST, id: 2, username: 'second' },
  },
  refused(
    'two characters, however many units they are',
    { username: '😀😀', password: 'eight888' },
    'username must have at least 3 characters',
  ),
  refused(
    'a password of seven characters, however many units they are',
    { username: 'second', password: '😀😀😀😀😀😀😀' },
    'password must have at least 8 characters',
  ),
  refused('a name of two characters', { ...good, username: 'ab' }, /^username .* 3 characters$/),
  refused('a name that is short when trimmed', { ...good, username: ' ab ' }, /^username .*3/),
  refused('an empty name', { ...good, username: '' }, /^username /),
  refused('a name of 257 characters', { ...good, username: 'x'.repeat(257) }, /^username .*256/),
  refused('a name with a line break inside', { ...good, username: 'ad\nmin' }, /^username /),
  refused('a name with a zero character', { ...good, username: 'adm\0in' }, /^username /),
  refused('a name that is turned around', { ...good, username: 'adm\u202ein' }, /^username /),
  refused('a name with an unseen character', { ...good, username: 'adm\u200bin' }, /^username /),
  refused('a password of seven', { ...good, password: 'seven77' }, /^password .* 8 characters$/),
  refused('an empty password', { ...good, password: '' }, /^password /),
  refused('a password of 1025', { ...good, password: 'x'.repeat(1025) }, /^password .*1024/),
  refused('no name', { password: good.password }, /^username /),
  refused('no password', { username: good.username }, /^password /),
  refused('a number for a name', { ...good, username: 12345 }, /^username /),
  refused('null for a password', { ...good, password: null }, /^password /),
  refused('a list for a password', { ...good, password: ['eight888'] }, /^password /),
  refused('a list', [good], 'the body must be a JSON object'),
  refused('the name of another', { ...good, username: 'admin' }, 'this username is taken'),
  refused('it in other case', { ...good, username: ' ADMIN ' }, 'this username is taken'),
  {
    ...refused('a Cyrillic name in other case', { ...good, username: 'МАРИЯ' }, /is taken$/),
    given: (w) => addAdmin(w, 'Мария'),
  },
  {
    name: '400 for a body that is no JSON',
    request: { path: '/admin/api/admins', raw: '{"username"' },
    status: 400,
    error: 'invalid JSON',
  },
])

const remove = (id: number | string) => ({ path: `/admin/api/admins/${id}`, method: 'DELETE' })

scenarios('DELETE /admin/api/admins/{id}', [
  {
    name: '200, and the account is gone with its sessions and pending logins',
    given: async (w) => {
      const id = addAdmin(w, 'second')
      const cookie = await logIn(w, 'second')
      w.change("insert into pending_logins (token, admin_id, expires_at) values ('x', ?, '9')", id)
      return { id, cookie }
    },
    request: ({ id }) => remove(id),
    status: 200,
    body: { ok: true },
    effects: async (w, { cookie }) => {
      expect(names(w)).toEqual(['admin'])
      expect(await isAlive(w, cookie)).toBe(false)
      expect((await w.call('/admin/api/nodes', { cookie })).status).toBe(401)
      expect(w.rows('select * from pending_logins')).toEqual([])
      expect(w.rows('select action, object from audit_log').at(-1)).toEqual({
        action: 'admin.delete',
        object: 'second',
      })
    },
  },
  {
    name: '400 for the own account',
    given: (w) => addAdmin(w, 'second'),
    request: remove(1),
    status: 400,
    error: "you can't delete your own account",
  },
  {
    name: '400 for the own account when it is the last',
    request: remove(1),
    status: 400,
    error: "you can't delete your own account",
  },
  ...[2, 0, -1, 1.5, '1e0', 'x', '9007199254740993', `1${'0'.repeat(40)}`].map((id) => ({
    name: `404 for the id ${String(id).slice(0, 20)}`,
    request: remove(id),
    status: 404,
    error: 'admin not found',
  })),
])

describe('two admins', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  const loginOf = (adminId: number) => ({
    adminId,
    sessionId: w.rows('select id from admin_sessions where admin_id = ?', adminId)[0].id,
    actor: { admin: names(w)[adminId - 1] as string, ip: '127.0.0.1' },
  })

  test('400 for the last account, when its own admin was removed meanwhile', async () => {
    addAdmin(w, 'second')
    await logIn(w, 'second')
    const [first, second] = [loginOf(1), loginOf(2)]
    await removeAdmin(w.s, first, 2)
    await expect(removeAdmin(w.s, second, 1)).rejects.toMatchObject({
      status: 400,
      message: "the last admin can't be deleted",
    })
    expect(names(w)).toEqual(['admin'])
  })

  test('401 for one who was removed meanwhile, where others stay', async () => {
    addAdmin(w, 'second')
    addAdmin(w, 'third')
    await logIn(w, 'second')
    const [first, second] = [loginOf(1), loginOf(2)]
    await removeAdmin(w.s, first, 2)
    await expect(removeAdmin(w.s, second, 3)).rejects.toMatchObject({ status: 401 })
    expect(names(w)).toEqual(['admin', 'third'])
  })

  test('who remove each other at once leave one', async () => {
    addAdmin(w, 'second')
    const cookie = await logIn(w, 'second')
    const answers = await Promise.all([
      w.admin('/admin/api/admins/2', { method: 'DELETE' }),
      w.call('/admin/api/admins/1', { method: 'DELETE', cookie }),
    ])
    const [one, other] = answers.map(({ status }) => status).sort()
    expect(one).toBe(200)
    // 401 where the session had ended before the request was let in.
    expect([400, 401]).toContain(other)
    expect(names(w)).toHaveLength(1)
  })

  test('of ten creations of one name at once one succeeds', async () => {
    const bodies = Array.from({ length: 10 }, (_, i) => ({
      ...good,
      username: i % 2 ? 'Second' : 'second',
    }))
    const answers = await Promise.all(bodies.map((body) => w.admin('/admin/api/admins', { body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
    expect(names(w)).toHaveLength(2)
  })

  test('a creation under way makes no account once its admin is removed', async () => {
    addAdmin(w, 'second')
    const cookie = await logIn(w, 'second')
    const created = w.call('/admin/api/admins', { body: { ...good, username: 'third' }, cookie })
    await w.admin('/admin/api/admins/2', { method: 'DELETE' })
    expect((await created).status).toBe(401)
    expect(names(w)).toEqual(['admin'])
  })
})

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
