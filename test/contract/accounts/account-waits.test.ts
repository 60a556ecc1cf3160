/** Guesses at one account from many addresses: growing waits, and the browsers that keep their way in. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { knownClient } from '#src/domain/accounts/known-clients.ts'
import { cleanUp } from '#src/domain/installation/cleanup.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { addAdmin, isAlive, logInToPanel, turnTotpOn } from '#test/support/calls/admins.ts'
import { nowOf } from '#test/support/rows/records.ts'
import { testOnSqlite } from '#test/support/worlds/engines.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

let w: World
beforeEach(async () => {
  w = await createWorld()
})
afterEach(() => w.close())

const DAY = 86_400_000

let addresses = 0
/** A login from an address that nobody has used. */
const login = (username = 'admin', password = 'wrong password', cookie?: string) => {
  addresses++
  return w.call('/admin/api/login', {
    body: { username, password },
    headers: { 'x-real-ip': `198.51.${addresses >> 8}.${addresses & 255}` },
    ...(cookie === undefined ? {} : { cookie }),
  })
}

const waitOf = async (answer: ReturnType<typeof login>) => {
  const { status, headers } = await answer
  return status === 429 ? Number(headers.get('retry-after')) : status
}

const nameOf = (username: string) => `name ${sha256Hex(username).slice(0, 4)}`

/** As many wrong passwords, without their cost. */
function guessed(times: number, account = nameOf('admin'), at = nowOf(w)): void {
  for (let i = 0; i < times; i++) {
    w.change('insert into account_attempts (account, at) values (?, ?)', account, at)
  }
}

const attempts = () =>
  w.rows('select account from account_attempts order by id').map((row) => row.account)

describe('wrong passwords of one account', () => {
  test('429 after thirty from as many addresses, with the text and header of the others', async () => {
    for (let i = 0; i < 30; i++) expect((await login()).status).toBe(401)
    const hashes = w.hashes()
    const before = w.dump()
    const answer = await login('admin', PASSWORD)
    expect([answer.status, answer.json]).toEqual([
      429,
      { error: 'too many attempts, try again later' },
    ])
    expect(answer.headers.get('retry-after')).toBe('1')
    expect([w.dump(), w.hashes()]).toEqual([before, hashes])
  })

  test('the wait doubles with each further one, to a minute', async () => {
    guessed(30)
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      const wait = await waitOf(login())
      waits.push(wait)
      w.clock.advance((wait - 1) * 1000)
      expect(await waitOf(login())).toBe(1)
      w.clock.advance(1000)
      expect(await waitOf(login())).toBe(401)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })

  test('an hour later they are forgotten', async () => {
    guessed(100)
    w.clock.advance(3_599_000)
    expect(await waitOf(login())).toBe(401)
    w.clock.advance(1000)
    for (let i = 0; i < 3; i++) expect(await waitOf(login())).toBe(401)
  })

  test('an unknown name waits like a known one, however it is written', async () => {
    for (const [name, other] of [
      ['nobody', ' NoBody '],
      ['admin', 'ＡＤＭＩＮ'],
    ] as const) {
      guessed(32, nameOf(name))
      expect(await waitOf(login(other))).toBe(4)
    }
    expect(await waitOf(login('somebody'))).toBe(401)
  })

  test('no more of a name is kept than 16 bits: it may be a password', async () => {
    await login('my secret password')
    expect(attempts()).toEqual([nameOf('my secret password')])
    expect(attempts()[0]).toHaveLength('name 1234'.length)
    expect(w.dump()).not.toContain('my secret')
  })

  test('success elsewhere clears none of them, and counts for nothing itself', async () => {
    guessed(29)
    expect((await login('admin', PASSWORD)).status).toBe(200)
    expect(attempts()).toHaveLength(29)
    turnTotpOn(w)
    expect((await login('admin', PASSWORD)).json).toMatchObject({ needs_totp: true })
    expect(attempts()).toHaveLength(29)
    expect(await waitOf(login())).toBe(401)
    expect(await waitOf(login('admin', PASSWORD))).toBe(1)
  })

  test('a refused one counts neither for the account nor for its address', async () => {
    guessed(40)
    const headers = { 'x-real-ip': '192.0.2.1' }
    const body = { username: 'admin', password: 'wrong password' }
    for (let i = 0; i < 20; i++) await w.call('/admin/api/login', { body, headers })
    expect(attempts()).toHaveLength(40)
    expect(w.rows('select * from login_attempts')).toEqual([])
  })

  test('of 100 guesses at once exactly thirty are evaluated', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async () => (await login()).status),
    )
    expect(statuses.filter((status) => status === 401)).toHaveLength(30)
    expect(statuses.filter((status) => status === 429)).toHaveLength(70)
    expect(w.hashes()).toBe(30)
  })

  test('a clock that was set back makes nobody wait longer than a minute', async () => {
    guessed(100, nameOf('admin'), '2026-03-01T13:00:00')
    expect(await waitOf(login())).toBe(60)
  })

  test('of other accounts are another matter, up to a ceiling for all', async () => {
    guessed(500, nameOf('second'))
    guessed(500, 'device 99')
    expect(await waitOf(login())).toBe(1)
    w.clock.advance(1000)
    expect(await waitOf(login())).toBe(401)
    expect(await waitOf(login('third'))).toBe(2)
  })
})

describe('an address from which the account was logged in to', () => {
  const from = (ip: string, password = PASSWORD, username = 'admin') =>
    waitOf(
      w.call('/admin/api/login', {
        body: { username, password },
        headers: { 'x-real-ip': ip },
      }),
    )

  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2'],
  ])('%s keeps its way in for 30 days without any cookie, as %s', async (first, again) => {
    expect(await from(first)).toBe(200)
    w.clock.advance(29 * DAY)
    guessed(100)
    guessed(1006, nameOf('second'))
    expect(await from('192.0.2.8')).toBe(60)
    expect(await from('2001:db8:1:3::1')).toBe(60)
    expect(await from(again)).toBe(200)
    w.clock.advance(30 * DAY)
    guessed(100)
    expect(await from(again)).toBe(60)
  })

  test('waits for its own wrong passwords alone', async () => {
    await from('192.0.2.7')
    await from('192.0.2.8')
    guessed(30, 'admin 1 at 192.0.2.7')
    expect(await from('192.0.2.7')).toBe(1)
    expect(await from('192.0.2.8')).toBe(200)
    expect(await from('192.0.2.8', 'wrong password')).toBe(401)
    expect(attempts().slice(-1)).toEqual(['admin 1 at 192.0.2.8'])
  })

  test('is none for another account, nor is one that only failed there', async () => {
    addAdmin(w, 'second')
    await from('192.0.2.7', PASSWORD, 'second')
    await from('192.0.2.7', 'wrong password')
    guessed(100)
    expect(await from('192.0.2.7')).toBe(60)
  })

  testOnSqlite('is looked up in an index, however long the log of actions is', () => {
    const plan = w.rows(
      "explain query plan select distinct ip from audit_log where action = 'login' and admin = 'admin' and at > ''",
    )
    expect(JSON.stringify(plan)).toContain('COVERING INDEX audit_log_logins')
  })
})

describe('a browser that has logged in before', () => {
  test('is told to keep a cookie that is hashed at rest, by the login page only', async () => {
    const body = { username: 'admin', password: PASSWORD }
    const other = await w.call('/admin/api/login', { body })
    expect(other.headers.getSetCookie()).toHaveLength(1)
    const answer = await w.call('/admin/api/login', { body: { ...body, panel: true } })
    const cookie = answer.headers.getSetCookie()[1] ?? ''
    expect(cookie).toMatch(
      /^panel_device=[A-Za-z0-9_-]{43}; Max-Age=34560000; Path=\/admin\/api; HttpOnly; Secure; SameSite=Strict$/,
    )
    const token = /=([^;]+)/.exec(cookie)?.[1] ?? ''
    expect(w.dump()).not.toContain(token)
    expect(w.rows('select token, admin_id from admin_devices')).toEqual([
      { token: sha256Hex(token), admin_id: 1 },
    ])
  })

  test('keeps its way in while the account waits, and waits for its own wrong passwords', async () => {
    const { device } = await logInToPanel(w)
    guessed(100)
    expect(await waitOf(login('admin', PASSWORD))).toBe(60)
    for (let i = 0; i < 30; i++) {
      expect(await waitOf(login('admin', 'wrong password', device))).toBe(401)
    }
    expect(await waitOf(login('admin', PASSWORD, device))).toBe(1)
    w.clock.advance(1000)
    expect((await login('admin', PASSWORD, device)).status).toBe(200)
  })

  test('keeps it above the ceiling too', async () => {
    const { device } = await logInToPanel(w)
    guessed(1006, nameOf('second'))
    expect(await waitOf(login('admin', PASSWORD))).toBe(60)
    expect((await login('admin', PASSWORD, device)).status).toBe(200)
  })

  test("is none for another account, nor is one with a cookie of somebody's choice", async () => {
    addAdmin(w, 'second')
    const { device } = await logInToPanel(w, { username: 'second' })
    guessed(100)
    expect(await waitOf(login('admin', PASSWORD, device))).toBe(60)
    expect(await waitOf(login('admin', PASSWORD, 'panel_device=chosen'))).toBe(60)
    w.change('delete from account_attempts')
    const next = await logInToPanel(w, { cookie: 'panel_device=chosen' })
    expect(next.device).not.toContain('chosen')
  })

  test('keeps its cookie at the next login, for 400 days from the last one', async () => {
    const first = await logInToPanel(w)
    w.clock.advance(300 * 86_400_000)
    const second = await logInToPanel(w, { cookie: first.device })
    expect(second.device).toBe(first.device)
    w.clock.advance(399 * 86_400_000)
    await cleanUp(w.s)
    expect(w.rows('select * from admin_devices')).toHaveLength(1)
    w.clock.advance(86_400_000)
    await cleanUp(w.s)
    expect(w.rows('select * from admin_devices')).toEqual([])
  })

  test('makes room for newer ones: twenty of an account are known', async () => {
    const first = await logInToPanel(w)
    for (let i = 0; i < 20; i++) {
      w.clock.advance(1000)
      await logInToPanel(w)
    }
    expect(w.rows('select * from admin_devices')).toHaveLength(20)
    guessed(100)
    expect(await waitOf(login('admin', PASSWORD, first.device))).toBe(60)
  })

  test('is forgotten with a new password, save the one that sets it', async () => {
    const [own, other] = [await logInToPanel(w), await logInToPanel(w)]
    const change = await w.call('/admin/api/password', {
      cookie: `${own.session}; ${own.device}`,
      body: { current_password: PASSWORD, password: 'another password' },
    })
    expect(change.status).toBe(200)
    guessed(100)
    expect(await waitOf(login('admin', 'another password', other.device))).toBe(60)
    expect((await login('admin', 'another password', own.device)).status).toBe(200)
    expect(await isAlive(w, own.session)).toBe(true)
  })
})

test('however often an admin has logged in, a stranger’s wrong login reads none of that', async () => {
  const insert = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
    insert into audit_log (at, admin, ip, action) select ?, 'admin', '10.0.' || (i % 250) || '.' || (i % 200), 'login' from n`
  w.change(insert, nowOf(w))
  const admin = { id: 1, username: 'admin' }
  const took: number[] = []
  for (const ip of ['192.0.2.1', '2001:db8:1:2::1', '2001:db8::1', 'unknown']) {
    const runs: number[] = []
    for (let run = 0; run < 5; run++) {
      const startedAt = performance.now()
      const known = await w.s.db.tx((tx) => knownClient(tx, admin, { ip }, w.clock.now()))
      runs.push(performance.now() - startedAt)
      expect(known).toBeUndefined()
    }
    took.push(Math.min(...runs))
  }
  expect(Math.max(...took)).toBeLessThan(10)
  const own = { ip: '::ffff:10.0.7.7' }
  const known = await w.s.db.tx((tx) => knownClient(tx, admin, own, w.clock.now()))
  expect(known).toBe('admin 1 at 10.0.7.7')
})
