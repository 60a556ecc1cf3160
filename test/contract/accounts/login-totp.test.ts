import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sha256Hex } from '#src/lib/crypto.ts'
import {
  addAdmin,
  codeNow,
  codeStep,
  isAlive,
  pendingToken,
  SECRET,
  turnTotpOn,
  wrongCode,
} from '#test/support/calls/admins.ts'
import { pendingLogins } from '#test/support/rows/pending-logins.ts'
import { auditOf, nowOf } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

const EXPIRED = { error: 'login session expired, log in again' }
const WRONG = { error: 'wrong code' }

const attempts = (w: World) =>
  w.rows("select ip from login_attempts where kind = 'totp' order by id").map((row) => row.ip)

/** Two-factor login is on and the password was given; gives the pending token. */
function awaitingCode(w: World) {
  turnTotpOn(w)
  return pendingToken(w)
}

const request = (body: unknown) => ({ path: '/admin/api/login/totp', anonymous: true, body })

scenarios('POST /admin/api/login/totp', [
  {
    name: '200 with the cookie of the interface, and the pending login is gone',
    given: awaitingCode,
    request: (token, w) => request({ pending_token: token, code: codeNow(w) }),
    status: 200,
    headers: {
      'set-cookie':
        /^panel_admin=[A-Za-z0-9_-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    },
    body: { ok: true },
    effects: async (w, pending, answer) => {
      const token = /=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
      expect(token).not.toBe(pending)
      expect(await isAlive(w, `panel_admin=${token}`)).toBe(true)
      expect(w.dump()).not.toContain(token)
      expect(w.dump()).toContain(sha256Hex(token))
      expect(w.rows('select * from pending_logins')).toEqual([])
      expect(auditOf(w)).toEqual(['login'])
      expect(w.rows('select last_login_at as at, totp_last_step as step from admins')).toEqual([
        { at: nowOf(w), step: w.clock.now().getTime() / 30_000 },
      ])
    },
  },
  ...[-1, 1].map((steps) => ({
    name: `200 for the code ${steps} step away`,
    given: awaitingCode,
    request: (token: string, w: World) =>
      request({ pending_token: token, code: codeNow(w, steps) }),
    status: 200,
    body: { ok: true },
  })),
  {
    name: '200 for a code with a space inside',
    given: awaitingCode,
    request: (token, w) =>
      request({ pending_token: token, code: codeNow(w).replace(/(...)/, '$1 ') }),
    status: 200,
    body: { ok: true },
  },
  ...[
    ['an unknown token', 'made-up'],
    ['an empty token', ''],
    ['what the database keeps of the token', 'stored'],
  ].map(([what, token]) => ({
    name: `401 for ${what}, which is no attempt`,
    given: awaitingCode,
    request: (_given: string, w: World) =>
      request({
        pending_token:
          token === 'stored' ? w.rows('select token from pending_logins')[0].token : token,
        code: codeNow(w),
      }),
    status: 401,
    headers: { 'set-cookie': null },
    error: EXPIRED.error,
    effects: (w: World) => expect(attempts(w)).toEqual([]),
  })),
  ...[
    ['no token', (_token: string, code: string) => ({ code }), /^pending_token /],
    ['no code', (token: string) => ({ pending_token: token }), /^code /],
    [
      'a number for a code',
      (token: string, code: string) => ({ pending_token: token, code: Number(code) }),
      /^code /,
    ],
    ['null', (token: string) => ({ pending_token: token, code: null }), /^code /],
    [
      'a list for a token',
      (token: string, code: string) => ({ pending_token: [token], code }),
      /^pending_token /,
    ],
    [
      'a code of 65 characters',
      (token: string) => ({ pending_token: token, code: '1'.repeat(65) }),
      /^code /,
    ],
  ].map(([what, body, error]) => ({
    name: `400 for ${what}, which is no attempt`,
    given: awaitingCode,
    request: (token: string, w: World) =>
      request((body as (token: string, code: string) => unknown)(token, codeNow(w))),
    status: 400,
    error: error as RegExp,
    effects: (w: World) => expect(attempts(w)).toEqual([]),
  })),
  {
    name: '400 for a body that is no JSON',
    request: { path: '/admin/api/login/totp', anonymous: true, raw: '{' },
    status: 400,
    error: 'invalid JSON',
  },
])

let w: World
beforeEach(async () => {
  w = await createWorld()
  turnTotpOn(w)
})

afterEach(() => w.close())

const sessions = () => w.rows('select * from admin_sessions').length

const { addPending, guess } = pendingLogins(() => w)

describe('a code', () => {
  test('401 when it is wrong, counted for address and account, noted without it', async () => {
    const code = wrongCode(w)
    const answer = await codeStep(w, addPending(), code)
    expect([answer.status, answer.json]).toEqual([401, WRONG])
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(attempts(w)).toEqual(['127.0.0.1', 'admin 1'])
    expect(w.rows('select action, admin, object, detail from audit_log')).toEqual([
      { action: 'login.failed', admin: null, object: 'admin', detail: 'code' },
    ])
    expect(w.dump('login_attempts', 'plans')).not.toContain(code)
    expect(sessions()).toBe(1)
  })

  test.each(['', ' ', '12345', '1234567', 'abcdef', '１２３４５６', '٠١٢٣٤٥', '12 34'])(
    '401 for %j, which is one wrong code',
    async (code) => {
      const answer = await codeStep(w, addPending(), code)
      expect([answer.status, answer.json]).toEqual([401, WRONG])
      expect(attempts(w)).toHaveLength(2)
    },
  )

  test.each([-2, 2])('401 for the one %i steps away', async (steps) => {
    const answer = await codeStep(w, addPending(), codeNow(w, steps))
    expect([answer.status, answer.json]).toEqual([401, WRONG])
  })

  test('401 the second time, with another pending login too', async () => {
    const [first, second] = [addPending(), addPending()]
    expect((await codeStep(w, first, codeNow(w))).status).toBe(200)
    const again = await codeStep(w, second, codeNow(w))
    expect([again.status, again.json]).toEqual([401, WRONG])
    w.clock.advance(30_000)
    expect((await codeStep(w, second, codeNow(w, -1))).json).toEqual(WRONG)
    expect((await codeStep(w, second, codeNow(w))).status).toBe(200)
  })

  test('401 for an earlier one than the last that was used', async () => {
    expect((await codeStep(w, addPending(), codeNow(w, 1))).status).toBe(200)
    for (const steps of [-1, 0, 1]) {
      expect((await codeStep(w, addPending(), codeNow(w, steps))).json).toEqual(WRONG)
    }
    w.clock.advance(30_000)
    expect((await codeStep(w, addPending(), codeNow(w, 1))).status).toBe(200)
  })

  test('401 for the one that turned two-factor login on', async () => {
    w.change('update admins set totp_secret = null')
    const body = { secret: SECRET, code: codeNow(w) }
    expect((await w.admin('/admin/api/2fa/enable', { body })).status).toBe(200)
    expect((await codeStep(w, addPending(), codeNow(w))).json).toEqual(WRONG)
    expect((await codeStep(w, addPending(), codeNow(w, 1))).status).toBe(200)
  })

  test('of another admin is wrong', async () => {
    const id = addAdmin(w, 'second')
    w.change("update admins set totp_secret = 'GEZDGNBVGY3TQOJQ' where id = ?", id)
    expect((await codeStep(w, addPending(id), codeNow(w))).json).toEqual(WRONG)
  })
})

describe('a pending login', () => {
  test('lives five minutes', async () => {
    const [early, late] = [await pendingToken(w), await pendingToken(w)]
    w.clock.advance(299_000)
    expect((await codeStep(w, early, codeNow(w))).status).toBe(200)
    w.clock.advance(1000)
    const answer = await codeStep(w, late, codeNow(w, 1))
    expect([answer.status, answer.json]).toEqual([401, EXPIRED])
    expect(attempts(w)).toEqual([])
  })

  test('is used up by a correct code', async () => {
    const token = addPending()
    expect((await codeStep(w, token, codeNow(w))).status).toBe(200)
    const again = await codeStep(w, token, codeNow(w, 1))
    expect([again.status, again.json]).toEqual([401, EXPIRED])
    expect(attempts(w)).toEqual([])
  })

  test('outlives nine wrong codes, and the tenth uses it up', async () => {
    const [nine, ten] = [addPending(), addPending()]
    for (let i = 1; i <= 9; i++) {
      expect(await guess(nine, `192.0.2.${i}`)).toEqual({ status: 401, json: WRONG })
      expect(await guess(ten, `192.0.2.${i}`)).toEqual({ status: 401, json: WRONG })
    }
    expect((await codeStep(w, nine, codeNow(w), '192.0.2.99')).status).toBe(200)
    expect(await guess(ten, '192.0.2.10')).toEqual({ status: 401, json: WRONG })
    const answer = await codeStep(w, ten, codeNow(w, 1), '192.0.2.11')
    expect([answer.status, answer.json]).toEqual([401, EXPIRED])
  })

  test('ends with its account', async () => {
    const id = addAdmin(w, 'second')
    turnTotpOn(w, id)
    const token = await pendingToken(w, 'second')
    expect((await w.admin(`/admin/api/admins/${id}`, { method: 'DELETE' })).status).toBe(200)
    expect((await codeStep(w, token, codeNow(w))).json).toEqual(EXPIRED)
  })

  test('ends when the password changes', async () => {
    const token = await pendingToken(w)
    const body = { current_password: PASSWORD, password: 'another password' }
    expect((await w.admin('/admin/api/password', { body })).status).toBe(200)
    expect((await codeStep(w, token, codeNow(w))).json).toEqual(EXPIRED)
  })

  test('is none of a session: its token opens nothing', async () => {
    const token = await pendingToken(w)
    const answer = await w.call('/admin/api/nodes', { cookie: `panel_admin=${token}` })
    expect(answer.status).toBe(401)
  })
})
