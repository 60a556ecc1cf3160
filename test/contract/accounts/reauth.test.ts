/** How a session confirms that it is its admin's. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  codeNow,
  codeStep,
  isAlive,
  logIn,
  logInToPanel,
  pendingToken,
  SECRET,
  turnTotpOn,
  wrongCode,
} from '#test/support/calls/admins.ts'
import { auditOf, putSettings } from '#test/support/rows/records.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

const MINUTE = 60_000
const REFUSED = { error: 'confirm it is you', code: 'reauth_required' }
let w: World
let cookie: string
beforeEach(async () => {
  w = await createWorld()
  cookie = (await logInToPanel(w)).session
})

afterEach(() => w.close())

const ask = (method: string, path: string, body?: unknown, as = cookie) =>
  w.call(`/admin/api${path}`, { method, cookie: as, ...(body === undefined ? {} : { body }) })

const confirm = (body: unknown, as = cookie) => ask('POST', '/reauth', body, as)

test('whoever has no second factor is not confirmed by an app that the session brings along', async () => {
  w.clock.advance(10 * MINUTE)
  const enable = () => ask('POST', '/2fa/enable', { secret: SECRET, code: codeNow(w) })
  const refused = await enable()
  expect([refused.status, refused.json]).toEqual([403, REFUSED])
  expect(w.rows('select totp_secret from admins')).toEqual([{ totp_secret: null }])
  expect((await confirm({ code: codeNow(w) })).status).toBe(401)
  expect((await ask('HEAD', '/backup')).status).toBe(403)
  expect((await confirm({ password: PASSWORD })).status).toBe(200)
  expect((await enable()).status).toBe(200)
})

describe('POST /admin/api/reauth', () => {
  beforeEach(() => w.clock.advance(20 * MINUTE))

  test('200 for the password: the session is confirmed for ten minutes, no other one', async () => {
    const other = (await logInToPanel(w)).session
    w.clock.advance(10 * MINUTE)
    const answer = await confirm({ password: PASSWORD })
    expect([answer.status, answer.json]).toEqual([200, { ok: true, until: '2026-03-01T12:40:00' }])
    expect((await ask('HEAD', '/backup')).status).toBe(200)
    expect((await ask('HEAD', '/backup', undefined, other)).status).toBe(403)
    w.clock.advance(10 * MINUTE)
    expect((await ask('HEAD', '/backup')).status).toBe(403)
  })

  test('200 for a code, which is used up', async () => {
    turnTotpOn(w)
    const code = codeNow(w)
    expect((await confirm({ code })).status).toBe(200)
    expect((await ask('HEAD', '/backup')).status).toBe(200)
    const again = await confirm({ code })
    expect([again.status, again.json]).toEqual([401, { error: 'wrong code' }])
    expect((await codeStep(w, await pendingToken(w), code)).status).toBe(401)
  })

  test.each([
    ['passwords', 'password.failed'],
    ['codes', 'code.failed'],
  ])(
    '401 for wrong %s: the tenth ends the session, which is told, and nothing of its owner is used up',
    async (which, action) => {
      putSettings(w, { ADMIN_TG_IDS: '501' })
      const own = await logInToPanel(w)
      turnTotpOn(w)
      const wrong = which === 'codes' ? { code: wrongCode(w) } : { password: 'not this one' }
      for (let i = 0; i < 10; i++) {
        expect(await isAlive(w, cookie)).toBe(true)
        expect(w.rows('select * from outbox')).toEqual([])
        const answer = await confirm(wrong)
        const error = which === 'codes' ? 'wrong code' : 'wrong password'
        expect([answer.status, answer.json]).toEqual([401, { error }])
      }
      expect((await confirm({ password: PASSWORD })).json).toEqual({ error: 'unauthorized' })
      expect(auditOf(w).slice(-11)).toEqual([...Array(10).fill(action), 'session.end'])
      const told = w.rows('select payload from outbox').map(({ payload }) => JSON.parse(payload))
      expect(told).toEqual([{ about: 'session-ended', admin: 'admin', ip: '127.0.0.1' }])
      expect(await isAlive(w, own.session)).toBe(true)
      expect((await confirm({ password: PASSWORD }, own.session)).status).toBe(200)
      expect((await codeStep(w, await pendingToken(w), codeNow(w))).status).toBe(200)
      const disable = await ask('POST', '/2fa/disable', { password: PASSWORD }, own.session)
      expect(disable.status).toBe(200)
    },
  )

  test('passwords and codes count together, for a day; a right one takes back itself alone', async () => {
    turnTotpOn(w)
    for (let i = 0; i < 5; i++) await confirm({ password: 'not this one' })
    for (let i = 0; i < 4; i++) await confirm({ code: wrongCode(w) })
    expect((await confirm({ password: PASSWORD })).status).toBe(200)
    expect((await confirm({ code: codeNow(w) })).status).toBe(200)
    expect(w.rows('select ip from login_attempts')).toHaveLength(9)
    w.clock.advance(24 * 60 * MINUTE)
    expect((await confirm({ code: wrongCode(w) })).status).toBe(401)
    expect(await isAlive(w, cookie)).toBe(true)
    for (let i = 0; i < 9; i++) await confirm({ password: 'not this one' })
    expect(await isAlive(w, cookie)).toBe(false)
  })

  test('of 30 guesses at once ten are evaluated', async () => {
    const before = w.hashes()
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => confirm({ password: 'not this one' })),
    )
    expect(answers.filter(({ status }) => status === 401).length).toBeGreaterThanOrEqual(10)
    expect(w.hashes() - before).toBe(10)
    expect(await isAlive(w, cookie)).toBe(false)
  })

  test('401 for a code where there is no second factor, and without a session', async () => {
    expect((await confirm({ code: '123456' })).status).toBe(401)
    expect((await w.call('/admin/api/reauth', { body: { password: PASSWORD } })).json).toEqual({
      error: 'unauthorized',
    })
  })

  test.each([
    ['nothing', {}],
    ['both', { password: PASSWORD, code: '123456' }],
    ['a number', { password: 1 }],
    ['a list', { code: ['123456'] }],
  ])('400 for %s, which is no attempt', async (_what, body) => {
    expect((await confirm(body)).status).toBe(400)
    expect(w.rows('select * from login_attempts')).toEqual([])
  })

  test('of two that send one code at once one is confirmed', async () => {
    turnTotpOn(w)
    const answers = await Promise.all([1, 2, 3].map(() => confirm({ code: codeNow(w) })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
  })
})

describe('wrong passwords where a change asks for them', () => {
  const WRONG = 'not this one'
  const CHANGES: [path: string, body: unknown][] = [
    ['/password', { current_password: WRONG, password: 'a new one entirely' }],
    ['/2fa/disable', { password: WRONG }],
    ['/2fa/recovery-codes', { password: WRONG }],
  ]
  beforeEach(() => turnTotpOn(w))

  test.each(CHANGES)('POST %s: the tenth ends the session, which is told', async (path, body) => {
    putSettings(w, { ADMIN_TG_IDS: '501' })
    for (let i = 0; i < 10; i++) {
      expect(await isAlive(w, cookie)).toBe(true)
      const answer = await ask('POST', path, body)
      expect([answer.status, answer.json]).toEqual([401, { error: 'wrong password' }])
    }
    expect(await isAlive(w, cookie)).toBe(false)
    expect(auditOf(w).slice(-2)).toEqual(['password.failed', 'session.end'])
    const told = w.rows('select payload from outbox').map(({ payload }) => JSON.parse(payload))
    expect(told).toEqual([{ about: 'session-ended', admin: 'admin', ip: '127.0.0.1' }])
  })

  test('count together with confirmations, for a day; a right one takes back itself alone', async () => {
    for (let i = 0; i < 3; i++) await confirm({ code: wrongCode(w) })
    for (const [path, body] of [...CHANGES, ...CHANGES]) await ask('POST', path, body)
    expect((await ask('POST', '/2fa/recovery-codes', { password: PASSWORD })).status).toBe(200)
    w.clock.advance(24 * 60 * MINUTE - 1000)
    expect(await isAlive(w, cookie)).toBe(true)
    expect((await ask('POST', '/2fa/disable', { password: WRONG })).status).toBe(401)
    expect(await isAlive(w, cookie)).toBe(false)
  })

  test('of a script: ten in 15 minutes, 30 in a day, then its session ends as well', async () => {
    w.change("update admins set totp_secret = null where username = 'admin'")
    const own = await logIn(w)
    const disable = () => ask('POST', '/2fa/disable', { password: WRONG }, own)
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 10; i++) expect((await disable()).status).toBe(401)
      if (round < 2) expect((await disable()).status).toBe(429)
      expect(await isAlive(w, own)).toBe(round < 2)
      w.clock.advance(15 * MINUTE)
    }
  })
})

test('without two-factor login recovery codes tell nothing of a password', async () => {
  for (const password of [PASSWORD, 'not this one']) {
    const answer = await ask('POST', '/2fa/recovery-codes', { password })
    expect([answer.status, answer.json]).toEqual([400, { error: 'two-factor login is off' }])
  }
  expect(w.rows('select * from login_attempts')).toEqual([])
})
