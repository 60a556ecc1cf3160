/** Guests: who buys on the site without a link or a bot. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectTelegram } from '#src/domain/customers/linking.ts'
import { cleanUp } from '#src/domain/installation/cleanup.ts'
import { randomUuid } from '#src/lib/random.ts'
import { DAY_MS, formatTimestamp, HOUR_MS } from '#src/lib/time.ts'
import { decode, drawn } from '#test/support/qr-decoder.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { testOnSqlite } from '#test/support/worlds/engines.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop({ environment: { GUEST_SALES: 'true' } })
})
afterEach(() => closeShop(shop))

const come = async (body?: unknown, ip = '203.0.113.7') => {
  const headers = { 'x-real-ip': ip }
  const answer = await shop.w.call('/api/guest', { method: 'POST', headers, body })
  expectDecent('/api/guest', answer)
  return answer
}

const buy = (token: string) =>
  shop.w.call(`/api/cabinet/${token}/payments`, {
    body: { node: 'de1', plan: '1m', provider: 'provider_a' },
  })

const guests = () => shop.w.rows('select * from users where tg_id < 0 order by tg_id desc')

describe('POST /api/guest', () => {
  test('200 with the token of a customer of whom nothing is known', async () => {
    const answer = await come({ lang: 'ru' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    expect(answer.json).toEqual({ token: expect.stringMatching(/^[\w-]{43}$/) })
    expect(guests()).toMatchObject([
      { tg_id: -1, telegram_id: null, token: answer.json.token, lang: 'ru', username: null },
    ])
    const page = await shop.w.call(`/api/cabinet/${answer.json.token}/shop`)
    expect(page.json).toMatchObject({ guest: true, connect_telegram: true, subscriptions: [] })
  })

  test('200 without a body too', async () => {
    expect((await come()).status).toBe(200)
    expect(guests()).toMatchObject([{ lang: null }])
  })

  test.each([['xx'], [5], [null]])('400 for the language %j', async (lang) => {
    expect((await come({ lang })).status).toBe(400)
    expect(guests()).toEqual([])
  })

  test('404 where none are sold to, and nobody is made', async () => {
    putSettings(shop.w, { GUEST_SALES: 'false' })
    expect((await come()).status).toBe(404)
    expect(guests()).toEqual([])
  })

  test.each<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.test' },
  ])(
    '403 where %j says that another site makes a browser send it, and the limit of the address stays',
    async (sent) => {
      for (let i = 0; i < 6; i++) {
        const headers = { 'x-real-ip': '203.0.113.7', ...sent }
        const answer = await shop.w.call('/api/guest', { method: 'POST', headers })
        expect(answer.status).toBe(403)
        expect(answer.json).toEqual({ error: 'cross-site request' })
      }
      expect(guests()).toEqual([])
      expect((await come()).status).toBe(200)
    },
  )

  test('and their address is not kept', async () => {
    await come()
    const [{ ip }] = shop.w.rows("select ip from login_attempts where kind = 'guest'")
    expect(ip).toMatch(/^guest [0-9a-f]{6}$/)
  })

  test('429 for the sixth of an address within an hour, however many come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => come()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(guests()).toHaveLength(5)
    const refused = await come()
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3500)
    expect((await come(undefined, '203.0.113.8')).status).toBe(200)
    shop.w.clock.advance(HOUR_MS)
    expect((await come()).status).toBe(200)
  })

  test('a /64 of IPv6 is one address', async () => {
    for (let i = 1; i <= 5; i++) expect((await come(undefined, `2001:db8::${i}`)).status).toBe(200)
    expect((await come(undefined, '2001:db8::6')).status).toBe(429)
    expect((await come(undefined, '2001:db8:0:1::6')).status).toBe(200)
  })
})

describe('a guest buys', () => {
  const order = async () => {
    const { token } = (await come()).json
    const { id } = (await buy(token)).json
    const key = new URL(shop.a.calls.at(-1)?.order?.returnUrl ?? '').hash.slice(1)
    return { token, id, key, externalId: shop.payment(id).external_id }
  }
  const state = async (key: unknown) => {
    const answer = await shop.w.call('/api/pay/status', { body: { key } })
    expectDecent('/api/pay/status', answer)
    return answer
  }

  test('and has their link by the key of the way back, once it is paid and for a day', async () => {
    const { token, id, key, externalId } = await order()
    expect(key).toMatch(new RegExp(`^${id}\\.[\\w-]{22}$`))
    const before = await state(key)
    expect(before.json).toEqual({ status: 'pending' })
    expect(before.headers.get('cache-control')).toBe('private, no-store')
    shop.a.pay(externalId)
    await shop.noticeA(id)
    await shop.w.s.background.idle()
    const paid = await state(key)
    expect(paid.json).toEqual({
      status: 'paid',
      sub_link: `https://sub.test/sub/${token}`,
      qr: { size: expect.any(Number), path: expect.any(String) },
      connect_telegram: true,
    })
    const { size, path } = paid.json.qr
    expect(decode(drawn(size, path))).toBe(paid.json.sub_link)
    expect(shop.sold()).toMatchObject([{ tg_id: -1, node: 'de1', plan: '1m' }])
    shop.w.clock.advance(DAY_MS)
    expect((await state(key)).json).toEqual({ status: 'paid' })
  })

  const paid = async () => {
    const bought = await order()
    shop.a.pay(bought.externalId)
    await shop.noticeA(bought.id)
    await shop.w.s.background.idle()
    return bought
  }

  test('and a new link is not told by a key of the one before it', async () => {
    const { key } = await paid()
    expect((await state(key)).status).toBe(200)
    const rotated = await shop.w.admin('/admin/api/users/-1/rotate-token', { method: 'POST' })
    expect(rotated.status).toBe(200)
    expect((await state(key)).status).toBe(404)
  })

  test('and who becomes one with a customer on Telegram tells nobody the link of those', async () => {
    const { token, id, key } = await paid()
    const { url } = (await shop.w.call(`/api/cabinet/${token}/link`, { method: 'POST' })).json
    const code = new URL(url).searchParams.get('start')?.slice('link_'.length) ?? ''
    const contact = { tgId: 1, username: 'buyer', lang: 'en' } as const
    const user = await connectTelegram(shop.w.s, { admin: null, ip: 'bot' }, code, contact)
    expect(user).toMatchObject({ tgId: 1, token: shop.token, guestAt: null })
    expect((await state(key)).json).toEqual({
      status: 'paid',
      sub_link: `https://sub.test/sub/${token}`,
      qr: expect.any(Object),
    })
    expect(shop.sold()).toMatchObject([{ tg_id: 1 }])
    expect(shop.payment(id)).toMatchObject({ tg_id: 1 })
  })

  test('and 404 for a key that is none', async () => {
    const { id, key } = await order()
    const forged = `${id}.${'A'.repeat(22)}`
    for (const wrong of [
      id,
      `${id}.`,
      forged,
      `${key}A`,
      key.slice(0, -1),
      '.',
      '',
      '__proto__.x',
    ]) {
      expect((await state(wrong)).status).toBe(404)
    }
    expect((await state(5)).status).toBe(400)
    expect((await state('x'.repeat(200))).status).toBe(400)
  })

  test('while other ways of buying lead back as before', async () => {
    putSettings(shop.w, { GUEST_SALES: 'false' })
    await shop.buy()
    expect(shop.a.calls.at(-1)?.order).toMatchObject({ returnUrl: 'https://site.test/pay/done' })
  })
})

describe('a guest is forgotten', () => {
  const isThere = async (token: string) =>
    (await shop.w.call(`/api/cabinet/${token}/shop`)).status === 200

  test('a week after they came, when they have bought nothing', async () => {
    const { token } = (await come()).json
    shop.w.clock.advance(7 * DAY_MS - 60_000)
    await cleanUp(shop.w.s)
    expect(await isThere(token)).toBe(true)
    shop.w.clock.advance(60_000)
    await cleanUp(shop.w.s)
    expect(await isThere(token)).toBe(false)
    expect(await isThere(shop.token)).toBe(true)
  })

  test('not while they may be paying, nor within a week of their last order', async () => {
    const { token } = (await come()).json
    const { id } = (await buy(token)).json
    shop.w.clock.advance(30 * DAY_MS)
    await cleanUp(shop.w.s)
    expect(await isThere(token)).toBe(true)
    shop.w.change("update payments set status = 'failed', review_reason = 'late' where id = ?", id)
    await cleanUp(shop.w.s)
    expect(await isThere(token)).toBe(true)
    shop.w.change('update payments set review_reason = null where id = ?', id)
    await cleanUp(shop.w.s)
    expect(await isThere(token)).toBe(false)
    expect(shop.payment(id)).toMatchObject({ deleted_user: 1 })
  })

  test('never once they have a subscription, ended ones too, or are known by Telegram or an admin', async () => {
    const tokens: string[] = []
    for (let i = 0; i < 3; i++) tokens.push((await come()).json.token)
    const grant = await shop.w.admin('/admin/api/users/-1/grant', {
      body: { node: 'de1', plan: '1m' },
    })
    expect(grant.status).toBe(200)
    await shop.w.admin(`/admin/api/subscriptions/${grant.json.uuid}/revoke`, { method: 'POST' })
    shop.w.change('update users set telegram_id = 777 where tg_id = -2')
    await shop.w.admin('/admin/api/users/-3', {
      method: 'PATCH',
      body: { note: 'the one with the hat' },
    })
    shop.w.clock.advance(60 * DAY_MS)
    await cleanUp(shop.w.s)
    for (const token of tokens) expect(await isThere(token)).toBe(true)
    // Nobody of them is looked at again.
    expect(shop.w.rows('select guest_at from users where guest_at is not null')).toEqual([])
  })
})

test('hundreds of guests are forgotten, and as many buyers are not looked at again', async () => {
  const at = formatTimestamp(new Date(shop.w.clock.now().getTime() - 8 * DAY_MS))
  const numbers = Array.from({ length: 500 }, (_, i) => -1 - i)
  shop.w.change("insert into sequences (name, last) values ('customers', 500)")
  shop.w.changeMany(
    'insert into users (tg_id, token, created_at, guest_at) values (?, ?, ?, ?)',
    numbers.map((tgId) => [tgId, `token-of-guest-${tgId}`.padEnd(43, 'x'), at, at]),
  )
  shop.w.changeMany(
    `insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at)
     values (?, ?, 'de1', '1m', '2030-01-01T00:00:00', 'payment', ?)`,
    numbers.slice(0, 250).map((tgId) => [randomUuid(), tgId, at]),
  )
  await cleanUp(shop.w.s)
  expect(guests()).toHaveLength(250)
  expect(shop.w.rows('select 1 from users where guest_at is not null')).toEqual([])
})

testOnSqlite('the guests to forget are found by the index on when they came', () => {
  const [plan] = shop.w.rows("explain query plan select * from users where guest_at <= '2026'")
  expect(plan.detail).toContain('users_guests')
})

describe('by default', () => {
  let plain: Shop
  beforeEach(async () => {
    plain = await createShop()
  })
  afterEach(() => closeShop(plain))

  test.each(['/api/guest', '/api/pay/status'])('%s is no route of ours', async (path) => {
    const bodies = [{ body: {} }, { body: { key: 5 } }, { raw: 'no JSON' }, {}]
    const headers = { 'sec-fetch-site': 'cross-site' }
    for (const options of bodies) {
      const ask = { method: 'POST', headers, ...options } as const
      const answer = await plain.w.call(path, ask)
      const unknown = await plain.w.call('/api/unknown', ask)
      expect(answer.status).toBe(404)
      expect(answer.text).toBe(unknown.text)
      expect([...answer.headers]).toEqual([...unknown.headers])
    }
    expect(plain.w.rows('select * from users where tg_id < 0')).toEqual([])
  })

  test.each(['/', '/cabinet.html', '/pay/done'])('%s says nothing of guests', async (path) => {
    const page = async () => {
      const { status, text, headers } = await plain.w.call(path, { host: 'site.test' })
      expect(status).toBe(200)
      return [text, headers.get('content-security-policy'), headers.get('cache-control')]
    }
    const before = await page()
    expect(before[0]).not.toMatch(/guest|#buy|paid-|assets\/paid/)
    putSettings(plain.w, { GUEST_SALES: 'true' })
    expect(await page()).not.toEqual(before)
    putSettings(plain.w, { GUEST_SALES: 'false' })
    expect(await page()).toEqual(before)
  })

  test('nor does the shop of a customer without Telegram, whom an admin has made', async () => {
    const made = await plain.w.admin('/admin/api/users', { body: { name: 'Anna' } })
    const answer = await plain.w.call(`/api/cabinet/${made.json.token}/shop`)
    expect(answer.json).not.toHaveProperty('guest')
  })
})
