import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removeAdmin } from '#src/domain/accounts/admins.ts'
import { addAdmin, isAlive, logIn, turnTotpOn } from '#test/support/calls/admins.ts'
import { create, good, refused } from '#test/support/calls/new-account.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

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
      const hashes = w
        .rows('select password_hash as hash from admins order by id')
        .map((row) => row.hash)
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
