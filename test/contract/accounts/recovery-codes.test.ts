/** Recovery codes in place of the app, and accounts that must have a second factor. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { resetAdmin } from '#src/domain/accounts/admins.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import {
  addAdmin,
  codeNow,
  codeStep,
  logIn,
  logInToPanel,
  pendingToken,
  SECRET,
  turnTotpOn,
} from '#test/support/calls/admins.ts'
import { auditOf, putSettings } from '#test/support/rows/records.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld({ environment: { ADMIN_TG_IDS: '501' } })
})
afterEach(() => w.close())

const make = (password = PASSWORD) =>
  w.admin('/admin/api/2fa/recovery-codes', { body: { password } })
const left = async () => (await w.admin('/admin/api/2fa/recovery-codes')).json
const makeCodes = async (): Promise<string[]> => {
  turnTotpOn(w)
  return (await make()).json.codes
}
const told = () => w.rows('select payload from outbox').map((row) => JSON.parse(row.payload))
const BY = { admin: 'admin', ip: '127.0.0.1' }

describe('POST /admin/api/2fa/recovery-codes', () => {
  test('200 with ten different codes of 80 bits, which are hashed at rest', async () => {
    const codes = await makeCodes()
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) {
      expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
      const bare = code.replaceAll('-', '').toUpperCase()
      expect(w.dump()).not.toContain(bare)
      expect(w.dump()).toContain(sha256Hex(bare))
      expect(w.log.join()).not.toContain(code)
    }
    expect(await left()).toEqual({ left: 10 })
    expect(auditOf(w)).toEqual(['2fa.recovery-codes'])
    expect(told()).toEqual([{ about: 'recovery-codes-made', ...BY }])
  })

  test('200 again: those of before end', async () => {
    const [old = ''] = await makeCodes()
    const [fresh = ''] = (await make()).json.codes
    expect((await codeStep(w, await pendingToken(w), old)).status).toBe(401)
    expect((await codeStep(w, await pendingToken(w), fresh)).status).toBe(200)
  })

  test('400 while two-factor login is off', async () => {
    const answer = await make()
    expect([answer.status, answer.json]).toEqual([400, { error: 'two-factor login is off' }])
    expect(await left()).toEqual({ left: 0 })
  })

  test('401 for a wrong password, counted with those of the other routes; 400 for none', async () => {
    const codes = await makeCodes()
    for (let i = 0; i < 10; i++) {
      const answer = await make('not this one')
      expect([answer.status, answer.json]).toEqual([401, { error: 'wrong password' }])
    }
    expect((await make()).status).toBe(429)
    expect((await w.admin('/admin/api/2fa/recovery-codes', { body: {} })).status).toBe(400)
    expect((await codeStep(w, await pendingToken(w), codes[0] ?? '')).status).toBe(200)
  })

  test('401 without a session', async () => {
    const path = '/admin/api/2fa/recovery-codes'
    expect((await w.call(path, { body: { password: PASSWORD } })).status).toBe(401)
    expect((await w.call(path)).status).toBe(401)
  })
})

describe('a recovery code', () => {
  test('completes a login once, is noted, and told with how many are left', async () => {
    const [code = ''] = await makeCodes()
    expect((await codeStep(w, await pendingToken(w), code)).status).toBe(200)
    expect(await left()).toEqual({ left: 9 })
    expect(told().at(-1)).toEqual({ about: 'recovery-code-used', left: 9, ...BY })
    const [used] = w.rows("select admin, detail from audit_log where action = '2fa.recovery-code'")
    expect(used).toEqual({ admin: 'admin', detail: '9 left' })
    const again = await codeStep(w, await pendingToken(w), code)
    expect([again.status, again.json]).toEqual([401, { error: 'wrong code' }])
  })

  test.each<[string, (code: string) => string]>([
    ['in capitals', (code) => code.toUpperCase()],
    ['without dashes', (code) => code.replaceAll('-', '')],
    ['with spaces', (code) => ` ${code.replaceAll('-', ' ')} `],
  ])('counts %s too', async (_how, written) => {
    const [code = ''] = await makeCodes()
    expect((await codeStep(w, await pendingToken(w), written(code))).status).toBe(200)
  })

  test('leaves the app as it is', async () => {
    const [code = ''] = await makeCodes()
    await codeStep(w, await pendingToken(w), code)
    expect((await codeStep(w, await pendingToken(w), codeNow(w))).status).toBe(200)
  })

  test('of twenty uses at once one wins', async () => {
    const [code = ''] = await makeCodes()
    const pending: string[] = []
    for (let i = 0; i < 20; i++) pending.push(await pendingToken(w))
    const answers = await Promise.all(
      pending.map((token, i) => codeStep(w, token, code, `192.0.2.${i}`)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19)
    expect(await left()).toEqual({ left: 9 })
  })

  test('is one of its own account only, and a wrong one counts like any wrong code', async () => {
    const [code = ''] = await makeCodes()
    turnTotpOn(w, addAdmin(w, 'second'))
    for (let i = 0; i < 10; i++) {
      expect((await codeStep(w, await pendingToken(w, 'second'), code)).status).toBe(401)
    }
    const answer = await codeStep(w, await pendingToken(w), code)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '300'])
  })

  test('ends with two-factor login, and with a reset in the shell', async () => {
    await makeCodes()
    const former = w.rows('select password_hash, totp_secret from admins').flatMap(Object.values)
    await w.admin('/admin/api/2fa/disable', { body: { password: PASSWORD } })
    expect(await left()).toEqual({ left: 0 })
    const [code = ''] = await makeCodes()
    await resetAdmin(w.s, 'admin')
    expect(w.rows('select * from recovery_codes where used_at is null')).toEqual([])
    w.change(
      "update admins set password_hash = ?, totp_secret = ? where username = 'admin'",
      ...former,
    )
    expect((await codeStep(w, await pendingToken(w), code)).status).toBe(401)
  })
})

describe('GET /admin/api/account', () => {
  test('200 with who it is and what is asked of it', async () => {
    const own = { id: 1, username: 'admin', role: 'owner', second_factor: false, must_enrol: false }
    expect((await w.admin('/admin/api/account')).json).toEqual(own)
    putSettings(w, { REQUIRE_2FA: 'true' })
    expect((await w.admin('/admin/api/account')).json).toEqual({ ...own, must_enrol: true })
    turnTotpOn(w)
    expect((await w.admin('/admin/api/account')).json).toEqual({ ...own, second_factor: true })
    expect((await w.call('/admin/api/account')).status).toBe(401)
  })
})

describe('two-factor login for all', () => {
  const require = (require_2fa: unknown) =>
    w.admin('/admin/api/settings/security', { body: { require_2fa } })

  test('is switched on by one who has it, and told', async () => {
    turnTotpOn(w)
    expect((await w.admin('/admin/api/settings/security')).json).toEqual({ require_2fa: false })
    const answer = await require(true)
    expect([answer.status, answer.json]).toEqual([200, { require_2fa: true }])
    await require(true)
    await require(false)
    expect(told()).toEqual([
      { about: 'two-factor-rule', required: true, ...BY },
      { about: 'two-factor-rule', required: false, ...BY },
    ])
  })

  test('400 where the one who asks has none, or for what is no answer', async () => {
    const answer = await require(true)
    expect([answer.status, answer.json]).toEqual([
      400,
      { error: 'turn two-factor login on for yourself first' },
    ])
    expect((await require(false)).status).toBe(200)
    for (const value of ['true', 1, null, undefined])
      expect((await require(value)).status).toBe(400)
  })

  test('an account without it can confirm that it is it, as its panel must before the setup', async () => {
    putSettings(w, { REQUIRE_2FA: 'true' })
    const { session: cookie } = await logInToPanel(w)
    w.clock.advance(600_000)
    const ask = (path: string, body: unknown) => w.call(`/admin/api${path}`, { cookie, body })
    const enable = () => ask('/2fa/enable', { secret: SECRET, code: codeNow(w) })
    expect((await enable()).json.code).toBe('reauth_required')
    expect((await ask('/reauth', { password: PASSWORD })).status).toBe(200)
    expect((await enable()).status).toBe(200)
  })

  test('an account without it sees itself, sets it up, and then does what it likes', async () => {
    putSettings(w, { REQUIRE_2FA: 'true' })
    const cookie = await logIn(w)
    const ask = (method: string, path: string, body?: unknown) =>
      w.call(`/admin/api${path}`, { method, cookie, ...(body === undefined ? {} : { body }) })
    for (const [method, path] of [
      ['GET', '/users'],
      ['GET', '/settings/security'],
      ['POST', '/settings/security'],
      ['GET', '/backup'],
      ['POST', '/password'],
      ['GET', '/account/x'],
      ['GET', '/nothing'],
    ] as const) {
      const answer = await ask(method, path, method === 'POST' ? {} : undefined)
      expect([answer.status, answer.json], path).toEqual([
        403,
        { error: 'set up two-factor login first' },
      ])
    }
    expect((await ask('GET', '/me')).json.authenticated).toBe(true)
    expect((await ask('GET', '/account')).json.must_enrol).toBe(true)
    expect((await ask('GET', '/2fa/status')).status).toBe(200)
    expect((await ask('POST', '/2fa/setup')).status).toBe(200)
    expect((await ask('POST', '/qr', { text: 'otpauth://totp/x' })).status).toBe(200)
    const enabling = { secret: SECRET, code: codeNow(w) }
    expect((await ask('POST', '/2fa/enable', enabling)).status).toBe(200)
    expect((await ask('GET', '/users')).status).toBe(200)
    expect((await ask('POST', '/logout')).status).toBe(200)
  })
})
