import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '#src/integrations/outbound.ts'
import { createCryptobotGateway } from '#src/integrations/payments/cryptobot/gateway.ts'
import { isSignedByCryptobot } from '#src/integrations/payments/cryptobot/notices.ts'
import { utf8 } from '#src/lib/encoding.ts'
import recorded from '#test/fixtures/payments/cryptobot.json' with { type: 'json' }
import { startFakeCryptobot } from '#test/support/fakes/cryptobot.ts'
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { order, PAYMENT_ID } from '#test/support/orders.ts'

const TOKEN = '12345:AAtoken-of-the-app'
const shop = { shopId: '', secret: TOKEN }
const NOW = new Date('2026-03-01T12:00:00Z')

const fake = await startFakeCryptobot([TOKEN, '777:other'])
let verbatim: { status: number; json?: unknown } = { status: 200 }
const tape = await startFakeSystem(() => verbatim)
beforeEach(() => {
  fake.reset()
  fake.now = () => NOW
})
afterAll(() => Promise.all([fake.close(), tape.close()]))

const outbound = createOutbound({ denyPrivate: false })
const gateway = createCryptobotGateway({ apiUrl: fake.url, outbound })
const taped = createCryptobotGateway({ apiUrl: tape.url, outbound })

async function created(changes = {}) {
  const made = await gateway.create(order(changes), shop)
  if (made.outcome !== 'created') throw new Error(JSON.stringify(made))
  return made
}
const check = (externalId: string, id = PAYMENT_ID) => gateway.check({ id, externalId }, shop)

describe('a creation', () => {
  test('asks for an invoice in the currency of the shop, good for an hour', async () => {
    const made = await created()
    expect(fake.asked[0]).toMatchObject({
      method: 'POST',
      path: '/api/createInvoice',
      headers: { 'crypto-pay-api-token': TOKEN },
    })
    expect(JSON.parse(fake.asked[0]?.body ?? '')).toEqual({
      currency_type: 'fiat',
      fiat: 'RUB',
      amount: '199.00',
      description: 'Subpanel: 30 days',
      payload: PAYMENT_ID,
      expires_in: 3600,
      allow_comments: false,
      paid_btn_name: 'callback',
      paid_btn_url: 'https://site.test/pay/done',
    })
    expect(made).toEqual({
      outcome: 'created',
      externalId: '828733',
      payUrl: 'https://t.me/CryptoTestnetBot?start=IV828733',
      expiresAt: new Date(NOW.getTime() + 3_600_000),
    })
  })

  test('sends no way back that the gateway would refuse', async () => {
    await created({ returnUrl: 'http://site.localhost:3000/pay/done' })
    expect(JSON.parse(fake.asked[0]?.body ?? '')).not.toHaveProperty('paid_btn_url')
  })

  test('with a currency that the gateway does not take is refused in its words', async () => {
    expect(await gateway.create(order({ currency: 'XAU' }), shop)).toEqual({
      outcome: 'refused',
      reason: 'FIAT_INVALID',
    })
  })

  test('with another token is refused', async () => {
    expect(await gateway.create(order(), { ...shop, secret: '1:wrong' })).toEqual({
      outcome: 'refused',
      reason: 'the gateway does not accept the credentials',
    })
  })

  test.each([
    [
      { status: 403, json: { ok: false, error: { code: 403, name: 'METHOD_DISABLED' } } },
      'METHOD_DISABLED',
    ],
    [{ status: 400, json: { ok: false } }, 'answered 400'],
    [{ status: 400, json: { ok: false, error: { name: ['x'] } } }, 'answered 400'],
  ])('answered %j is refused', async (refusal, reason) => {
    fake.refusal = refusal
    expect(await gateway.create(order(), shop)).toEqual({ outcome: 'refused', reason })
  })

  test.each([
    [{ status: 500, json: { ok: false } }],
    [{ status: 403, json: { message: 'blocked by the proxy' } }],
    [{ status: 200, json: { ok: false } }],
    [{ status: 200, json: { ok: true, result: {} } }],
    [{ status: 200, json: { ok: true, result: { ...recorded.active, status: 'new' } } }],
  ])('answered %j is unknown', async (refusal) => {
    fake.refusal = refusal
    expect(await gateway.create(order(), shop)).toMatchObject({ outcome: 'unknown' })
  })

  test('answered 429 is unknown, and to be left alone for a minute', async () => {
    fake.refusal = { status: 429, json: { ok: false } }
    expect(await gateway.create(order(), shop)).toMatchObject({ retryAfterMs: 60_000 })
  })
})

describe('a check', () => {
  test('of an invoice through its life', async () => {
    const { externalId } = await created()
    expect(await check(externalId)).toEqual({ state: 'pending' })
    expect(JSON.parse(fake.asked.at(-1)?.body ?? '')).toEqual({ invoice_ids: externalId })
    fake.pay(externalId)
    expect(await check(externalId)).toEqual({ state: 'paid', amount: '199.00', currency: 'RUB' })
    fake.expire(externalId)
    expect(await check(externalId)).toEqual({ state: 'failed', reason: 'expired' })
  })

  test('of another payment’s invoice is unknown', async () => {
    const { externalId } = await created()
    fake.pay(externalId)
    expect(await check(externalId, 'another')).toMatchObject({ state: 'unknown' })
    expect(await check('828734')).toMatchObject({ state: 'unknown' })
    expect(
      await gateway.check({ id: PAYMENT_ID, externalId }, { ...shop, secret: '777:other' }),
    ).toMatchObject({ state: 'unknown' })
  })

  test('of no id asks nobody', async () => {
    expect(await check('')).toMatchObject({ reason: 'the gateway has no id for this payment' })
    expect(fake.asked).toEqual([])
  })
})

describe('recorded answers', () => {
  const ask = (result: unknown) => {
    verbatim = { status: 200, json: { ok: true, result } }
    return taped.check({ id: PAYMENT_ID, externalId: String(recorded.paid.invoice_id) }, shop)
  }

  test('are read, in a list of either kind', async () => {
    const paid = { state: 'paid', amount: '199.00', currency: 'RUB' }
    expect(await ask({ items: [recorded.active] })).toEqual({ state: 'pending' })
    expect(await ask({ items: ['garbage', recorded.paid] })).toEqual(paid)
    expect(await ask([recorded.paid])).toEqual(paid)
    verbatim = { status: 200, json: { ok: true, result: recorded.active } }
    expect(await taped.create(order(), shop)).toMatchObject({
      externalId: '828733',
      payUrl: recorded.active.bot_invoice_url,
      expiresAt: new Date(recorded.active.expiration_date),
    })
    const endless = { ...recorded.active, expiration_date: '+275760-09-13T00:00:00Z' }
    verbatim = { status: 200, json: { ok: true, result: endless } }
    expect(await taped.create(order(), shop)).toMatchObject({ expiresAt: null })
    verbatim = { status: 400, json: recorded.error }
    expect(await taped.create(order(), shop)).toMatchObject({ reason: 'EXPIRES_IN_INVALID' })
  })

  test('of an invoice in coins name the coin, which is another currency', async () => {
    const { fiat: _, ...invoice } = recorded.paid
    expect(await ask([{ ...invoice, currency_type: 'crypto', asset: 'USDT' }])).toMatchObject({
      currency: 'USDT',
    })
  })
})

test('an update proves who sends it', async () => {
  const { externalId } = await created()
  fake.pay(externalId)
  const { headers, body } = fake.update(externalId)
  const signature = headers['crypto-pay-api-signature'] ?? null
  expect(isSignedByCryptobot(TOKEN, utf8(body), signature)).toBe(true)
  expect(isSignedByCryptobot('777:other', utf8(body), signature)).toBe(false)
  const received = await startFakeSystem(() => ({ status: 401 }))
  expect(await fake.notify(received.url, externalId)).toBe(401)
  expect(received.asked[0]?.headers['crypto-pay-api-signature']).toBe(signature)
  await received.close()
})
