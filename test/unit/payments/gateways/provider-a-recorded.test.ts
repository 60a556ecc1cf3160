/** Answers of YooKassa as they were recorded, and what is made of them. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound } from '#src/integrations/outbound.ts'
import { createProviderAGateway } from '#src/integrations/payments/provider-a/gateway.ts'
import recorded from '#test/fixtures/payments/yookassa.json' with { type: 'json' }
import { startFakeSystem } from '#test/support/fakes/system.ts'
import { order, PAYMENT_ID } from '#test/support/orders.ts'

const SECRET = 'test_secret-of-the-shop'
const shop = { shopId: '100500', secret: SECRET }

let verbatim: { status: number; json?: unknown } = { status: 200 }
const tape = await startFakeSystem(() => verbatim)
beforeEach(() => tape.reset())
afterAll(() => tape.close())

const outbound = createOutbound({ denyPrivate: false })
const taped = createProviderAGateway({ apiUrl: tape.url, outbound })
const OWN = { paymentId: PAYMENT_ID }

describe('recorded answers', () => {
  const { pending, succeeded, canceled, waiting_for_capture: waiting, errors } = recorded
  const ask = (json: unknown, status = 200) => {
    verbatim = { status, json }
    return taped.check({ id: PAYMENT_ID, externalId: pending.id }, shop)
  }
  const make = (json: unknown, status = 200) => {
    verbatim = { status, json }
    return taped.create(order(), shop)
  }

  test('are read', async () => {
    expect(await ask(pending)).toEqual({ state: 'pending' })
    expect(await ask(waiting)).toEqual({ state: 'pending' })
    expect(await ask(succeeded)).toEqual({
      state: 'paid',
      ...OWN,
      amount: '199.00',
      currency: 'RUB',
      test: true,
      refunded: false,
    })
    expect(await ask(canceled)).toEqual({
      state: 'failed',
      reason: 'expired_on_confirmation (yoo_money)',
    })
    expect(await make(pending)).toMatchObject({
      outcome: 'created',
      payUrl: pending.confirmation.confirmation_url,
      expiresAt: new Date('2026-03-01T13:00:00.681Z'),
    })
    expect(await make(errors.receipt, 400)).toMatchObject({ outcome: 'refused' })
    expect(await make(errors.tooMany, 429)).toMatchObject({ retryAfterMs: 1800 })
    expect(await ask(errors.notFound, 404)).toMatchObject({ state: 'unknown' })
  })

  test('with more fields than are known are read as well', async () => {
    expect(await ask({ ...succeeded, news: { a: [1] }, test: null })).toMatchObject({
      state: 'paid',
      test: undefined,
    })
  })

  test('say whose they are, where they do', async () => {
    const whose = (metadata: unknown) => ask({ ...succeeded, metadata })
    expect(await whose({ payment_id: 7 })).toMatchObject({ state: 'paid', paymentId: '7' })
    expect(await whose({ order: '1' })).toMatchObject({ state: 'paid', paymentId: undefined })
  })

  test.each([
    ['another id', { ...succeeded, id: 'another' }],
    ['no amount', { ...succeeded, amount: undefined }],
    ['an amount that is none', { ...succeeded, amount: { value: '1e3', currency: 'RUB' } }],
    ['a negative amount', { ...succeeded, amount: { value: '-199.00', currency: 'RUB' } }],
    ['a status that nobody knows', { ...succeeded, status: 'succeeding' }],
    ['a status of another kind', { ...succeeded, status: ['succeeded'] }],
    ['paid in words', { ...succeeded, paid: 'yes' }],
    ['a list', [succeeded]],
    ['nothing', {}],
    ['null', null],
  ])('with %s are unknown', async (_name, json) => {
    expect(await ask(json)).toEqual({
      state: 'unknown',
      reason: 'the answer could not be read',
      retryAfterMs: null,
    })
  })

  test.each([
    ['no link', { ...pending, confirmation: undefined }],
    [
      'a link that runs code',
      { ...pending, confirmation: { confirmation_url: 'javascript:alert(1)' } },
    ],
    ['an id for another path', { ...pending, id: '../me' }],
  ])('to a creation with %s are unknown', async (_name, json) => {
    expect(await make(json)).toMatchObject({ outcome: 'unknown', retryAfterMs: null })
  })

  test('of errors do not echo secrets nor break the line', async () => {
    const description = `bad\n\u0000key ${SECRET} ${'x'.repeat(500)}`
    const outcome = await make({ type: 'error', code: 'invalid_request', description }, 400)
    expect(outcome).toMatchObject({ outcome: 'refused' })
    const { reason } = outcome as { reason: string }
    expect(reason).toMatch(/^invalid_request: bad key \*\*\* x+$/)
    expect(reason.length).toBeLessThan(250)
  })

  test('of a proxy are no refusal', async () => {
    expect(await make({ message: 'forbidden by policy' }, 403)).toMatchObject({
      outcome: 'unknown',
    })
    expect(await make(undefined, 405)).toMatchObject({ outcome: 'unknown' })
  })

  test('with a pause beyond reason give an hour', async () => {
    expect(await make({ ...errors.tooMany, retry_after: 1e15 }, 429)).toMatchObject({
      retryAfterMs: 3_600_000,
    })
    expect(await make({ ...errors.tooMany, retry_after: -5 }, 429)).toMatchObject({
      retryAfterMs: 60_000,
    })
  })
})
