import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import type { PaymentState } from '#src/ports/payment-gateway.ts'
import { addNode, addPayment, eventsOf, putSettings } from '#test/support/rows/records.ts'
import { B_SECRET, closeShop, createShop, type Shop, signB } from '#test/support/worlds/shop.ts'
import type { CallOptions } from '#test/support/worlds/world.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})
afterEach(() => closeShop(shop))

const idle = () => shop.w.s.background.idle()
const send = (path: string, options: CallOptions) => shop.send(path, options)

const OK = { ok: true }

describe('provider B', () => {
  test('401 for every signature that is not that of this body with this secret', async () => {
    const { id } = await shop.buy({ provider: 'provider_b' })
    const raw = JSON.stringify({ id, status: 'paid' })
    const digest = signB(raw)
    const before = shop.w.dump()
    const wrong: (Record<string, string> | undefined)[] = [
      undefined,
      { 'x-signature': '' },
      { 'x-signature': 'x' },
      { 'x-signature': digest.slice(0, -2) },
      { 'x-signature': `${digest}00` },
      { 'x-signature': signB(raw, 'another secret') },
      { 'x-signature': signB(`${raw} `) },
      { 'x-signature': `${digest.startsWith('0') ? '1' : '0'}${digest.slice(1)}` },
      { 'x-signature': createHmac('sha1', B_SECRET).update(raw).digest('hex') },
      { 'x-signature': `sha256=${digest}` },
      // The first header counts.
      { 'x-signature': signB(raw, 'another secret'), signature: digest },
    ]
    for (const headers of wrong) {
      const answer = await send('provider_b', { raw, headers: headers ?? {} })
      expect([answer.status, answer.json], JSON.stringify(headers)).toEqual([
        401,
        { error: 'bad signature' },
      ])
    }
    expect(shop.w.dump()).toBe(before)
  })

  test.each([
    ['hex', (mac: Buffer) => ({ 'x-signature': mac.toString('hex') })],
    ['upper-case hex', (mac: Buffer) => ({ 'x-signature': mac.toString('hex').toUpperCase() })],
    ['base64', (mac: Buffer) => ({ 'x-signature': mac.toString('base64') })],
    ['the header signature', (mac: Buffer) => ({ signature: mac.toString('hex') })],
    [
      'the header signature beside an empty one',
      (mac: Buffer) => ({ 'x-signature': '', signature: mac.toString('hex') }),
    ],
  ])('200 and a grant for a signature as %s', async (_what, headers) => {
    const { id } = await shop.buy({ provider: 'provider_b' })
    const raw = JSON.stringify({ id, status: 'paid' })
    const mac = createHmac('sha256', B_SECRET).update(raw).digest()
    const sent = headers(mac) as Record<string, string>
    const answer = await send('provider_b', { raw, headers: sent })
    expect([answer.status, answer.json]).toEqual([200, OK])
    expect(shop.payment(id).status).toBe('paid')
    expect(shop.sold()).toHaveLength(1)
  })

  test('401 always while there is no secret', async () => {
    putSettings(shop.w, { PROVIDER_B_SECRET: '' })
    const raw = '{"id":"x","status":"paid"}'
    for (const headers of [{}, { 'x-signature': '' }]) {
      const answer = await send('provider_b', { raw, headers })
      expect([answer.status, answer.json]).toEqual([401, { error: 'bad signature' }])
    }
  })

  test('the secret of this moment counts', async () => {
    const { id } = await shop.buy({ provider: 'provider_b' })
    const raw = JSON.stringify({ id, status: 'paid' })
    putSettings(shop.w, { PROVIDER_B_SECRET: 'a newer secret' })
    expect((await shop.noticeB(raw)).status).toBe(401)
    const headers = { 'x-signature': signB(raw, 'a newer secret') }
    expect((await shop.noticeB(raw, { headers })).status).toBe(200)
    expect(shop.payment(id).status).toBe('paid')
  })

  const INEFFECTIVE: [what: string, body: (id: string) => unknown][] = [
    ['no JSON', () => 'paid'],
    ['no UTF-8 text', () => '\ud800'],
    ['a list', (id) => [{ id, status: 'paid' }]],
    ['null', () => null],
    ['no status', (id) => ({ id })],
    ['a status that is no text', (id) => ({ id, status: ['paid'] })],
    ['another status', (id) => ({ id, status: 'confirmed' })],
    ['a failed status', (id) => ({ id, status: 'failed' })],
    ['a status with blanks', (id) => ({ id, status: ' paid ' })],
    ['no id', () => ({ status: 'paid' })],
    ['an id that is no text', (id) => ({ id: [id], status: 'paid' })],
    ['an unknown id', () => ({ id: 'nobody', status: 'paid' })],
    ['an empty id', () => ({ id: '', status: 'paid' })],
  ]
  test.each(INEFFECTIVE)('200 without an effect for a signed body with %s', async (_what, body) => {
    const { id } = await shop.buy({ provider: 'provider_b' })
    addPayment(shop.w, { provider: 'provider_b', external_id: '' })
    const before = shop.w.dump()
    const answer = await shop.noticeB(body(id))
    expect([answer.status, answer.json]).toEqual([200, OK])
    expect(shop.w.dump()).toBe(before)
  })

  test.each(['succeeded', 'success', 'paid', 'PAID', 'Succeeded'])(
    '200 and a grant for the status %s',
    async (status) => {
      const { id } = await shop.buy({ provider: 'provider_b' })
      expect((await shop.noticeB({ id, status })).json).toEqual(OK)
      expect(shop.payment(id).status).toBe('paid')
    },
  )

  const NAMES: [what: string, body: (id: string, externalId: string) => object][] = [
    ['our id in id', (id) => ({ id })],
    ['our id in paymentId', (id) => ({ paymentId: id })],
    ['its own in id', (_id, externalId) => ({ id: externalId })],
    ['its own in paymentId', (_id, externalId) => ({ paymentId: externalId })],
    ['its own beside an unknown one', (_id, paymentId) => ({ id: 'unknown', paymentId })],
  ]
  test.each(NAMES)('200 and a grant for %s', async (_what, body) => {
    const { id, externalId } = await shop.buy({ provider: 'provider_b' })
    expect((await shop.noticeB({ ...body(id, externalId), status: 'paid' })).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('paid')
  })

  test('a number is an id like a text', async () => {
    addPayment(shop.w, { id: 'p', provider: 'provider_b', external_id: '4711' })
    await shop.noticeB({ id: 4711, status: 'paid' })
    expect(shop.payment('p').status).toBe('paid')
  })

  test("another provider's payment is never granted", async () => {
    const a = await shop.buy()
    const stars = await shop.buy({ provider: 'cryptobot' })
    for (const id of [a.id, a.externalId, stars.id, stars.externalId]) {
      expect((await shop.noticeB({ id, status: 'paid' })).json).toEqual(OK)
    }
    expect(shop.sold()).toEqual([])
  })

  const AMOUNTS: [preset: string, sent: object, reason: string | null][] = [
    ['generic', { amount: 199 }, null],
    ['generic', { amount: '199.00', currency: 'rub' }, null],
    ['generic', { amount: null }, null],
    ['generic', { amount: 198 }, 'paid with another amount'],
    ['generic', { amount: 19900 }, 'paid with another amount'],
    ['generic', { amount: '199.01' }, 'paid with another amount'],
    ['generic', { amount: '' }, 'paid with another amount'],
    ['generic', { amount: { value: '199.00' } }, 'paid with another amount'],
    ['generic', { amount: 199, currency: 'USD' }, 'paid in another currency'],
    ['platega', { amount: 199 }, null],
    ['cispay', { amount: 19900 }, null],
    ['cispay', { amount: '19900' }, null],
    ['cispay', { amount: 199 }, 'paid with another amount'],
    ['cispay', { amount: '199.00' }, 'paid with another amount'],
    ['cispay', { amount: 19900, is_sandbox: false }, null],
    ['cispay', { amount: 19900, is_sandbox: true }, 'paid as a test'],
    ['generic', { is_sandbox: true }, null],
  ]
  test('a payment that learned its id from a notice only is granted when its node is back', async () => {
    addNode(shop.w, 'nl1')
    shop.b.creations.push({ outcome: 'unknown', reason: 'x', retryAfterMs: null })
    await expect(shop.buy({ provider: 'provider_b', node: 'nl1' })).rejects.toThrow('503')
    const [{ id }] = shop.w.rows('select id from payments')
    shop.w.change("delete from nodes where code = 'nl1'")
    const notice = { id: 'their-1', paymentId: id, status: 'paid', amount: 199 }
    expect((await shop.noticeB(notice)).json).toEqual(OK)
    expect(shop.payment(id)).toMatchObject({
      status: 'pending',
      external_id: 'their-1',
      review_reason: 'paid, but its node is gone',
    })
    addNode(shop.w, 'nl1')
    shop.b.answer = { state: 'paid', amount: '199.00', currency: 'RUB' }
    await reconcilePayments(shop.w.s)
    expect(shop.payment(id).status).toBe('paid')
  })

  test.each([
    ['an id that another payment has', 'platega-1'],
    ['no id', undefined],
    ['an id that is none', '../x'],
    ['our id', null],
  ])('a notice with %s leaves a payment without one as it is, and grants', async (_what, told) => {
    await shop.buy({ provider: 'provider_b' })
    shop.b.creations.push({ outcome: 'unknown', reason: 'x', retryAfterMs: null })
    await expect(shop.buy({ provider: 'provider_b', plan: '3m' })).rejects.toThrow('503')
    const [{ id }] = shop.w.rows("select id from payments where external_id = ''")
    // The first id that is known counts.
    const named = told === 'platega-1' ? { id, paymentId: told } : { id: told ?? id, paymentId: id }
    expect((await shop.noticeB({ ...named, status: 'paid' })).json).toEqual(OK)
    expect(shop.payment(id)).toMatchObject({ status: 'paid', external_id: '' })
  })

  test.each(AMOUNTS)('%s with %j: %s', async (preset, sent, reason) => {
    putSettings(shop.w, { PROVIDER_B_PRESET: preset })
    const { id } = await shop.buy({ provider: 'provider_b' })
    expect((await shop.noticeB({ id, status: 'paid', ...sent })).json).toEqual(OK)
    expect(shop.payment(id)).toMatchObject({
      status: reason === null ? 'paid' : 'pending',
      review_reason: reason,
    })
  })

  describe('without an amount', () => {
    const notice = { status: 'paid' }
    const asked = () => shop.b.calls.filter(({ method }) => method === 'check').length

    test.each([
      ['the right amount', { amount: '199.00' }, null],
      ['another amount', { amount: '19.00' }, 'paid with another amount'],
      ['another currency', { currency: 'USD' }, 'paid in another currency'],
      ['a test', { test: true }, 'paid as a test'],
      ['a refund', { refunded: true }, 'refunded at the provider'],
    ])('the gateway is asked, and what it says is compared: %s', async (_what, paid, reason) => {
      const { id, externalId } = await shop.buy({ provider: 'provider_b' })
      shop.b.pay(externalId, paid)
      expect((await shop.noticeB({ ...notice, id })).json).toEqual(OK)
      expect(shop.payment(id)).toMatchObject({
        status: reason === null ? 'paid' : 'pending',
        review_reason: reason,
      })
      expect(asked()).toBe(1)
    })

    test.each<[string, PaymentState]>([
      ['that it is not paid yet', { state: 'pending' }],
      ['that it failed', { state: 'failed', reason: 'expired' }],
      ['nothing', { state: 'unknown', reason: 'no answer in time', retryAfterMs: null }],
    ])('the signature counts where the gateway says %s', async (_what, answer) => {
      const { id } = await shop.buy({ provider: 'provider_b' })
      shop.b.answer = answer
      expect((await shop.noticeB({ ...notice, id })).json).toEqual(OK)
      expect(shop.payment(id)).toMatchObject({ status: 'paid', review_reason: null })
      expect(asked()).toBe(1)
    })

    test('a gateway that says nothing at all is not waited for', async () => {
      const { id } = await shop.buy({ provider: 'provider_b' })
      const release = shop.b.hold()
      const began = performance.now()
      expect((await shop.noticeB({ ...notice, id })).json).toEqual(OK)
      expect(performance.now() - began).toBeGreaterThan(2500)
      expect(shop.payment(id).status).toBe('paid')
      release()
    })

    test('what says its amount is not asked about', async () => {
      const { id } = await shop.buy({ provider: 'provider_b' })
      await shop.noticeB({ ...notice, id, amount: 199 })
      expect(shop.payment(id).status).toBe('paid')
      expect(asked()).toBe(0)
    })
  })

  test('the same notice a hundred times at once grants once', async () => {
    const { id } = await shop.buy({ provider: 'provider_b' })
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => shop.noticeB({ id, status: 'paid' })),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    await idle()
    expect(shop.sold()).toHaveLength(1)
    expect(eventsOf(shop.w)).toHaveLength(1)
    expect(shop.w.rows("select * from outbox where kind = 'granted'")).toHaveLength(1)
  })
})
