import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startFakeCryptobot } from '#test/support/fakes/cryptobot.ts'
import { startFakeProviderB } from '#test/support/fakes/provider-b.ts'
import { startFakeTelegram } from '#test/support/fakes/telegram.ts'
import { startFakeYookassa } from '#test/support/fakes/yookassa.ts'
import { addUser } from '#test/support/rows/records.ts'
import { SHOP_ENVIRONMENT } from '#test/support/worlds/shop.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const BOT = '4242:AAE-token-of-the-bot'
const APP = '777:token-of-the-app'
const merchant = { merchantId: 'merchant', secret: 'secret-of-provider-b' }

const yookassa = await startFakeYookassa({ '100500': 'live_a' })
const telegram = await startFakeTelegram({ [BOT]: 'shop_bot' })
const cryptobot = await startFakeCryptobot([APP])
const platega = await startFakeProviderB('platega', merchant)
const cispay = await startFakeProviderB('cispay', merchant)
const generic = await startFakeProviderB('generic', merchant)
const fakes = [yookassa, telegram, cryptobot, platega, cispay, generic]
afterAll(() => Promise.all(fakes.map((fake) => fake.close())))
beforeEach(() => {
  for (const fake of fakes) fake.reset()
})

interface Notice {
  path: string
  headers?: Record<string, string>
  body: string
}

interface Case {
  name: string
  provider: string
  environment?: Record<string, string>
  /** Pays, and gives what the gateway sends; null: it sends nothing. */
  pay(externalId: string, payUrl: string): Notice | null
}

const b = (fake: typeof platega, route: string): Case => ({
  name: fake.preset,
  provider: 'provider_b',
  environment: { PROVIDER_B_PRESET: fake.preset, PROVIDER_B_API_URL: fake.url },
  pay(externalId) {
    fake.pay(externalId)
    return { path: route, ...fake.notice(externalId) }
  },
})

const CASES: Case[] = [
  {
    name: 'YooKassa',
    provider: 'provider_a',
    pay(externalId) {
      yookassa.pay(externalId)
      const body = JSON.stringify(yookassa.notice('payment.succeeded', externalId))
      return { path: 'provider_a', body }
    },
  },
  b(platega, 'platega'),
  b(cispay, 'provider_b'),
  b(generic, 'provider_b'),
  {
    name: 'CryptoBot',
    provider: 'cryptobot',
    pay(externalId) {
      cryptobot.pay(externalId)
      return { path: 'cryptobot', ...cryptobot.update(externalId) }
    },
  },
  {
    name: 'Stars',
    provider: 'stars',
    pay(_externalId, payUrl) {
      telegram.stars.pay(payUrl, 1)
      return null
    },
  },
]

const ENVIRONMENT = {
  ...SHOP_ENVIRONMENT,
  PROVIDER_A_API_URL: yookassa.url,
  PROVIDER_B_SECRET: merchant.secret,
  TELEGRAM_API_URL: telegram.url,
  BOT_TOKEN: BOT,
  CRYPTOBOT_API_URL: cryptobot.url,
  CRYPTOBOT_TOKEN: APP,
}

async function buy(w: World, provider: string) {
  w.change("update plans set price_stars = 150 where code = '1m'")
  const token = addUser(w, 1, { username: 'buyer' })
  const body = { node: 'de1', plan: '1m', provider }
  const answer = await w.call(`/api/cabinet/${token}/payments`, { body })
  expect(answer.status, answer.text).toBe(200)
  const read = () => w.rows('select * from payments where id = ?', answer.json.id)[0]
  return { id: answer.json.id, payUrl: answer.json.pay_url, read }
}
const sold = (w: World) => w.rows("select * from subscriptions where source = 'payment'")

describe.each(CASES)('$name', ({ provider, environment, pay }) => {
  const inWorld = async (run: (w: World) => Promise<void>) => {
    const w = await createWorld({ environment: { ...ENVIRONMENT, ...environment } })
    try {
      await run(w)
      await w.s.background.idle()
    } finally {
      w.close()
    }
  }

  test('sells: its link is given, its money is seen, its notice grants once', () =>
    inWorld(async (w) => {
      const { id, payUrl, read } = await buy(w, provider)
      expect(payUrl).toMatch(/^https:\/\//)
      expect(read().external_id).not.toBe('')
      const before = await w.admin(`/admin/api/payments/${id}/check`, { method: 'POST' })
      expect([before.status, read().status]).toEqual([200, 'pending'])
      w.clock.advance(60_000)
      const notice = pay(read().external_id, payUrl)
      for (let i = 0; i < 2; i++) {
        if (notice) {
          const { path, headers = {}, body: raw } = notice
          const answer = await w.call(`/payments/webhook/${path}`, { method: 'POST', headers, raw })
          expect([answer.status, answer.json]).toEqual([200, { ok: true }])
        } else {
          await w.admin(`/admin/api/payments/${id}/check`, { method: 'POST' })
        }
      }
      expect(read()).toMatchObject({ status: 'paid', review_reason: null })
      expect(sold(w)).toHaveLength(1)
    }))

  test('sells without its notice: a check is enough', () =>
    inWorld(async (w) => {
      const { id, payUrl, read } = await buy(w, provider)
      pay(read().external_id, payUrl)
      await w.admin(`/admin/api/payments/${id}/check`, { method: 'POST' })
      expect(read()).toMatchObject({ status: 'paid', review_reason: null })
      expect(sold(w)).toHaveLength(1)
    }))

  test('that is down when it is asked neither pays nor fails', () =>
    inWorld(async (w) => {
      const { id, payUrl, read } = await buy(w, provider)
      pay(read().external_id, payUrl)
      for (const fake of fakes) fake.mood = 'html'
      await w.admin(`/admin/api/payments/${id}/check`, { method: 'POST' })
      expect(read()).toMatchObject({ status: 'pending', failed_reason: null })
      expect(sold(w)).toEqual([])
    }))
})
