/** A world that sells: four providers in memory, a customer, and what tests ask of their payments. */
import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import { createFakeGateways, type FakeGateways } from '#test/support/fakes/gateway.ts'
import { addUser } from '#test/support/rows/records.ts'
import type { Answer } from './answer.ts'
import { expectDecent } from './scenario.ts'
import { type CallOptions, createWorld, type World, type WorldOptions } from './world.ts'

export const B_SECRET = 'secret of provider b'

/** All providers configured and switched on. */
export const SHOP_ENVIRONMENT = {
  PAYMENTS_ENABLED: 'true',
  PROVIDER_A_SHOP_ID: '100500',
  PROVIDER_A_SECRET_KEY: 'live_a',
  PROVIDER_A_ENABLED: 'true',
  PROVIDER_B_PRESET: 'generic',
  PROVIDER_B_MERCHANT_ID: 'merchant',
  PROVIDER_B_SECRET: B_SECRET,
  PROVIDER_B_API_URL: 'https://gateway.test',
  PROVIDER_B_ENABLED: 'true',
  BOT_TOKEN: '4242:token-of-the-bot',
  BOT_USERNAME: 'shop_bot',
  STARS_ENABLED: 'true',
  CRYPTOBOT_TOKEN: '777:token-of-the-app',
  CRYPTOBOT_ENABLED: 'true',
}

export interface Shop extends FakeGateways {
  w: World
  /** The link token of user 1. */
  token: string
  /** Buys through the cabinet of user 1, a month on the local node by provider A unless told otherwise. */
  buy(order?: Record<string, unknown>): Promise<{ id: string; externalId: string; payUrl: string }>
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  payment(id: string): any
  /** Subscriptions that came from payments. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  sold(): any[]
  /** A notice of provider A. */
  noticeA(id: string, more?: { event?: string; externalId?: string }): ReturnType<World['call']>
  /** A signed notice of provider B. */
  noticeB(body: unknown, options?: CallOptions): ReturnType<World['call']>
  /** Posts to a webhook, expects a decent answer, and waits for what follows it. */
  send(webhook: string, options: CallOptions): Promise<Answer>
}

export const signB = (body: string, secret = B_SECRET): string =>
  createHmac('sha256', secret).update(body).digest('hex')

export async function createShop(options: WorldOptions = {}): Promise<Shop> {
  const fakes = createFakeGateways()
  const environment = { ...SHOP_ENVIRONMENT, ...options.environment }
  const w = await createWorld({ gateways: fakes.gateways, ...options, environment })
  const token = addUser(w, 1, { username: 'buyer' })
  const payment = (id: string) => w.rows('select * from payments where id = ?', id)[0]
  return {
    ...fakes,
    w,
    token,
    payment,
    sold: () => w.rows("select * from subscriptions where source = 'payment' order by seq"),
    async buy(order = {}) {
      const body = { node: 'de1', plan: '1m', provider: 'provider_a', ...order }
      const answer = await w.call(`/api/cabinet/${token}/payments`, { body })
      if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`)
      const { id, pay_url: payUrl } = answer.json
      return { id, payUrl, externalId: payment(id).external_id }
    },
    noticeA(id, { event = 'payment.succeeded', externalId = payment(id)?.external_id } = {}) {
      const object = { id: externalId, status: 'succeeded', metadata: { payment_id: id } }
      return w.call('/payments/webhook/provider_a', {
        body: { type: 'notification', event, object },
      })
    },
    noticeB(body, more = {}) {
      const raw = typeof body === 'string' ? body : JSON.stringify(body)
      const headers = { 'x-signature': signB(raw), ...more.headers }
      return w.call('/payments/webhook/provider_b', { method: 'POST', raw, ...more, headers })
    },
    async send(webhook, options) {
      const answer = await w.call(`/payments/webhook/${webhook}`, { method: 'POST', ...options })
      expectDecent(webhook, answer)
      await w.s.background.idle()
      return answer
    },
  }
}

/** What holds after every test of a shop: no fault was logged, and the books balance. */
export function closeShop({ w }: Shop): void {
  expect(w.fatal).toEqual([])
  expect(w.log.filter((line) => / error /.test(line))).toEqual([])
  expect(w.faults()).toEqual([])
  w.close()
}
