import { createHash, createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { B_SECRET, closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'
import type { CallOptions } from '#test/support/worlds/world.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})
afterEach(() => closeShop(shop))

const send = (path: string, options: CallOptions) => shop.send(path, options)

const OK = { ok: true }

describe('platega', () => {
  const HEADERS = { 'x-merchantid': 'merchant', 'x-secret': B_SECRET }
  beforeEach(() => putSettings(shop.w, { PROVIDER_B_PRESET: 'platega' }))

  test.each(['generic', 'cispay'])('404 under the preset %s', async (preset) => {
    putSettings(shop.w, { PROVIDER_B_PRESET: preset })
    const answer = await send('platega', { raw: '{}', headers: HEADERS })
    expect([answer.status, answer.json]).toEqual([404, { error: 'not found' }])
  })

  test('401 unless merchant and secret are both right', async () => {
    const wrong: Record<string, string>[] = [
      {},
      { 'x-merchantid': 'merchant' },
      { 'x-secret': B_SECRET },
      { ...HEADERS, 'x-secret': `${B_SECRET}x` },
      { ...HEADERS, 'x-merchantid': '' },
    ]
    for (const headers of wrong) {
      const answer = await send('platega', { raw: '{}', headers })
      expect([answer.status, answer.json]).toEqual([401, { error: 'bad signature' }])
    }
    putSettings(shop.w, { PROVIDER_B_SECRET: '' })
    const answer = await send('platega', {
      raw: '{}',
      headers: { 'x-merchantid': 'merchant', 'x-secret': '' },
    })
    expect(answer.status).toBe(401)
  })

  test('200, and a grant only on the word of the gateway', async () => {
    const { id, externalId } = await shop.buy({ provider: 'provider_b' })
    const body = { id: externalId, status: 'CONFIRMED', amount: 199, currency: 'RUB' }
    expect((await send('platega', { body, headers: HEADERS })).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('pending')
    shop.b.pay(externalId)
    expect((await send('platega', { body, headers: HEADERS })).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('paid')
  })

  test.each(['', 'x', '[]', '{}', '{"id":"unknown"}', '{"id":{}}'])(
    '200 without an effect for %j',
    async (raw) => {
      await shop.buy({ provider: 'provider_b' })
      const before = shop.w.dump()
      expect((await send('platega', { raw, headers: HEADERS })).json).toEqual(OK)
      expect(shop.w.dump()).toBe(before)
    },
  )
})

describe('cryptobot', () => {
  const sign = (raw: string, token = '777:token-of-the-app') =>
    createHmac('sha256', createHash('sha256').update(token).digest()).update(raw).digest('hex')

  test('401 for a wrong signature, and always without a token', async () => {
    const raw = '{"update_type":"invoice_paid"}'
    for (const signature of ['', 'x', sign(`${raw} `), sign(raw, 'another')]) {
      const headers = { 'crypto-pay-api-signature': signature }
      const answer = await send('cryptobot', { raw, headers })
      expect([answer.status, answer.json]).toEqual([401, { error: 'bad signature' }])
    }
    putSettings(shop.w, { CRYPTOBOT_TOKEN: '' })
    const headers = { 'crypto-pay-api-signature': sign(raw, '') }
    expect((await send('cryptobot', { raw, headers })).status).toBe(401)
  })

  test('200, and a grant only on the word of the gateway', async () => {
    const { id, externalId } = await shop.buy({ provider: 'cryptobot' })
    const raw = JSON.stringify({
      update_type: 'invoice_paid',
      payload: { invoice_id: externalId, payload: id, status: 'paid' },
    })
    const headers = { 'crypto-pay-api-signature': sign(raw) }
    expect((await send('cryptobot', { raw, headers })).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('pending')
    shop.cryptobot.pay(externalId)
    expect((await send('cryptobot', { raw, headers })).json).toEqual(OK)
    expect(shop.payment(id).status).toBe('paid')
  })

  test.each(['{}', '[]', 'x', '{"payload":[]}', '{"payload":{"invoice_id":5}}'])(
    '200 without an effect for %s',
    async (raw) => {
      const headers = { 'crypto-pay-api-signature': sign(raw) }
      const before = shop.w.dump()
      expect((await send('cryptobot', { raw, headers })).json).toEqual(OK)
      expect(shop.w.dump()).toBe(before)
    },
  )
})

describe('all of them', () => {
  const ROUTES = GATEWAYS.flatMap(({ notices = [] }) => notices.map(({ name }) => name))

  test.each(['sub.test', 'site.test', 'panel.test', 'elsewhere.test'])(
    'are reached at %s, also with HOST_ISOLATION',
    async (host) => {
      const strict = await createShop({ environment: { HOST_ISOLATION: 'strict' } })
      for (const one of [shop, strict]) {
        putSettings(one.w, { PROVIDER_B_PRESET: 'platega' })
        for (const route of ROUTES) {
          const answer = await one.w.call(`/payments/webhook/${route}`, {
            method: 'POST',
            raw: '{}',
            host,
          })
          expect([400, 401], `${host} ${route}`).toContain(answer.status)
        }
      }
      strict.w.close()
    },
  )

  test('413 for more than 256 KB', async () => {
    const raw = `{"pad":"${'x'.repeat(262_144)}"}`
    for (const route of ['provider_a', 'provider_b', 'cryptobot']) {
      const answer = await send(route, { raw })
      expect([answer.status, answer.json]).toEqual([413, { error: 'request body too large' }])
    }
    const most = `{"pad":"${'x'.repeat(262_144 - 10)}"}`
    expect((await send('provider_a', { raw: most })).json).toEqual({ error: 'unsupported event' })
  })

  test('405 for another method, 404 for another name', async () => {
    for (const route of ROUTES) {
      const answer = await shop.w.call(`/payments/webhook/${route}`)
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    }
    expect((await send('provider_c', { raw: '{}' })).status).toBe(404)
  })
})
