import { afterAll, describe, expect, test } from 'vitest'
import { createOutbound } from '#src/integrations/outbound.ts'
import { createCryptobotGateway } from '#src/integrations/payments/cryptobot/gateway.ts'
import { createProviderAGateway } from '#src/integrations/payments/provider-a/gateway.ts'
import { createProviderB } from '#src/integrations/payments/provider-b/gateway.ts'
import { createStars } from '#src/integrations/payments/stars/gateway.ts'
import { systemClock } from '#src/lib/clock.ts'
import type { PaymentGateway } from '#src/ports/payment-gateway.ts'
import { freePort } from '#test/support/drivers/process.ts'
import { MISBEHAVIOURS, type Mood, startFakeSystem } from '#test/support/fakes/system.ts'
import { order, PAYMENT_ID } from '#test/support/orders.ts'

/** What each of them would take for a payment that was paid, were it not for the mood. */
const PAID = {
  ok: true,
  id: 'p-1',
  status: 'succeeded',
  amount: { value: '199.00', currency: 'RUB' },
  result: { items: [{ invoice_id: 'p-1', status: 'paid', amount: '199' }], transactions: [] },
}
const TIMEOUT_MS = 250
const SECRET = '4242:secret-that-nobody-may-read'

const system = await startFakeSystem(() => ({ status: 200, json: PAID }))
afterAll(() => system.close())

const options = {
  apiUrl: system.url,
  outbound: createOutbound({ denyPrivate: false }),
  clock: systemClock,
  timeoutMs: TIMEOUT_MS,
  createTimeoutMs: TIMEOUT_MS,
}
const gateways: [name: string, gateway: PaymentGateway, preset?: string][] = [
  ['provider A', createProviderAGateway(options)],
  ['Platega', createProviderB(options), 'platega'],
  ['cisPay', createProviderB(options), 'cispay'],
  ['a generic gateway', createProviderB(options), 'generic'],
  ['Stars', createStars(options)],
  ['CryptoBot', createCryptobotGateway(options)],
]
const moods = Object.keys(MISBEHAVIOURS) as Mood[]

describe.each(gateways)('%s', (_name, gateway, preset) => {
  const shop = { shopId: '100500', secret: SECRET, preset, apiUrl: system.url }

  async function ask() {
    const began = performance.now()
    const payment = { id: PAYMENT_ID, externalId: 'p-1' }
    const outcomes = await Promise.all([
      gateway.create(order(), shop),
      gateway.check(payment, shop),
    ])
    return { outcomes, ms: performance.now() - began }
  }

  test.each(moods)(
    'that is %s makes, pays and fails nothing, and keeps nobody waiting',
    async (mood) => {
      system.mood = mood
      const { outcomes, ms } = await ask()
      expect(outcomes).toEqual([
        { outcome: 'unknown', reason: expect.any(String), retryAfterMs: null },
        { state: 'unknown', reason: expect.any(String), retryAfterMs: null },
      ])
      expect(ms).toBeLessThan(TIMEOUT_MS + 1000)
      expect(JSON.stringify(outcomes)).not.toMatch(/secret-that|127\.0\.0\.1|4242/)
    },
  )

  test('that nobody listens for is said to be out of reach', async () => {
    const nowhere = { ...options, apiUrl: `http://127.0.0.1:${await freePort()}` }
    const made = {
      'provider A': createProviderAGateway(nowhere),
      Stars: createStars(nowhere),
      CryptoBot: createCryptobotGateway(nowhere),
    }[_name]
    const outcome = await (made ?? gateway).create(order(), { ...shop, apiUrl: nowhere.apiUrl })
    expect(outcome).toEqual({
      outcome: 'unknown',
      reason: 'connection refused',
      retryAfterMs: null,
    })
  })
})

test('an answer that comes too late is said to be late', async () => {
  system.mood = 'silent'
  const [, gateway] = gateways[0] as (typeof gateways)[number]
  expect(await gateway.create(order(), { shopId: '1', secret: SECRET })).toMatchObject({
    reason: 'no answer in time',
  })
})
