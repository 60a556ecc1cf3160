import { expect } from 'vitest'
import { sha256Hex } from '#src/lib/crypto.ts'
import { isAlive, logIn } from '#test/support/calls/admins.ts'
import { auditOf } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { PASSWORD, type World } from '#test/support/worlds/world.ts'

const login = (body: unknown) => ({ path: '/admin/api/login', anonymous: true, body })
const correct = { username: 'admin', password: PASSWORD }
const COOKIE =
  /^panel_admin=[A-Za-z0-9_-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/

const sessions = (w: World) => w.rows('select * from admin_sessions order by id').length
const attempts = (w: World) => w.rows('select ip, kind from login_attempts')
const totpOn = (w: World) => w.change("update admins set totp_secret = 'JBSWY3DPEHPK3PXP'")

scenarios('POST /admin/api/login', [
  {
    name: '200 with the cookie of the interface, byte for byte',
    request: login(correct),
    status: 200,
    headers: { 'set-cookie': COOKIE },
    body: { ok: true },
    effects: (w, _given, answer) => {
      expect(sessions(w)).toBe(2)
      expect(auditOf(w)).toEqual(['login'])
      expect(w.rows('select last_login_at as at from admins')[0].at).toBe('2026-03-01T12:00:00')
      const token = /=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
      expect(w.dump()).not.toContain(token)
      expect(w.dump()).toContain(sha256Hex(token))
    },
  },
  ...['ADMIN', '  admin ', '\tAdmin\n'].map((username) => ({
    name: `200 for the name ${JSON.stringify(username)}`,
    request: login({ ...correct, username }),
    status: 200,
    body: { ok: true },
  })),
  {
    name: '200 for a name outside ASCII as it was written',
    given: (w) => w.change("update admins set username = 'Админ'"),
    request: login({ ...correct, username: 'Админ' }),
    status: 200,
    body: { ok: true },
  },
  {
    name: '200 whatever the content type says',
    request: { ...login(correct), headers: { 'content-type': 'text/plain' } },
    status: 200,
    body: { ok: true },
  },
  {
    name: '200 with a session of its own, never the one that the browser brought',
    request: { ...login(correct), cookie: 'panel_admin=chosen-by-another' },
    status: 200,
    headers: { 'set-cookie': COOKIE },
    effects: (_w, _given, { headers }) =>
      expect(headers.get('set-cookie')).not.toContain('chosen-by-another'),
  },
  {
    name: '200 ends the session that the browser had',
    given: (w) => logIn(w),
    request: (cookie) => ({ ...login(correct), cookie }),
    status: 200,
    effects: async (w, cookie, { headers }) => {
      const next = headers.get('set-cookie') ?? ''
      expect([await isAlive(w, cookie), await isAlive(w, next.split(';')[0] ?? '')]).toEqual([
        false,
        true,
      ])
    },
  },
  {
    name: '401 leaves the browser the session that it had',
    given: (w) => logIn(w),
    request: (cookie) => ({ ...login({ username: 'admin', password: 'wrong one' }), cookie }),
    status: 401,
    effects: async (w, cookie) => expect(await isAlive(w, cookie)).toBe(true),
  },
  {
    name: '401 for a wrong password, noted without it',
    request: login({ username: 'admin', password: 'wrong password' }),
    status: 401,
    headers: { 'set-cookie': null },
    error: 'wrong username or password',
    effects: (w) => {
      expect(attempts(w)).toEqual([{ ip: '127.0.0.1', kind: 'password' }])
      expect(w.rows('select action, object, admin from audit_log')).toEqual([
        { action: 'login.failed', object: 'admin', admin: null },
      ])
      expect(w.dump()).not.toContain('wrong password')
    },
  },
  ...[
    ['an unknown name', { username: 'nobody', password: PASSWORD }],
    ['an empty name', { username: '', password: PASSWORD }],
    ['a name of spaces', { username: '   ', password: PASSWORD }],
    ['an empty password', { username: 'admin', password: '' }],
    ['two empty strings', { username: '', password: '' }],
    ['a password with spaces around it', { username: 'admin', password: ` ${PASSWORD}` }],
    ['a password in other case', { username: 'admin', password: PASSWORD.toUpperCase() }],
    ['a name that is SQL', { username: "' or 1=1 --", password: PASSWORD }],
    ['a pattern for a name', { username: 'adm%', password: PASSWORD }],
    ['a name with a zero character', { username: 'admin\0', password: PASSWORD }],
  ].map(([what, body]) => ({
    name: `401 for ${what}`,
    request: login(body),
    status: 401,
    error: 'wrong username or password',
    effects: (w: World) => expect(sessions(w)).toBe(1),
  })),
  ...[
    ['no name', { password: PASSWORD }, /^username /],
    ['no password', { username: 'admin' }, /^password /],
    ['a number for a name', { username: 1, password: PASSWORD }, /^username /],
    ['null for a password', { username: 'admin', password: null }, /^password /],
    ['a list for a password', { username: 'admin', password: [PASSWORD] }, /^password /],
    ['an object for a name', { username: { a: 1 }, password: PASSWORD }, /^username /],
    ['a password of 1025 characters', { username: 'admin', password: 'x'.repeat(1025) }, /^pass/],
    ['an empty object', {}, /^username /],
    ['a list', [correct], 'the body must be a JSON object'],
    ['null', null, 'the body must be a JSON object'],
  ].map(([what, body, error]) => ({
    name: `400 for ${what}, which is no attempt`,
    request: login(body),
    status: 400,
    error: error as string | RegExp,
    effects: (w: World) => expect(attempts(w)).toEqual([]),
  })),
  ...['', '{', 'username=admin', '{"username":"admin",}', '\u0000'].map((raw) => ({
    name: `400 for the body ${JSON.stringify(raw)}`,
    request: { path: '/admin/api/login', anonymous: true, raw, method: 'POST' },
    status: 400,
    error: 'invalid JSON',
  })),
  {
    name: '200 with a pending token and no cookie for an account with 2FA',
    given: totpOn,
    request: login(correct),
    status: 200,
    headers: { 'set-cookie': null },
    effects: (w, _given, { json }) => {
      expect(json).toEqual({
        ok: true,
        needs_totp: true,
        pending_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      })
      expect(w.rows('select * from pending_logins')).toEqual([
        {
          token: sha256Hex(json.pending_token),
          admin_id: 1,
          expires_at: '2026-03-01T12:05:00',
          wrong_codes: 0,
        },
      ])
      expect(sessions(w)).toBe(1)
      expect(attempts(w)).toEqual([])
    },
  },
  {
    name: '401 for a wrong password of an account with 2FA, without a pending token',
    given: totpOn,
    request: login({ username: 'admin', password: 'wrong password' }),
    status: 401,
    error: 'wrong username or password',
    effects: (w) => expect(w.rows('select * from pending_logins')).toEqual([]),
  },
])

/** Logs in; gives the cookie. */
async function newSession(w: World): Promise<string> {
  const answer = await w.call('/admin/api/login', { body: correct })
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] as string
}

const me = (cookie: string) => ({ path: '/admin/api/me', cookie })
const NOBODY = { authenticated: false, username: null }
const ADMIN = { authenticated: true, username: 'admin' }

scenarios('GET /admin/api/me', [
  {
    name: '200 and nobody without a cookie',
    request: { path: '/admin/api/me', anonymous: true },
    status: 200,
    body: NOBODY,
  },
  {
    name: '200 and nobody for a cookie that is no session',
    request: me('panel_admin=made-up'),
    status: 200,
    body: NOBODY,
  },
  {
    name: '200 and nobody for an empty cookie',
    request: me('panel_admin='),
    status: 200,
    body: NOBODY,
  },
  { name: '200 and the name', given: newSession, request: me, status: 200, body: ADMIN },
  {
    name: '200 and the name beside other cookies',
    given: newSession,
    request: (cookie) => me(`a=b; ${cookie}; c=d`),
    status: 200,
    body: ADMIN,
  },
  {
    name: '200 and nobody for what the database keeps of a session',
    given: async (w) => {
      await newSession(w)
      return `panel_admin=${w.rows('select token from admin_sessions order by id')[1].token}`
    },
    request: me,
    status: 200,
    body: NOBODY,
  },
  {
    name: '200 and the name a second before seven days are over',
    given: async (w) => {
      const cookie = await newSession(w)
      w.clock.advance(604_799_000)
      return cookie
    },
    request: me,
    status: 200,
    body: ADMIN,
  },
  {
    name: '200 and nobody when seven days are over, used or not',
    given: async (w) => {
      const cookie = await newSession(w)
      w.clock.advance(604_000_000)
      expect((await w.call('/admin/api/me', { cookie })).json).toEqual(ADMIN)
      w.clock.advance(800_000)
      return cookie
    },
    request: me,
    status: 200,
    body: NOBODY,
    effects: async (w, cookie) => {
      const answer = await w.call('/admin/api/nodes', { cookie })
      expect([answer.status, answer.json]).toEqual([401, { error: 'unauthorized' }])
    },
  },
])

const logout = (cookie: string) => ({ path: '/admin/api/logout', method: 'POST', cookie })
const REMOVED = 'panel_admin=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Strict'

scenarios('POST /admin/api/logout', [
  {
    name: '200, the session is deleted and the cookie removed',
    given: newSession,
    request: logout,
    status: 200,
    headers: { 'set-cookie': REMOVED, 'clear-site-data': '"cache", "storage"' },
    body: { ok: true },
    effects: async (w, cookie) => {
      expect((await w.call('/admin/api/me', { cookie })).json).toEqual(NOBODY)
      expect((await w.call('/admin/api/nodes', { cookie })).status).toBe(401)
      expect(sessions(w)).toBe(1)
    },
  },
  {
    name: '200 and other sessions of the admin stay',
    given: async (w) => ({ other: await newSession(w), own: await newSession(w) }),
    request: ({ own }) => logout(own),
    status: 200,
    effects: async (w, { other }) =>
      expect((await w.call('/admin/api/me', { cookie: other })).json).toEqual(ADMIN),
  },
  {
    name: '200 without a session',
    request: { path: '/admin/api/logout', method: 'POST', anonymous: true },
    status: 200,
    headers: { 'set-cookie': REMOVED },
    body: { ok: true },
  },
  {
    name: '200 whatever the body',
    request: { path: '/admin/api/logout', raw: '{', anonymous: true },
    status: 200,
    body: { ok: true },
  },
])
