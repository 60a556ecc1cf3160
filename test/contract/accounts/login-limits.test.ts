import { afterEach, describe, expect, test } from 'vitest'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

let w: World
afterEach(() => w.close())

const wrong = { username: 'admin', password: 'wrong password' }
const correct = { username: 'admin', password: PASSWORD }

/** The answer to a login from an address, as a trusted proxy reports it. */
const login = (ip: string, body: unknown = wrong) =>
  w.call('/admin/api/login', { body, headers: { 'x-real-ip': ip } })

async function useUp(ip: string, times = 10): Promise<void> {
  for (let i = 0; i < times; i++) expect((await login(ip)).status).toBe(401)
}

/** As many attempts as are allowed, without their cost. */
function reserved(ip: string, at = '2026-03-01T12:00:00'): void {
  for (let i = 0; i < 10; i++) {
    w.change("insert into login_attempts (ip, kind, at) values (?, 'password', ?)", ip, at)
  }
}

const attempts = () => w.rows('select * from login_attempts').length

describe('failed password logins', () => {
  test('429 after ten, with Retry-After and the text of the interface', async () => {
    w = await createWorld()
    await useUp('192.0.2.1')
    const answer = await login('192.0.2.1')
    expect(answer.status).toBe(429)
    expect(answer.json).toEqual({ error: 'too many attempts, try again later' })
    expect(answer.headers.get('retry-after')).toBe('900')
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test('429 for the correct password too, which is not even looked at', async () => {
    w = await createWorld()
    reserved('192.0.2.1')
    const before = w.dump()
    expect((await login('192.0.2.1', correct)).status).toBe(429)
    expect(w.dump()).toBe(before)
  })

  test('429 is not counted itself: the limit lifts 15 minutes after the first attempt', async () => {
    w = await createWorld()
    reserved('192.0.2.1')
    w.clock.advance(899_000)
    for (let i = 0; i < 30; i++) {
      const { status, headers } = await login('192.0.2.1')
      expect([status, headers.get('retry-after')]).toEqual([429, '1'])
    }
    w.clock.advance(1000)
    expect((await login('192.0.2.1', correct)).status).toBe(200)
  })

  test('one attempt comes back for each that is 15 minutes old', async () => {
    w = await createWorld()
    await useUp('192.0.2.1', 1)
    w.clock.advance(60_000)
    await useUp('192.0.2.1', 9)
    expect((await login('192.0.2.1')).headers.get('retry-after')).toBe('840')
    w.clock.advance(840_000)
    expect((await login('192.0.2.1')).status).toBe(401)
    const answer = await login('192.0.2.1')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60'])
  })

  test('a success clears the counter of its address only', async () => {
    w = await createWorld()
    reserved('192.0.2.2')
    await useUp('192.0.2.1', 9)
    expect((await login('192.0.2.1', correct)).status).toBe(200)
    expect(w.rows("select * from login_attempts where ip = '192.0.2.1'")).toEqual([])
    await useUp('192.0.2.1')
    expect((await login('192.0.2.1')).status).toBe(429)
    expect((await login('192.0.2.2')).status).toBe(429)
  })

  test('a correct password clears the counter when a code must follow', async () => {
    w = await createWorld()
    w.change("update admins set totp_secret = 'JBSWY3DPEHPK3PXP'")
    await useUp('192.0.2.1', 9)
    expect((await login('192.0.2.1', correct)).json).toMatchObject({ needs_totp: true })
    expect(attempts()).toBe(0)
  })

  test('attempts at codes are another matter', async () => {
    w = await createWorld()
    reserved('192.0.2.1')
    w.change("update login_attempts set kind = 'totp'")
    expect((await login('192.0.2.1')).status).toBe(401)
    expect((await login('192.0.2.1', correct)).status).toBe(200)
    expect(w.rows("select * from login_attempts where kind = 'totp'")).toHaveLength(10)
  })

  test('unknown names count like known ones', async () => {
    w = await createWorld()
    for (let i = 0; i < 10; i++) await login('192.0.2.1', { ...wrong, username: `name-${i}` })
    expect((await login('192.0.2.1', correct)).status).toBe(429)
  })

  test('an unknown name costs one hash like a known one, a refused guess none', async () => {
    w = await createWorld()
    await login('192.0.2.1', { ...wrong, username: 'nobody' })
    expect(w.hashes()).toBe(1)
    await login('192.0.2.1')
    expect(w.hashes()).toBe(2)
    reserved('192.0.2.2')
    await login('192.0.2.2')
    await login('192.0.2.3', {})
    expect(w.hashes()).toBe(2)
  })

  test('bodies that are none do not count', async () => {
    w = await createWorld()
    for (let i = 0; i < 20; i++) expect((await login('192.0.2.1', {})).status).toBe(400)
    expect((await login('192.0.2.1', correct)).status).toBe(200)
  })

  test('200 guesses at once: exactly 10 are evaluated, 190 are refused', async () => {
    w = await createWorld()
    const answers = await Promise.all(Array.from({ length: 200 }, () => login('192.0.2.1')))
    const statuses = answers.map((answer) => answer.status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(190)
    expect([attempts(), w.hashes()]).toEqual([10, 10])
    expect(w.rows("select * from audit_log where action = 'login.failed'")).toHaveLength(10)
  })
})

describe('who is counted', () => {
  const PAIRS: [a: string, b: string, same: boolean][] = [
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', true],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002::5', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['some-name', 'other-name', true],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['192.0.2.1', '192.000.002.001', true],
    ['  192.0.2.1 ', '192.0.2.1', true],
  ]

  test.each(PAIRS)('%s and %s: together %s', async (a, b, same) => {
    w = await createWorld()
    for (let i = 0; i < 10; i++) await login(a)
    expect((await login(b)).status).toBe(same ? 429 : 401)
  })

  const LOCAL = '127.0.0.1'
  const PEERS: [string, string | undefined, boolean][] = [
    ['loopback', LOCAL, true],
    ['loopback beyond .1', '127.9.9.9', true],
    ['IPv6 loopback', '::1', true],
    ['mapped loopback', '::ffff:127.0.0.1', true],
    ['a unix socket', '', true],
    ['an unknown peer', undefined, true],
    ['10/8', '10.1.2.3', true],
    ['172.16/12', '172.31.255.255', true],
    ['192.168/16', '192.168.0.9', true],
    ['mapped 10/8', '::ffff:10.0.0.1', true],
    ['fc00::/7', 'fd12::1', true],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['beyond 172.16/12', '172.32.0.1', false],
    ['a public peer', '203.0.113.9', false],
    ['a public IPv6 peer', '2001:db8::1', false],
    ['carrier NAT', '100.64.0.1', false],
    ['link-local IPv4', '169.254.1.1', false],
  ]

  /** The address that a failed login is noted with. */
  async function seenAs(peer: string | undefined, realIp: string | undefined): Promise<string> {
    const headers: Record<string, string> = realIp === undefined ? {} : { 'x-real-ip': realIp }
    const answer = await w.call('/admin/api/login', { body: wrong, peer, headers })
    expect(answer.status).toBe(401)
    return w.rows('select ip from audit_log order by id desc')[0].ip
  }

  test.each(PEERS)('x-real-ip from %s (%s): trusted %s', async (_name, peer, trusted) => {
    w = await createWorld()
    expect(await seenAs(peer, '198.51.100.7')).toBe(trusted ? '198.51.100.7' : peer)
    expect(await seenAs(peer, undefined)).toBe(peer || 'unknown')
  })

  test.each([
    ['203.0.113.9', true],
    ['2001:db8:9::5', true],
    [LOCAL, true],
    ['::1', true],
    [undefined, true],
    ['203.0.114.9', false],
    ['10.1.2.3', false],
    ['192.168.0.9', false],
    ['fd12::1', false],
  ])('with TRUSTED_PROXIES set, from %s: trusted %s', async (peer, trusted) => {
    w = await createWorld({ environment: { TRUSTED_PROXIES: '203.0.113.0/24, 2001:db8:9::/48' } })
    expect(await seenAs(peer, '198.51.100.7')).toBe(trusted ? '198.51.100.7' : peer)
  })

  test.each([
    ['a b', LOCAL],
    ['some-name', LOCAL],
    ['"><img/src=x>', LOCAL],
    ['fe80::1%eth0', LOCAL],
    ['fe80::1%"><img/src=x>', LOCAL],
    ['1.2.3', LOCAL],
    ['1.2.3.4:5', LOCAL],
    ['[2001:db8::7]', LOCAL],
    ['2001:db8::7', '2001:db8::7'],
    ['', LOCAL],
    ['   ', LOCAL],
    ['é', LOCAL],
    ['1.2.3.4, 5.6.7.8', LOCAL],
    [' 2001:db8::7 ', '2001:db8::7'],
  ])('x-real-ip %j counts as %s', async (realIp, seen) => {
    w = await createWorld()
    expect(await seenAs(LOCAL, realIp)).toBe(seen)
  })

  test('x-forwarded-for and forwarded count for nothing', async () => {
    w = await createWorld()
    const headers = { 'x-forwarded-for': '198.51.100.7', forwarded: 'for=198.51.100.7' }
    await w.call('/admin/api/login', { body: wrong, peer: LOCAL, headers })
    expect(w.rows('select ip from audit_log')[0].ip).toBe(LOCAL)
  })

  test.each([
    [LOCAL, LOCAL],
    ['::1', '::1'],
    ['10.1.2.3', '10.1.2.3'],
    [undefined, 'unknown'],
    ['', 'unknown'],
  ])('with TRUSTED_PROXIES=none nobody is believed: from %s', async (peer, seen) => {
    w = await createWorld({ environment: { TRUSTED_PROXIES: 'none' } })
    expect(await seenAs(peer, '198.51.100.7')).toBe(seen)
    expect(warnings()).toEqual([])
  })

  const warnings = () => w.log.filter((line) => line.includes('TRUSTED_PROXIES'))

  test('a private proxy is warned about once, naming the setting', async () => {
    w = await createWorld()
    await seenAs(LOCAL, '198.51.100.7')
    await seenAs('10.0.0.1', undefined)
    expect(warnings()).toEqual([])
    await seenAs('10.0.0.1', '198.51.100.7')
    await seenAs('10.0.0.2', '198.51.100.7')
    expect(warnings()).toHaveLength(1)
    expect(warnings()[0]).toMatch(/ warn /)
  })
})
