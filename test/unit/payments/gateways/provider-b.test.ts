import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '#src/integrations/outbound.ts'
import { createProviderB } from '#src/integrations/payments/provider-b/gateway.ts'
import {
  isPlategaCallback,
  isSignedByProviderB,
} from '#src/integrations/payments/provider-b/notices.ts'
import { utf8 } from '#src/lib/encoding.ts'
import cispay from '#test/fixtures/payments/cispay.json' with { type: 'json' }
import generic from '#test/fixtures/payments/generic.json' with { type: 'json' }
import platega from '#test/fixtures/payments/platega.json' with { type: 'json' }
import { type FakeProviderB, startFakeProviderB } from '#test/support/fakes/provider-b.ts'
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { order, PAYMENT_ID } from '#test/support/orders.ts'
import { createHandClock } from '#test/support/worlds/world.ts'

const SECRET = 'secret-of-the-merchant'
const merchant = { merchantId: '1a021d91-9b26-4762-b303-5d4aac74e921', secret: SECRET }
const PRESETS = ['platega', 'cispay', 'generic'] as const

const fakes = await Promise.all(PRESETS.map((preset) => startFakeProviderB(preset, merchant)))
let verbatim: { status: number; json?: unknown } = { status: 200 }
const tape = await startFakeSystem(() => verbatim)
beforeEach(() => {
  for (const fake of fakes) fake.reset()
})
afterAll(() => Promise.all([...fakes, tape].map((fake) => fake.close())))

const clock = createHandClock('2026-03-01T12:00:00')
const gateway = createProviderB({ outbound: createOutbound({ denyPrivate: false }), clock })
const shopOf = ({ preset, url }: { preset: string; url: string }) => ({
  shopId: merchant.merchantId,
  secret: SECRET,
  preset,
  apiUrl: url,
})
const later = (minutes: number) => new Date(clock.now().getTime() + minutes * 60_000)

async function created(fake: FakeProviderB, changes = {}) {
  const made = await gateway.create(order(changes), shopOf(fake))
  if (made.outcome !== 'created') throw new Error(JSON.stringify(made))
  return made
}
const check = (fake: FakeProviderB, externalId: string, id = PAYMENT_ID) =>
  gateway.check({ id, externalId }, shopOf(fake))
const only = (preset: (typeof PRESETS)[number]) =>
  fakes.find((fake) => fake.preset === preset) as FakeProviderB

describe('a creation', () => {
  test('at Platega sends what its documents ask for', async () => {
    const fake = only('platega')
    const made = await created(fake)
    expect(fake.asked[0]).toMatchObject({
      method: 'POST',
      path: '/v2/transaction/process',
      headers: { 'x-merchantid': merchant.merchantId, 'x-secret': SECRET },
    })
    expect(JSON.parse(fake.asked[0]?.body ?? '')).toEqual({
      paymentDetails: { amount: 199, currency: 'RUB' },
      description: 'Subpanel: 30 days',
      return: 'https://site.test/pay/done',
      failedUrl: 'https://site.test/pay/done',
      payload: PAYMENT_ID,
      metadata: { userId: '1001', userName: '@ada' },
    })
    expect(made.payUrl).toContain(`https://pay.platega.io/?id=${made.externalId}`)
    expect(made.expiresAt).toEqual(later(15))
  })

  test('at Platega names a buyer without a username by their id', async () => {
    await created(only('platega'), { username: null })
    expect(JSON.parse(only('platega').asked[0]?.body ?? '').metadata).toEqual({
      userId: '1001',
      userName: '1001',
    })
  })

  test('at cisPay is in kopecks and tries the fast payment system first', async () => {
    const fake = only('cispay')
    const made = await created(fake)
    expect(fake.asked[0]).toMatchObject({
      path: '/payments',
      headers: { 'x-shop-id': merchant.merchantId, 'x-api-key': SECRET },
    })
    expect(JSON.parse(fake.asked[0]?.body ?? '')).toEqual({
      amount: 19_900,
      currency: 'RUB',
      order_id: PAYMENT_ID,
      payment_method: 'SBP',
      customer_id: '1001',
      description: 'Subpanel: 30 days',
      redirect_success_url: 'https://site.test/pay/done',
      redirect_fail_url: 'https://site.test/pay/done',
    })
    expect(made.expiresAt).toEqual(later(30))
  })

  test('at cisPay goes on with cards where the shop has only those', async () => {
    const fake = only('cispay')
    fake.closedMethods = ['SBP']
    await created(fake)
    expect(fake.asked).toHaveLength(2)
    expect([...fake.orders.values()][0]?.order.payment_method).toBe('CARD')
    fake.closedMethods = ['SBP', 'CARD']
    expect(await gateway.create(order(), shopOf(fake))).toEqual({
      outcome: 'refused',
      reason: 'Payment method is not available',
    })
  })

  test('at cisPay does not try another method when nobody knows of the first', async () => {
    const fake = only('cispay')
    fake.refusal = { status: 500 }
    expect(await gateway.create(order(), shopOf(fake))).toMatchObject({ outcome: 'unknown' })
    expect(fake.asked).toHaveLength(1)
  })

  test('at a gateway of the generic kind is as docs/gateways.md says', async () => {
    const fake = only('generic')
    const made = await created(fake)
    expect(fake.asked[0]).toMatchObject({
      path: '/payments',
      headers: { authorization: `Bearer ${SECRET}`, 'x-merchant-id': merchant.merchantId },
    })
    expect(JSON.parse(fake.asked[0]?.body ?? '')).toEqual({
      order_id: PAYMENT_ID,
      amount: '199.00',
      currency: 'RUB',
      description: 'Subpanel: 30 days',
      return_url: 'https://site.test/pay/done',
      webhook_url: 'https://panel.test/payments/webhook/provider_b',
      customer_id: '1001',
    })
    expect(made).toMatchObject({ payUrl: 'https://gateway.test/pay/gw-1', expiresAt: null })
  })

  describe.each(fakes)('at $preset', (fake) => {
    test('with wrong credentials is refused', async () => {
      expect(await gateway.create(order(), { ...shopOf(fake), secret: 'other' })).toEqual({
        outcome: 'refused',
        reason: 'the gateway does not accept the credentials',
      })
      expect(fake.asked).toHaveLength(1)
    })

    test.each([
      [{ status: 400, json: { message: 'No available requisites' } }, 'No available requisites'],
      [{ status: 422, json: { detail: [{ msg: 'x' }] } }, 'answered 422'],
      [{ status: 400, json: { error: `no ${SECRET}\n` } }, 'no ***'],
    ])('answered %j is refused', async (refusal, reason) => {
      fake.refusal = refusal
      expect(await gateway.create(order(), shopOf(fake))).toEqual({ outcome: 'refused', reason })
    })

    test.each([
      [{ status: 409, json: {} }, 'answered 409'],
      [{ status: 500, json: {} }, 'answered 500'],
      [{ status: 400 }, 'answered 400'],
      [
        { status: 200, json: { id: '../x', transactionId: '../x' } },
        'the answer could not be read',
      ],
      [{ status: 200, json: {} }, 'the answer could not be read'],
      [{ status: 302, json: {} }, 'answered 302'],
    ])('answered %j is unknown', async (refusal, reason) => {
      fake.refusal = refusal
      expect(await gateway.create(order(), shopOf(fake))).toEqual({
        outcome: 'unknown',
        reason,
        retryAfterMs: null,
      })
    })

    test('answered 429 is unknown, and to be left alone for a minute', async () => {
      fake.refusal = { status: 429, json: {} }
      const expected = { reason: 'too many requests', retryAfterMs: 60_000 }
      const creation = await gateway.create(order(), shopOf(fake))
      expect(creation).toEqual({ outcome: 'unknown', ...expected })
      verbatim = fake.refusal
      const shop = shopOf({ preset: fake.preset, url: tape.url })
      const state = await gateway.check({ id: PAYMENT_ID, externalId: 'x' }, shop)
      expect(state).toEqual({ state: 'unknown', ...expected })
    })

    test('without a link is refused, for nobody could pay', async () => {
      fake.refusal = { status: 200, json: { id: 'x1', transactionId: 'x1', payment_url: null } }
      expect(await gateway.create(order(), shopOf(fake))).toEqual({
        outcome: 'refused',
        reason: 'the gateway gave no link to pay by',
      })
    })
  })

  test.each([
    [{ preset: 'paypal' }],
    [{ preset: 'constructor' }],
    [{ preset: undefined }],
    [{ apiUrl: '' }],
    [{ apiUrl: undefined }],
  ])('of a shop that is not set up asks nobody: %j', async (changes) => {
    const shop = { ...shopOf(only('generic')), ...changes }
    const reason = 'the gateway is not set up: preset or address is missing'
    expect(await gateway.create(order(), shop)).toEqual({ outcome: 'refused', reason })
    expect(await gateway.check({ id: PAYMENT_ID, externalId: 'x' }, shop)).toEqual({
      state: 'unknown',
      reason,
      retryAfterMs: null,
    })
    expect(fakes.flatMap(({ asked }) => asked)).toEqual([])
  })

  test('at an address that is none, or not allowed, is unknown', async () => {
    const shop = { ...shopOf(only('generic')), apiUrl: 'no address' }
    expect(await gateway.create(order(), shop)).toMatchObject({
      outcome: 'unknown',
      reason: 'the address is no URL',
    })
    shop.apiUrl = 'http://169.254.169.254'
    expect(await gateway.create(order(), shop)).toMatchObject({
      outcome: 'unknown',
      reason: 'the address is not allowed',
    })
  })
})

describe('a check', () => {
  const paid = { state: 'paid', amount: '199.00', currency: 'RUB' }
  const failed = (reason: string) => ({ state: 'failed', reason })
  test.each([
    ['platega', 'PENDING', { state: 'pending' }],
    ['platega', 'CONFIRMED', paid],
    ['platega', 'CHARGEBACKED', { ...paid, refunded: true }],
    ['platega', 'CANCELED', failed('canceled')],
    ['platega', 'EXPIRED', failed('expired')],
    ['cispay', 'PENDING', { state: 'pending' }],
    ['cispay', 'PAID', paid],
    ['cispay', 'REFUNDED', { ...paid, refunded: true }],
    ['cispay', 'FAILED', failed('failed')],
    ['cispay', 'EXPIRED', failed('expired')],
    ['generic', 'pending', { state: 'pending' }],
    ['generic', 'processing', { state: 'pending' }],
    ['generic', 'succeeded', paid],
    ['generic', 'SUCCESS', paid],
    ['generic', 'paid', paid],
    ['generic', 'confirmed', paid],
    ['generic', 'refunded', { ...paid, refunded: true }],
    ['generic', 'cancelled', failed('cancelled')],
    ['generic', 'declined', failed('declined')],
  ] as const)('at %s of a payment that is %s', async (preset, status, expected) => {
    const { externalId } = await created(only(preset))
    only(preset).set(externalId, status)
    expect(await check(only(preset), externalId)).toEqual(expected)
  })

  describe.each(fakes)('at $preset', (fake) => {
    test.each(['', 'paid?', 'constructor', 'toString', 'CONFIRMED '])(
      'of a status that nobody knows is unknown: %j',
      async (status) => {
        const { externalId } = await created(fake)
        fake.set(externalId, status)
        expect(await check(fake, externalId)).toEqual({
          state: 'unknown',
          reason: 'the answer could not be read',
          retryAfterMs: null,
        })
      },
    )

    test('of what the gateway does not know is unknown, not failed', async () => {
      await created(fake)
      expect(await check(fake, crypto.randomUUID())).toEqual({
        state: 'unknown',
        reason: 'answered 404',
        retryAfterMs: null,
      })
    })

    test.each(['..', 'a/b', 'x y', '?id=1'])('of the id %j asks nobody', async (externalId) => {
      expect(await check(fake, externalId)).toMatchObject({
        state: 'unknown',
        reason: 'the gateway has no id for this payment',
      })
      expect(fake.asked).toEqual([])
    })

    test('tells the amount that the gateway has, to the last digit', async () => {
      const { externalId } = await created(fake)
      fake.pay(externalId).amount = fake.preset === 'cispay' ? 19_801 : 198.01
      expect(await check(fake, externalId)).toMatchObject({ state: 'paid', amount: '198.01' })
    })

    test('of an amount that can not be read is unknown', async () => {
      const { externalId } = await created(fake)
      fake.pay(externalId).amount = '1e3'
      expect(await check(fake, externalId)).toMatchObject({ state: 'unknown' })
    })

    test('of another payment’s answer is unknown', async () => {
      const { externalId } = await created(fake)
      fake.pay(externalId).id = crypto.randomUUID()
      expect((await check(fake, externalId)).state).toBe('unknown')
    })
  })

  test.each(['platega', 'cispay', 'generic'] as const)(
    'at %s of a payment without an id asks nobody',
    async (preset) => {
      const fake = only(preset)
      expect(await check(fake, '')).toMatchObject({
        reason: 'the gateway has no id for this payment',
      })
      expect(fake.asked).toEqual([])
    },
  )

  test('at cisPay says whether the payment was a test', async () => {
    verbatim = { status: 200, json: { ...cispay.state, status: 'PAID', is_sandbox: true } }
    const shop = shopOf({ preset: 'cispay', url: tape.url })
    const payment = { id: PAYMENT_ID, externalId: cispay.state.id }
    expect(await gateway.check(payment, shop)).toMatchObject({ state: 'paid', test: true })
  })
})

describe('recorded answers', () => {
  test.each([
    ['platega', platega, platega.created.transactionId],
    ['cispay', cispay, cispay.created.id],
    ['generic', generic, generic.created.id],
  ] as const)('of %s are read', async (preset, recorded, externalId) => {
    const shop = shopOf({ preset, url: tape.url })
    verbatim = { status: 200, json: recorded.created }
    expect(await gateway.create(order(), shop)).toMatchObject({ outcome: 'created', externalId })
    verbatim = { status: 200, json: recorded.state }
    expect(await gateway.check({ id: PAYMENT_ID, externalId }, shop)).toEqual({ state: 'pending' })
  })

  test.each([
    ['00:15:00', 15],
    ['01:00:00', 60],
    ['1.00:00:00', 1440],
    ['00:15:00.1234567', 15],
    ['soon', null],
    [null, null],
  ])('a life of %j at Platega', async (expiresIn, minutes) => {
    verbatim = { status: 200, json: { ...platega.created, expiresIn } }
    const made = await gateway.create(order(), shopOf({ preset: 'platega', url: tape.url }))
    expect(made).toMatchObject({ expiresAt: minutes === null ? null : later(minutes) })
  })
})

describe('a notice', () => {
  test.each(fakes)('of $preset proves who sends it', async (fake) => {
    const { externalId } = await created(fake)
    fake.pay(externalId)
    const { headers, body } = fake.notice(externalId)
    if (fake.preset === 'platega') {
      const sent = { merchantId: headers['x-merchantid'] ?? '', secret: headers['x-secret'] ?? '' }
      expect(isPlategaCallback({ ...merchant, shopId: merchant.merchantId }, sent)).toBe(true)
      return
    }
    const signature = headers['x-signature'] ?? headers.signature ?? null
    expect(isSignedByProviderB(SECRET, utf8(body), signature)).toBe(true)
    expect(isSignedByProviderB('other', utf8(body), signature)).toBe(false)
  })

  test('is sent to where it is told', async () => {
    const received = await startFakeSystem(() => ({ status: 200 }))
    const { externalId } = await created(only('generic'))
    expect(await only('generic').notify(`${received.url}/hook`, externalId, { extra: 1 })).toBe(200)
    expect(received.asked[0]).toMatchObject({ method: 'POST', path: '/hook' })
    expect(JSON.parse(received.asked[0]?.body ?? '')).toMatchObject({ id: externalId, extra: 1 })
    await received.close()
  })
})
