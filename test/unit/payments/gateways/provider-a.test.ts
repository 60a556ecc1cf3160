import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '#src/integrations/outbound.ts'
import { createProviderAGateway } from '#src/integrations/payments/provider-a/gateway.ts'
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { order, PAYMENT_ID } from '#test/support/orders.ts'

const SECRET = 'test_secret-of-the-shop'
const shop = { shopId: '100500', secret: SECRET }
const NOW = new Date('2026-03-01T12:00:00.500Z')

const fake = await startFakeYookassa({ '100500': SECRET, '100600': 'live_other' })
beforeEach(() => {
  fake.reset()
  fake.now = () => NOW
})
afterAll(() => fake.close())

const outbound = createOutbound({ denyPrivate: false })
const gateway = createProviderAGateway({ apiUrl: fake.url, outbound })
const lastBody = () => JSON.parse(fake.asked.at(-1)?.body ?? 'null')

async function created(changes = {}) {
  const made = await gateway.create(order(changes), shop)
  if (made.outcome !== 'created') throw new Error(JSON.stringify(made))
  return made
}
const check = (externalId: string, credentials = shop) =>
  gateway.check({ id: PAYMENT_ID, externalId }, credentials)

describe('a creation', () => {
  test('sends what the documents ask for, and gives id, link and its end', async () => {
    const made = await created()
    const [asked] = fake.asked
    expect(asked).toMatchObject({
      method: 'POST',
      path: '/v3/payments',
      headers: {
        'idempotence-key': PAYMENT_ID,
        'content-type': 'application/json',
        authorization: `Basic ${btoa(`100500:${SECRET}`)}`,
      },
    })
    expect(lastBody()).toEqual({
      amount: { value: '199.00', currency: 'RUB' },
      capture: true,
      confirmation: {
        type: 'redirect',
        return_url: 'https://site.test/pay/done',
        locale: 'ru_RU',
      },
      description: 'Subpanel: 30 days',
      metadata: { payment_id: PAYMENT_ID, tg_id: '1001' },
    })
    expect(made).toEqual({
      outcome: 'created',
      externalId: fake.paymentsOf(PAYMENT_ID)[0]?.id,
      payUrl: `https://yoomoney.ru/checkout/payments/v2/contract?orderId=${made.externalId}`,
      expiresAt: new Date(NOW.getTime() + 3_600_000),
    })
  })

  test('sends a receipt when it is given one', async () => {
    fake.receipts = true
    await created({ receipt: { email: 'shop@site.test', vatCode: 11 } })
    expect(lastBody().receipt).toEqual({
      customer: { email: 'shop@site.test' },
      items: [
        {
          description: 'Subpanel: 30 days',
          quantity: 1,
          amount: { value: '199.00', currency: 'RUB' },
          vat_code: 11,
          payment_subject: 'service',
          payment_mode: 'full_payment',
        },
      ],
    })
  })

  test('cuts a long description to 128 characters, no emoji in half', async () => {
    await created({ description: `${'я'.repeat(127)}😀 and more` })
    expect(lastBody().description).toBe('я'.repeat(127))
    await created({ paymentId: 'other', lang: 'en', description: 'a'.repeat(200) })
    expect(lastBody().description).toBe('a'.repeat(128))
    expect(lastBody().confirmation.locale).toBe('en_US')
  })

  test('asked again with the same order gives the same payment for 24 hours', async () => {
    const first = await created()
    fake.now = () => new Date(NOW.getTime() + 23 * 3_600_000)
    expect(await created()).toEqual(first)
    expect(fake.payments.size).toBe(1)
    fake.now = () => new Date(NOW.getTime() + 25 * 3_600_000)
    expect((await created()).externalId).not.toBe(first.externalId)
  })

  test('whose answer was lost is found again', async () => {
    fake.mood = 'hanging up'
    expect(await gateway.create(order(), shop)).toEqual({
      outcome: 'unknown',
      reason: 'the connection was closed',
      retryAfterMs: null,
    })
    fake.mood = null
    expect((await created()).externalId).toBe([...fake.payments.keys()][0])
    expect(fake.payments.size).toBe(1)
  })

  test('of a payment that was paid meanwhile gives its id, and the way back as the link', async () => {
    const { externalId } = await created()
    fake.pay(externalId)
    expect(await created()).toMatchObject({ externalId, payUrl: 'https://site.test/pay/done' })
  })

  test('of a payment that was canceled meanwhile is refused', async () => {
    const { externalId } = await created()
    fake.cancel(externalId)
    expect(await gateway.create(order(), shop)).toEqual({
      outcome: 'refused',
      reason: 'expired_on_confirmation (yoo_money)',
    })
  })

  test('with the same key and another body is refused', async () => {
    await created()
    expect(await gateway.create(order({ amount: 200 }), shop)).toEqual({
      outcome: 'refused',
      reason: 'invalid_request: Idempotence-Key: Idempotence key duplicated',
    })
  })

  test('without a receipt where one is demanded says what to switch on', async () => {
    fake.receipts = true
    expect(await gateway.create(order(), shop)).toEqual({
      outcome: 'refused',
      reason: 'the shop demands receipts (54-FZ): set RECEIPT_MODE to on, and RECEIPT_EMAIL',
    })
  })

  test('with a receipt that is refused says what to check', async () => {
    const receipt = { email: 'no address', vatCode: 1 }
    expect(await gateway.create(order({ receipt }), shop)).toEqual({
      outcome: 'refused',
      reason:
        'the receipt was refused, check RECEIPT_EMAIL and VAT_CODE: Receipt is missing or illegal',
    })
  })

  test.each([
    [400, 'invalid_request: amount.currency: Incorrect currency of payment'],
    [403, 'the gateway does not accept the credentials'],
    [404, "not_found: Payment doesn't exist or access denied"],
  ] as const)('answered %i is refused: %s', async (status, reason) => {
    fake.paymentRefusal = status
    expect(await gateway.create(order(), shop)).toEqual({ outcome: 'refused', reason })
  })

  test('with wrong credentials is refused, and neither secret is told', async () => {
    const wrong = { ...shop, secret: 'live_wrong-secret' }
    const outcome = await gateway.create(order(), wrong)
    expect(outcome).toEqual({
      outcome: 'refused',
      reason: 'the gateway does not accept the credentials',
    })
  })

  test.each([
    [429, 'too many requests', 1800],
    [500, 'answered 500', null],
  ] as const)('answered %i is unknown', async (status, reason, retryAfterMs) => {
    fake.paymentRefusal = status
    expect(await gateway.create(order(), shop)).toEqual({
      outcome: 'unknown',
      reason,
      retryAfterMs,
    })
  })

  test('to credentials that no header may hold is unknown, without them', async () => {
    const outcome = await gateway.create(order({ paymentId: 'line\nbreak' }), shop)
    expect(outcome).toMatchObject({ outcome: 'unknown' })
    expect(JSON.stringify(outcome)).not.toContain('line')
  })
})

const OWN = { paymentId: PAYMENT_ID }
const TEN_BACK = { refunded: false, refundedPart: '10.00' }

describe('a check', () => {
  test.each([
    ['a new payment', () => {}, { state: 'pending' }],
    [
      'one that is paid',
      (id: string) => fake.pay(id),
      { state: 'paid', ...OWN, amount: '199.00', currency: 'RUB', test: true, refunded: false },
    ],
    [
      'one whose money went back in part',
      (id: string) => fake.refund(fake.pay(id).id, '10.00'),
      { state: 'paid', ...OWN, amount: '199.00', currency: 'RUB', test: true, ...TEN_BACK },
    ],
    [
      'one whose money went back in two parts',
      (id: string) => {
        fake.refund(fake.pay(id).id, '10.00')
        fake.refund(id, '199.00')
      },
      { state: 'paid', ...OWN, amount: '199.00', currency: 'RUB', test: true, refunded: true },
    ],
    [
      'one that is canceled',
      (id: string) => fake.cancel(id, 'insufficient_funds'),
      { state: 'failed', reason: 'insufficient_funds (yoo_money)' },
    ],
    [
      'one that waits for its capture',
      (id: string) => fake.pay(id, { status: 'waiting_for_capture' }),
      { state: 'pending' },
    ],
    [
      'one that says both yes and no',
      (id: string) => fake.pay(id, { paid: false }),
      { state: 'unknown', reason: 'succeeded, but not paid', retryAfterMs: null },
    ],
  ])('of %s', async (_name, act, expected) => {
    const { externalId } = await created()
    act(externalId)
    expect(await check(externalId)).toEqual(expected)
  })

  test.each(['', '.', '..', '../me', 'a/b', '?limit=1', 'a b', 'x'.repeat(129)])(
    'of the id %j asks nobody',
    async (externalId) => {
      expect(await check(externalId)).toEqual({
        state: 'unknown',
        reason: 'the gateway has no id for this payment',
        retryAfterMs: null,
      })
      expect(fake.asked).toEqual([])
    },
  )

  test('of what the shop does not know is unknown, not failed', async () => {
    const { externalId } = await created()
    expect(await check(crypto.randomUUID())).toEqual({
      state: 'unknown',
      reason: 'answered 404',
      retryAfterMs: null,
    })
    const other = { shopId: '100600', secret: 'live_other' }
    expect(await check(externalId, other)).toMatchObject({ state: 'unknown' })
  })

  test.each([
    [403, 'the gateway does not accept the credentials', null],
    [429, 'too many requests', 1800],
    [500, 'answered 500', null],
  ] as const)('answered %i is unknown', async (status, reason, retryAfterMs) => {
    const { externalId } = await created()
    fake.pay(externalId)
    fake.paymentRefusal = status
    expect(await check(externalId)).toEqual({ state: 'unknown', reason, retryAfterMs })
  })
})

describe('the list of succeeded payments', () => {
  const since = new Date('2026-03-01T00:00:00Z')

  test('is read to its end, and holds those of other systems and refunded ones', async () => {
    for (let i = 0; i < 205; i++) {
      fake.now = () => new Date(NOW.getTime() + i * 1000)
      fake.pay((await created({ paymentId: `pay-${i}` })).externalId)
    }
    const [refunded] = fake.paymentsOf('pay-7')
    fake.refund(refunded?.id ?? '')
    fake.refund(fake.paymentsOf('pay-9')[0]?.id ?? '', '10.00')
    const [foreign] = fake.paymentsOf('pay-8')
    if (foreign) foreign.metadata = {}
    await created({ paymentId: 'unpaid' })
    fake.asked.length = 0
    const list = await gateway.listSucceeded(since, shop)
    if (!Array.isArray(list)) throw new Error(list.reason)
    expect([fake.asked.length, list.length]).toEqual([3, 205])
    expect(new Set(list.map(({ externalId }) => externalId)).size).toBe(205)
    expect(list.find(({ paymentId }) => paymentId === 'pay-7')).toEqual({
      externalId: refunded?.id,
      paymentId: 'pay-7',
      amount: '199.00',
      currency: 'RUB',
      refunded: true,
    })
    expect(list.find(({ paymentId }) => paymentId === 'pay-9')).toMatchObject(TEN_BACK)
    expect(list.find(({ externalId }) => externalId === foreign?.id)?.paymentId).toBeNull()
  })

  test('begins where it is told to', async () => {
    fake.pay((await created()).externalId)
    expect(await gateway.listSucceeded(new Date(NOW.getTime() + 1), shop)).toEqual([])
    expect(await gateway.listSucceeded(NOW, shop)).toHaveLength(1)
  })

  test.each(['html', 'hanging up', 'ten megabytes'] as const)(
    'is no list when the shop is %s',
    async (mood) => {
      fake.mood = mood
      expect(await gateway.listSucceeded(since, shop)).toMatchObject({ retryAfterMs: null })
    },
  )

  test('is no list when a later page fails, or the pages never end', async () => {
    let pages = 0
    const endless = await startFakeSystem(() => {
      pages++
      const json = { type: 'list', items: [], next_cursor: 'again' }
      return pages === 2 && failing ? { status: 429 } : { status: 200, json }
    })
    let failing = true
    const other = createProviderAGateway({ apiUrl: endless.url, outbound })
    expect(await other.listSucceeded(since, shop)).toMatchObject({ retryAfterMs: 60_000 })
    expect(pages).toBe(2)
    failing = false
    expect(await other.listSucceeded(since, shop)).toMatchObject({ retryAfterMs: null })
    expect(pages).toBe(102)
    await endless.close()
  })
})
