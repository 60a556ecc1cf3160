/** To be a guest costs nothing: what all of them together may take up, and that whoever has bought or is on Telegram goes before them. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cleanUp } from '#src/domain/installation/cleanup.ts'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { DAY_MS, formatTimestamp, HOUR_MS, MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import { addPayment, addSubscription, nowOf } from '#test/support/rows/records.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop({ environment: { GUEST_SALES: 'true' } })
})
afterEach(() => closeShop(shop))

const come = (ip: string) =>
  shop.w.call('/api/guest', { method: 'POST', headers: { 'x-real-ip': ip } })
const order = (token: string, plan = '1m', ip = '203.0.113.7') =>
  shop.w.call(`/api/cabinet/${token}/payments`, {
    body: { node: 'de1', plan, provider: 'provider_a' },
    headers: { 'x-real-ip': ip },
  })
const checks = () => shop.a.calls.filter(({ method }) => method === 'check').map(({ id }) => id)
const tokenOf = (tgId: number) => `token-of-guest-${tgId}-`.padEnd(43, 'x')

/** Guests as they have come by many networks, with the numbers from -1 on. */
function addGuests(count: number, at = nowOf(shop.w)): number[] {
  const numbers = Array.from({ length: count }, (_, i) => -1 - i)
  shop.w.change("insert into sequences (name, last) values ('customers', ?)", count)
  shop.w.changeMany(
    'insert into users (tg_id, token, created_at, guest_at) values (?, ?, ?, ?)',
    numbers.map((tgId) => [tgId, tokenOf(tgId), at, at]),
  )
  return numbers
}

/** Their pending payments, so many of each, due since `secondsAgo`. */
function addOrders(numbers: number[], each: number, secondsAgo = 100): string[] {
  const due = formatTimestamp(new Date(shop.w.clock.now().getTime() - secondsAgo * SECOND_MS))
  const ids = numbers.flatMap((tgId) => Array.from({ length: each }, (_, i) => `g${-tgId}-${i}`))
  shop.w.changeMany(
    `insert into payments (id, external_id, tg_id, node, plan, provider, amount, currency, days, created_at, next_check_at, source, shop_id)
     values (?, ?, ?, 'de1', '1m', 'provider_a', 199, 'RUB', 30, ?, ?, 'site', '100500')`,
    ids.map((id) => [id, `x-${id}`, -Number(/\d+/.exec(id)), nowOf(shop.w), due]),
  )
  return ids
}

describe('guests who come', () => {
  const refused = {
    error:
      'too many people are buying without an account, log in with Telegram or come back in a few minutes',
  }

  test.each([
    ['a /48 of IPv6', (i: number) => `2001:db8:77:${i.toString(16)}::1`, '2001:db8:78::1'],
    ['a /24 of IPv4', (i: number) => `198.51.100.${i}`, '198.51.101.1'],
  ])('are 20 an hour of %s', async (_name, ip, other) => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => come(ip(i))))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    const answer = await come(ip(40))
    expect([answer.status, answer.json]).toEqual([429, refused])
    expect(answer.headers.get('x-error-code')).toBe('too-many-guests')
    expect((await come(other)).status).toBe(200)
    shop.w.clock.advance(HOUR_MS)
    expect((await come(ip(40))).status).toBe(200)
  })

  test('are 50 in ten minutes of all networks, and nobody else waits for them', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => come(`2001:db8:${i.toString(16)}::1`)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
    expect((await come('192.0.2.1')).status).toBe(429)
    await shop.buy()
    shop.w.clock.advance(10 * MINUTE_MS)
    expect((await come('192.0.2.1')).status).toBe(200)
  })

  test('and their networks are not kept', async () => {
    await come('203.0.113.7')
    const keys = shop.w.rows("select ip from login_attempts where kind = 'guest'")
    expect(keys.map(({ ip }) => ip).sort()).toEqual([
      expect.stringMatching(/^guest [0-9a-f]{6}$/),
      'guests',
      expect.stringMatching(/^guests near [0-9a-f]{4}$/),
    ])
  })
})

describe('orders of guests', () => {
  test('are 60 an hour of a network and 100 in ten minutes of all; others order beside them', async () => {
    addGuests(130)
    const status = async (i: number) =>
      (await order(tokenOf(-i), '1m', i < 71 ? '203.0.113.7' : `192.0.${i}.1`)).status
    const all: number[] = []
    for (let i = 1; i <= 130; i++) {
      all.push(await status(i))
      // As often as the gateway may be asked.
      shop.w.clock.advance(SECOND_MS)
    }
    expect(all.slice(0, 60).every((each) => each === 200)).toBe(true)
    expect(all.slice(60, 70).every((each) => each === 429)).toBe(true)
    expect(all.filter((each) => each === 200)).toHaveLength(100)
    const refused = await order(tokenOf(-130))
    expect(refused.headers.get('x-error-code')).toBe('too-many-guests')
    await shop.buy()
    addSubscription(shop.w, -130)
    expect((await order(tokenOf(-130))).status).toBe(200)
    const link = { tg_id: -129, node: 'de1', plan: '1m', provider: 'provider_a' }
    expect((await shop.w.admin('/admin/api/payments', { body: link })).status).toBe(200)
  })

  test('are asked for ten times a second, sixty a minute, and others are not held up', async () => {
    addGuests(80)
    const created = () => shop.a.calls.filter(({ method }) => method === 'create').length
    for (let i = 1; i <= 12; i++) await order(tokenOf(-i), '1m', `192.0.${i}.1`)
    expect(created()).toBe(10)
    await shop.buy()
    expect(created()).toBe(11)
    for (let i = 13; i <= 80; i++) {
      shop.w.clock.advance(SECOND_MS / 2)
      await order(tokenOf(-i), '1m', `192.0.${i}.1`)
    }
    expect(created()).toBe(61)
  })
})

describe('notices of guests', () => {
  const notice = (id: string) => shop.noticeA(id)

  test('are asked about ten times a second and sixty times a minute for all, and real ones are heard', async () => {
    const ids = addOrders(addGuests(120), 1)
    const real = await shop.buy()
    shop.a.pay(real.externalId)
    for (let second = 0; second < 10; second++) {
      for (const id of ids.slice(0, 12)) await notice(id)
      for (const id of ids.slice(12 * second, 12 * second + 12)) await notice(id)
      shop.w.clock.advance(SECOND_MS)
    }
    expect(checks()).toHaveLength(60)
    await notice(real.id)
    expect(shop.payment(real.id).status).toBe('paid')
    expect(shop.payment('g120-0').next_check_at).not.toBeNull()
  })

  test('take half of the places at most, so that real ones find one', async () => {
    const ids = addOrders(addGuests(20), 1)
    const real = await shop.buy()
    shop.a.pay(real.externalId)
    const open = shop.a.hold()
    let answered = 0
    const flood = ids.slice(0, 10).map((id) => notice(id).then(() => answered++))
    // Two of them find no place.
    await vi.waitFor(() => expect([checks().length, answered]).toEqual([8, 2]))
    const heard = notice(real.id)
    await vi.waitFor(() => expect(checks()).toContain(real.externalId))
    open()
    await Promise.all([...flood, heard])
    expect(shop.payment(real.id).status).toBe('paid')
    expect(checks()).toHaveLength(9)
  })

  test('of one who has bought are those of a customer', async () => {
    addGuests(20)
    const ids = addOrders([-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11], 1)
    addSubscription(shop.w, -11)
    for (const id of ids) await notice(id)
    expect(checks()).toHaveLength(11)
  })
})

describe('the reconciler', () => {
  test('asks about others first, however many orders of guests are due, and about 100 of those in a run', async () => {
    const guests = addGuests(120)
    addOrders(guests, 30)
    addPayment(shop.w, {
      ...{ id: 'linked', external_id: 'x-linked', tg_id: -119, shop_id: '100500' },
      ...{ next_check_at: nowOf(shop.w), plan: '3m' },
    })
    shop.w.change('update users set telegram_id = 777 where tg_id = -119')
    addSubscription(shop.w, -120)
    const real = await shop.buy()
    shop.a.pay(real.externalId)
    shop.w.clock.advance(MINUTE_MS)
    await reconcilePayments(shop.w.s)
    expect(shop.payment(real.id).status).toBe('paid')
    const known = /^(yoo-|x-linked|x-g119-|x-g120-)/
    const asked = checks()
    // Twenty of each customer who is known and one of the buyer, three questions at a time.
    expect(asked.filter((id) => known.test(id))).toHaveLength(41)
    expect(asked.slice(0, 38).every((id) => known.test(id))).toBe(true)
    expect(asked).toHaveLength(41 + 100)
  })

  test('grants a guest what they have paid, when it is their turn', async () => {
    addGuests(30)
    const { id } = (await order(tokenOf(-1))).json
    shop.a.pay(shop.payment(id).external_id)
    shop.w.clock.advance(MINUTE_MS)
    addOrders([-2, -3], 10, 0)
    await reconcilePayments(shop.w.s)
    expect(shop.payment(id).status).toBe('paid')
  })
})

describe('a guest is forgotten with an order', () => {
  const isThere = (tgId: number) =>
    shop.w.rows('select 1 from users where tg_id = ?', tgId).length > 0

  test('that nobody asks about any more, a week after it; what is paid for it later is for an admin to review', async () => {
    addGuests(1)
    const { id } = (await order(tokenOf(-1))).json
    for (let day = 0; day < 7; day++) {
      await reconcilePayments(shop.w.s)
      await cleanUp(shop.w.s)
      expect(isThere(-1)).toBe(true)
      shop.w.clock.advance(DAY_MS)
    }
    await reconcilePayments(shop.w.s)
    await cleanUp(shop.w.s)
    expect(isThere(-1)).toBe(false)
    expect(shop.payment(id)).toMatchObject({ status: 'pending', deleted_user: 1 })
    shop.a.pay(shop.payment(id).external_id)
    await shop.noticeA(id)
    expect(shop.payment(id)).toMatchObject({
      status: 'pending',
      review_reason: 'paid, but its user was deleted',
    })
  })

  test('but never while its gateway gives no clear answer', async () => {
    addGuests(1)
    const { id } = (await order(tokenOf(-1))).json
    shop.a.answer = { state: 'unknown', reason: 'HTTP 401', retryAfterMs: null }
    for (let day = 0; day < 20; day++) {
      await reconcilePayments(shop.w.s)
      await cleanUp(shop.w.s)
      shop.w.clock.advance(DAY_MS)
    }
    expect(isThere(-1)).toBe(true)
    shop.a.answer = null
    shop.a.pay(shop.payment(id).external_id)
    await reconcilePayments(shop.w.s)
    expect(shop.payment(id).status).toBe('paid')
  })
})
