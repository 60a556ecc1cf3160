/** Wrong codes of a login, and one code many times. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  addAdmin,
  codeNow,
  codeStep,
  logIn,
  passwordStep,
  pendingToken,
  turnTotpOn,
  wrongCode,
} from '#test/support/calls/admins.ts'
import { pendingLogins } from '#test/support/rows/pending-logins.ts'
import { auditOf, nowOf } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const EXPIRED = { error: 'login session expired, log in again' }
const TOO_MANY = { error: 'too many attempts, try again later' }
let w: World
beforeEach(async () => {
  w = await createWorld()
  turnTotpOn(w)
})

afterEach(() => w.close())

const sessions = () => w.rows('select * from admin_sessions').length

const { addPending, guess } = pendingLogins(() => w)

describe('wrong codes of an address', () => {
  test('429 after ten in five minutes, for a correct code too, which is not looked at', async () => {
    for (let i = 0; i < 10; i++) expect((await guess()).status).toBe(401)
    const token = addPending()
    const before = w.dump()
    const answer = await codeStep(w, token, codeNow(w))
    expect([answer.status, answer.json]).toEqual([429, TOO_MANY])
    expect(answer.headers.get('retry-after')).toBe('300')
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(w.dump()).toBe(before)
    expect((await codeStep(w, token, codeNow(w), '192.0.2.2')).status).toBe(200)
  })

  test('429 is not counted: it lifts five minutes after the first', async () => {
    for (let i = 0; i < 10; i++) await guess()
    w.clock.advance(299_000)
    const token = addPending()
    for (let i = 0; i < 20; i++) {
      const answer = await codeStep(w, token, wrongCode(w))
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '1'])
    }
    w.clock.advance(1000)
    expect((await codeStep(w, token, codeNow(w))).status).toBe(200)
  })

  test('429 after ten of one IPv6 network of 64 bits', async () => {
    for (let i = 0; i < 10; i++) await guess(addPending(), `2001:db8:1:2::${i}`)
    expect((await guess(addPending(), '2001:db8:1:2:ffff::1')).status).toBe(429)
    expect((await guess(addPending(), '2001:db8:1:3::1')).status).toBe(401)
  })

  test('a success clears them, of its address only', async () => {
    for (let i = 0; i < 9; i++) await guess()
    for (let i = 0; i < 9; i++) await guess(addPending(), '192.0.2.2')
    expect((await codeStep(w, addPending(), codeNow(w))).status).toBe(200)
    for (let i = 0; i < 10; i++) expect((await guess()).status).toBe(401)
    expect((await guess()).status).toBe(429)
    expect((await guess(addPending(), '192.0.2.2')).status).toBe(401)
    expect((await guess(addPending(), '192.0.2.2')).status).toBe(429)
  })

  test('wrong passwords are another matter, and so is a correct one', async () => {
    for (let i = 0; i < 10; i++) {
      w.change(
        "insert into login_attempts (ip, kind, at) values ('127.0.0.1', 'password', ?)",
        nowOf(w),
      )
    }
    expect((await codeStep(w, addPending(), codeNow(w))).status).toBe(200)
    w.change("delete from login_attempts where kind = 'password'")
    for (let i = 0; i < 10; i++) await guess()
    await pendingToken(w)
    expect((await guess()).status).toBe(429)
  })

  test('unknown pending tokens do not count', async () => {
    for (let i = 0; i < 30; i++) {
      expect((await codeStep(w, 'made-up', codeNow(w))).json).toEqual(EXPIRED)
    }
    expect((await codeStep(w, addPending(), codeNow(w))).status).toBe(200)
  })

  test('100 guesses at once: exactly 10 are evaluated', async () => {
    const token = Array.from({ length: 100 }, () => addPending())
    const answers = await Promise.all(token.map((one) => guess(one)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(90)
    expect(auditOf(w)).toHaveLength(10)
  })
})

describe('wrong codes of an account', () => {
  /** 30 wrong codes from as many addresses. */
  async function useUp(adminId = 1): Promise<void> {
    for (let i = 0; i < 30; i++) {
      expect((await guess(addPending(adminId), `198.51.100.${i}`)).status).toBe(401)
    }
  }

  test('429 after 30 in an hour, unevaluated, from whatever address', async () => {
    await useUp()
    const token = addPending()
    const before = w.dump()
    const answer = await codeStep(w, token, codeNow(w), '192.0.2.1')
    expect([answer.status, answer.json]).toEqual([429, TOO_MANY])
    expect(answer.headers.get('retry-after')).toBe('3600')
    expect(w.dump()).toBe(before)
  })

  test('the password step stays open', async () => {
    await useUp()
    const answer = await passwordStep(w)
    expect([answer.status, answer.json.needs_totp]).toEqual([200, true])
  })

  test('it lifts an hour after the first', async () => {
    await useUp()
    w.clock.advance(3_599_000)
    const token = addPending()
    expect((await codeStep(w, token, codeNow(w), '192.0.2.1')).status).toBe(429)
    w.clock.advance(1000)
    expect((await codeStep(w, token, codeNow(w), '192.0.2.1')).status).toBe(200)
  })

  test('other accounts are not concerned', async () => {
    const id = addAdmin(w, 'second')
    turnTotpOn(w, id)
    await useUp()
    expect((await codeStep(w, addPending(id), codeNow(w), '192.0.2.1')).status).toBe(200)
  })

  test('a success does not clear them', async () => {
    for (let i = 0; i < 29; i++) await guess(addPending(), `198.51.100.${i}`)
    expect((await codeStep(w, addPending(), codeNow(w), '192.0.2.1')).status).toBe(200)
    expect((await guess(addPending(), '192.0.2.2')).status).toBe(401)
    expect((await guess(addPending(), '192.0.2.3')).status).toBe(429)
  })

  test('an unknown pending token still gets 401', async () => {
    await useUp()
    expect((await codeStep(w, 'made-up', codeNow(w), '192.0.2.1')).json).toEqual(EXPIRED)
  })
})

describe('one code at once', () => {
  test('with one pending login opens one session', async () => {
    const token = addPending()
    const code = codeNow(w)
    const answers = await Promise.all(Array.from({ length: 20 }, () => codeStep(w, token, code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ json }) => json.error === EXPIRED.error)).toHaveLength(19)
    expect(sessions()).toBe(2)
  })

  test('with as many pending logins opens one session', async () => {
    const code = codeNow(w)
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, i) => codeStep(w, addPending(), code, `192.0.2.${i}`)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ json }) => json.error === 'wrong code')).toHaveLength(8)
    expect(sessions()).toBe(2)
  })

  test('does not open one once two-factor login was reset from the shell', async () => {
    const token = addPending()
    w.change('update admins set totp_secret = null')
    const answer = await codeStep(w, token, codeNow(w))
    expect([answer.status, sessions()]).toEqual([401, 1])
    await logIn(w)
  })
})
