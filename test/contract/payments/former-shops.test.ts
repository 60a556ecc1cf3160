/** Payments of a shop that was exchanged for another: who is asked about them, and with what. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { reconcilePayments } from '#src/domain/payments/reconcile.ts'
import { findShop } from '#src/domain/payments/shops.ts'
import { addFormerCredentials, DAY } from '#test/support/rows/records.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await createShop()
})
afterEach(() => closeShop(shop))

const set = async (path: string, body: object) => {
  const answer = await shop.w.admin(`/admin/api/${path}`, { body })
  expect(answer.status, answer.text).toBe(200)
  shop.w.clock.advance(60_000)
}
const provider = (name: string, body: object) => set(`payments/${name}`, body)
const kept = () => shop.w.rows('select * from former_credentials')
const check = async (id: string) => {
  await shop.w.admin(`/admin/api/payments/${id}/check`, { method: 'POST' })
}

describe('a token that was replaced', () => {
  test('of CryptoBot serves the payments of its app for 30 days', async () => {
    const one = await shop.buy({ provider: 'cryptobot' })
    const two = await shop.buy({ provider: 'cryptobot', plan: '3m' })
    await provider('providers/cryptobot', { token: '888:other' })
    shop.cryptobot.pay(one.externalId)
    await check(one.id)
    expect(shop.payment(one.id).status).toBe('paid')
    expect(shop.cryptobot.calls.at(-1)?.shop.secret).toBe('777:token-of-the-app')
    shop.w.clock.advance(30 * DAY * 1000)
    const asked = shop.cryptobot.calls.length
    await check(two.id)
    expect(shop.cryptobot.calls).toHaveLength(asked)
  })

  test('of CryptoBot is forgotten when it is of the same app, and when only the switch is moved', async () => {
    const { id } = await shop.buy({ provider: 'cryptobot' })
    await provider('providers/cryptobot', { token: '777:renewed' })
    await provider('providers/cryptobot', { enabled: false })
    await check(id)
    expect(shop.cryptobot.calls.at(-1)?.shop.secret).toBe('777:renewed')
    expect(kept()).toEqual([])
  })

  test('of the bot serves payments in Stars that it has taken', async () => {
    shop.w.s.telegram.identify = async () => ({ username: 'other_bot' })
    shop.w.change("update plans set price_stars = 100 where code = '1m'")
    const { id, externalId } = await shop.buy({ provider: 'stars' })
    await set('settings/bot', { token: '5555:token-of-another-bot-0123456789' })
    shop.stars.pay(externalId)
    await reconcilePayments(shop.w.s)
    expect(shop.payment(id).status).toBe('paid')
    expect(shop.stars.calls.at(-1)?.shop.secret).toBe('4242:token-of-the-bot')
  })
})

describe('provider B at another gateway, with the same merchant id', () => {
  const B = 'provider-b-settings'
  const SAME = { merchant_id: 'merchant' }
  const asked = () => shop.b.calls.at(-1)?.shop

  test('is asked about each payment where it was made', async () => {
    const before = await shop.buy({ provider: 'provider_b' })
    shop.w.clock.advance(1000)
    await provider(B, { ...SAME, secret: 'new', preset: 'cispay' })
    const after = await shop.buy({ provider: 'provider_b', plan: '3m' })
    await check(before.id)
    expect(asked()).toEqual({
      ...{ shopId: 'merchant', secret: 'secret of provider b' },
      ...{ preset: 'generic', apiUrl: 'https://gateway.test' },
    })
    await check(after.id)
    expect(asked()).toMatchObject({ secret: 'new', preset: 'cispay' })
  })

  test('is asked by the newest secret of the gateway, back and forth', async () => {
    const first = await shop.buy({ provider: 'provider_b' })
    shop.w.clock.advance(1000)
    await provider(B, { ...SAME, secret: 'cispay-1', preset: 'cispay' })
    const second = await shop.buy({ provider: 'provider_b', plan: '3m' })
    shop.w.clock.advance(1000)
    const back = { ...SAME, preset: 'generic', api_url: 'https://gateway.test' }
    await provider(B, { ...back, secret: 'generic-2' })
    await check(first.id)
    expect(asked()).toMatchObject({ preset: 'generic', secret: 'generic-2' })
    await check(second.id)
    expect(asked()).toMatchObject({ preset: 'cispay', secret: 'cispay-1' })
    await provider(B, { ...SAME, secret: 'cispay-2', preset: 'cispay' })
    await check(first.id)
    expect(asked()).toMatchObject({ preset: 'generic', secret: 'generic-2' })
    await check(second.id)
    expect(asked()).toMatchObject({ preset: 'cispay', secret: 'cispay-2' })
  })

  test('at another address is another one too', async () => {
    const before = await shop.buy({ provider: 'provider_b' })
    shop.w.clock.advance(1000)
    await provider(B, { ...SAME, secret: 'new', api_url: 'https://moved.test' })
    await check(before.id)
    expect(asked()).toMatchObject({
      secret: 'secret of provider b',
      apiUrl: 'https://gateway.test',
    })
  })

  test('with another secret only is the same one', async () => {
    const before = await shop.buy({ provider: 'provider_b' })
    shop.w.clock.advance(1000)
    await provider(B, { ...SAME, secret: 'new' })
    await check(before.id)
    expect(asked()).toMatchObject({ secret: 'new' })
    expect(kept()).toEqual([])
  })
})

test('no more than 100 are kept', async () => {
  for (let i = 0; i < 100; i++) {
    addFormerCredentials(shop.w, {
      ...{ provider: 'provider_b', replaced_at: '2026-02-18T00:00:00' },
      ...{ shop_id: `m${i}`, secret: 'x', preset: 'cispay', api_url: 'https://x.test' },
    })
  }
  await provider('provider-b-settings', { merchant_id: 'next', secret: 'y' })
  const secretOf = async (shopId: string) =>
    (await findShop(shop.w.s, { provider: 'provider_b', shopId }))?.secret
  expect(await Promise.all(['m0', 'm1', 'merchant', 'next'].map(secretOf))).toEqual([
    ...[undefined, 'x', 'secret of provider b', 'y'],
  ])
})

test('an address from the environment may end with slashes', async () => {
  closeShop(shop)
  shop = await createShop({ environment: { PROVIDER_B_API_URL: 'https://gateway.test/api//' } })
  const { id } = await shop.buy({ provider: 'provider_b' })
  await check(id)
  expect(shop.b.calls.map((call) => call.shop.apiUrl)).toEqual([
    ...['https://gateway.test/api', 'https://gateway.test/api'],
  ])
})
