import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createStars } from '#src/integrations/payments/stars/gateway.ts'
import recorded from '#test/fixtures/payments/stars.json' with { type: 'json' }
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { order, PAYMENT_ID } from '#test/support/orders.ts'

const TOKEN = '4242:AAE-token-of-the-bot'
const OTHER = '4343:AAE-token-of-another'
const shop = { shopId: '', secret: TOKEN }

const fake = await startFakeTelegram({ [TOKEN]: 'shop_bot', [OTHER]: 'other_bot' })
let verbatim: { status: number; json?: unknown } = { status: 200 }
const tape = await startFakeSystem(() => verbatim)
let gateway = createStars({ apiUrl: fake.url })
beforeEach(() => {
  fake.reset()
  gateway = createStars({ apiUrl: fake.url })
})
afterAll(() => Promise.all([fake.close(), tape.close()]))

async function created(changes = {}) {
  const made = await gateway.create(order({ amount: 150, currency: 'XTR', ...changes }), shop)
  if (made.outcome !== 'created') throw new Error(JSON.stringify(made))
  return made
}
const check = (id = PAYMENT_ID, externalId = id) => gateway.check({ id, externalId }, shop)
const reads = () => fake.asked.filter(({ path }) => path.endsWith('getStarTransactions'))
const paid = { state: 'paid', amount: '150.00', currency: 'XTR', refunded: false }

describe('a creation', () => {
  test('gives an invoice link in Stars', async () => {
    const made = await created()
    expect(fake.asked[0]?.path).toBe(`/bot${TOKEN}/createInvoiceLink`)
    expect(JSON.parse(fake.asked[0]?.body ?? '')).toEqual({
      title: 'Subpanel: 30 days',
      description: 'Subpanel: 30 days',
      payload: PAYMENT_ID,
      provider_token: '',
      currency: 'XTR',
      prices: [{ label: 'Subpanel: 30 days', amount: 150 }],
    })
    expect(made).toEqual({
      outcome: 'created',
      externalId: PAYMENT_ID,
      payUrl: 'https://t.me/$invoice1',
      expiresAt: null,
    })
  })

  test('cuts what Telegram would refuse', async () => {
    await created({ description: `${'я'.repeat(31)}😀${'x'.repeat(300)}` })
    const { title, description } = JSON.parse(fake.asked[0]?.body ?? '')
    expect([title, description.length]).toEqual(['я'.repeat(31), 255])
  })

  test.each([
    ['4242:AAE-wrong', 'the gateway does not accept the credentials'],
    ['no token', 'the gateway does not accept the credentials'],
  ])('with the token %j is refused', async (secret, reason) => {
    expect(await gateway.create(order(), { ...shop, secret })).toEqual({
      outcome: 'refused',
      reason,
    })
  })

  test('that Telegram refuses is refused in its words', async () => {
    expect(await gateway.create(order({ amount: 0 }), shop)).toEqual({
      outcome: 'refused',
      reason: 'Bad Request: STARS_INVOICE_INVALID',
    })
  })

  test('in a flood is unknown for as long as Telegram says', async () => {
    fake.flooded = true
    expect(await gateway.create(order(), shop)).toEqual({
      outcome: 'unknown',
      reason: 'too many requests',
      retryAfterMs: 5000,
    })
  })
})

describe('a check', () => {
  test('is pending until the charge stands among the transactions', async () => {
    const { payUrl } = await created()
    expect(await check()).toEqual({ state: 'pending' })
    const { telegram_payment_charge_id: charge } = fake.stars.pay(payUrl, 1001)
    expect(await check()).toEqual(paid)
    expect(await check('not-ours', charge)).toEqual(paid)
    expect(await check('not-ours')).toEqual({ state: 'pending' })
  })

  test('sees Stars that were given back, before it and after', async () => {
    const { payUrl } = await created()
    const { telegram_payment_charge_id: charge } = fake.stars.pay(payUrl, 1001)
    expect(await check()).toEqual(paid)
    fake.stars.refund(TOKEN, charge)
    expect(await check()).toEqual({ ...paid, refunded: true })
    gateway = createStars({ apiUrl: fake.url })
    expect(await check()).toEqual({ ...paid, refunded: true })
  })

  test('reads on from where it was, a page of a hundred at a time', async () => {
    for (let i = 0; i < 250; i++) {
      fake.stars.pay((await created({ paymentId: `pay-${i}` })).payUrl, 1001)
    }
    expect(await check('pay-249')).toEqual(paid)
    expect(reads().map(({ body }) => JSON.parse(body))).toEqual([
      { offset: 0, limit: 100 },
      { offset: 99, limit: 100 },
      { offset: 198, limit: 100 },
    ])
    fake.stars.pay((await created({ paymentId: 'pay-250' })).payUrl, 1001)
    expect(await check('pay-250')).toEqual(paid)
    expect(await check('pay-0')).toEqual(paid)
    expect(reads()).toHaveLength(5)
  })

  test('keeps what it has read when Telegram fails meanwhile', async () => {
    const { payUrl } = await created()
    fake.stars.pay(payUrl, 1001)
    expect(await check()).toEqual(paid)
    fake.flooded = true
    expect(await check()).toEqual(paid)
    expect(await check('other')).toEqual({
      state: 'unknown',
      reason: 'too many requests',
      retryAfterMs: 5000,
    })
  })

  test('shares one reading with those that ask meanwhile', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, i) => check(`pay-${i}`)))
    expect(reads()).toHaveLength(1)
    await check()
    expect(reads()).toHaveLength(2)
  })

  test('reads anew when the transactions are others than before', async () => {
    fake.stars.pay((await created({ paymentId: 'before' })).payUrl, 1001)
    expect(await check('before')).toEqual(paid)
    fake.stars.reset()
    fake.stars.pay((await created()).payUrl, 1001, 1_772_000_000)
    expect(await check()).toMatchObject({ state: 'unknown' })
    expect(await check()).toEqual(paid)
    expect(await check('before')).toEqual({ state: 'pending' })
  })

  test('of one bot knows nothing of another', async () => {
    fake.stars.pay((await created()).payUrl, 1001)
    const payment = { id: PAYMENT_ID, externalId: PAYMENT_ID }
    expect(await gateway.check(payment, { ...shop, secret: OTHER })).toEqual({ state: 'pending' })
    expect(await gateway.check(payment, { ...shop, secret: '1:wrong' })).toEqual({
      state: 'unknown',
      reason: 'the gateway does not accept the credentials',
      retryAfterMs: null,
    })
  })

  test('of two charges for one payment tells of the first', async () => {
    const { payUrl } = await created()
    fake.stars.pay(payUrl, 1001)
    const { telegram_payment_charge_id: second } = fake.stars.pay(payUrl, 1002)
    fake.stars.refund(TOKEN, second)
    expect(await check()).toEqual(paid)
  })

  test('ends in time when the same page comes for ever', async () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ id: `t${i}`, amount: 1, date: i }))
    verbatim = { status: 200, json: { ok: true, result: { transactions: many } } }
    const taped = createStars({ apiUrl: tape.url, timeoutMs: 2000 })
    tape.asked.length = 0
    const payment = { id: PAYMENT_ID, externalId: '' }
    expect(await taped.check(payment, shop)).toMatchObject({ state: 'unknown' })
    expect(tape.asked).toHaveLength(2)
  })
})

describe('recorded answers', () => {
  const taped = () => createStars({ apiUrl: tape.url })

  test('are read', async () => {
    verbatim = { status: 200, json: recorded.link }
    expect(await taped().create(order(), shop)).toMatchObject({ payUrl: recorded.link.result })
    verbatim = { status: 200, json: recorded.transactions }
    const payment = { id: PAYMENT_ID, externalId: PAYMENT_ID }
    expect(await taped().check(payment, shop)).toEqual({ ...paid, refunded: true })
    verbatim = { status: 401, json: recorded.errors.unauthorized }
    expect(await taped().create(order(), shop)).toMatchObject({ outcome: 'refused' })
    verbatim = { status: 429, json: recorded.errors.tooMany }
    expect(await taped().check(payment, shop)).toMatchObject({ retryAfterMs: 5000 })
  })

  test.each([
    [{ ok: true, result: 'javascript:alert(1)' }],
    [{ ok: true, result: 5 }],
    [{ ok: true }],
    [{ ok: false }],
    [{}],
  ])('with no link are unknown: %j', async (json) => {
    verbatim = { status: 200, json }
    expect(await taped().create(order(), shop)).toMatchObject({ outcome: 'unknown' })
  })

  test('of a proxy are no refusal', async () => {
    verbatim = { status: 403, json: { error: 'blocked' } }
    expect(await taped().create(order(), shop)).toMatchObject({ outcome: 'unknown' })
  })
})
