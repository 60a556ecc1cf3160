/** Two-factor login that is switched off, and changes of it at once. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { disableTwoFactor } from '#src/domain/accounts/two-factor.ts'
import {
  addAdmin,
  codeNow,
  isAlive,
  logIn,
  pendingToken,
  SECRET,
  turnTotpOn,
} from '#test/support/calls/admins.ts'
import { post } from '#test/support/calls/two-factor-calls.ts'
import { auditOf } from '#test/support/rows/records.ts'
import { scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

const stored = (w: World) =>
  w.rows('select totp_secret as secret from admins where id = 1')[0].secret

const disable = (password: unknown) => post('disable', { password })

/** It is on, a login awaits its code, and there are sessions. */
async function on(w: World) {
  addAdmin(w, 'second')
  const sessions = { other: await logIn(w), foreign: await logIn(w, 'second'), own: await logIn(w) }
  turnTotpOn(w)
  w.change('update admins set totp_last_step = 5')
  const pending = await pendingToken(w)
  return { ...sessions, pending }
}

scenarios('POST /admin/api/2fa/disable', [
  {
    name: '200, the next login asks for no code, other sessions and pending logins end',
    given: on,
    request: ({ own }) => ({ ...disable(PASSWORD), cookie: own }),
    status: 200,
    headers: { 'set-cookie': null },
    body: { ok: true },
    effects: async (w, { own, other, foreign, pending }) => {
      expect(w.rows('select totp_secret s, totp_last_step n from admins where id = 1')).toEqual([
        { s: null, n: null },
      ])
      expect(await isAlive(w, own)).toBe(true)
      expect(await isAlive(w, foreign)).toBe(true)
      expect(await isAlive(w, other)).toBe(false)
      expect(auditOf(w).at(-1)).toBe('2fa.disable')
      const answer = await w.call('/admin/api/login/totp', {
        body: { pending_token: pending, code: codeNow(w) },
      })
      expect([answer.status, answer.json]).toEqual([
        401,
        { error: 'login session expired, log in again' },
      ])
      await logIn(w)
    },
  },
  {
    name: '200 where it is off, and no session ends',
    given: async (w) => ({ other: await logIn(w), own: await logIn(w) }),
    request: ({ own }) => ({ ...disable(PASSWORD), cookie: own }),
    status: 200,
    body: { ok: true },
    effects: async (w, { other }) => {
      expect(await isAlive(w, other)).toBe(true)
      expect(auditOf(w)).not.toContain('2fa.disable')
    },
  },
  ...['not this one', '', PASSWORD.toUpperCase(), `${PASSWORD} `].map((password) => ({
    name: `401 for the password ${JSON.stringify(password)}`,
    given: on,
    request: disable(password),
    status: 401,
    error: 'wrong password',
    effects: (w: World) => expect(stored(w)).toBe(SECRET),
  })),
  ...[
    ['no password', {}],
    ['a number', { password: 12345678 }],
    ['null', { password: null }],
    ['a password of 1025 characters', { password: 'x'.repeat(1025) }],
  ].map(([what, body]) => ({
    name: `400 for ${what}, which is no attempt`,
    given: on,
    request: post('disable', body),
    status: 400,
    error: /^password /,
    effects: (w: World) => expect(w.rows('select * from login_attempts')).toEqual([]),
  })),
])

describe('two-factor login under way', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => w.close())

  test('of two secrets enabled at once by two sessions one counts', async () => {
    const cookies = [await logIn(w), await logIn(w)]
    const body = { secret: SECRET, code: codeNow(w) }
    const answers = await Promise.all(
      cookies.map((cookie) => w.call('/admin/api/2fa/enable', { cookie, body })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(200)
    expect([400, 401]).toContain(statuses[1])
    expect(auditOf(w).filter((action) => action === '2fa.enable')).toHaveLength(1)
  })

  test('it can be turned on again at once, with the same secret too', async () => {
    for (let i = 0; i < 2; i++) {
      const body = { secret: SECRET, code: codeNow(w) }
      expect((await w.admin('/admin/api/2fa/enable', { body })).status).toBe(200)
      const off = await w.admin('/admin/api/2fa/disable', { body: { password: PASSWORD } })
      expect(off.status).toBe(200)
    }
  })

  test('it stays on when the password changes while it is turned off', async () => {
    turnTotpOn(w)
    const [{ id }] = w.rows('select id from admin_sessions')
    const own = { adminId: 1, sessionId: id, actor: { admin: 'admin', ip: '127.0.0.1' } }
    const hashing: typeof w.s.hashing = async (work) => {
      const result = await work()
      w.change("update admins set password_hash = 'pbkdf2-sha256$1$AA$AA'")
      return result
    }
    await expect(disableTwoFactor({ ...w.s, hashing }, own, PASSWORD)).rejects.toMatchObject({
      status: 401,
      message: 'wrong password',
    })
    expect(stored(w)).toBe(SECRET)
  })

  test('neither secret nor hash is in any answer once it is on', async () => {
    turnTotpOn(w)
    const { hash } = w.rows('select password_hash as hash from admins')[0]
    const paths = ['admins', 'sessions', '2fa/status', 'me', 'audit', 'stats', 'hwid-settings']
    for (const path of paths) {
      const { text } = await w.admin(`/admin/api/${path}`)
      expect(text, path).not.toContain(SECRET)
      expect(text, path).not.toContain(hash)
    }
    const body = { secret: SECRET, code: codeNow(w) }
    expect((await w.admin('/admin/api/2fa/enable', { body })).text).not.toContain(SECRET)
    expect(w.log.join('\n')).not.toContain(SECRET)
  })
})
