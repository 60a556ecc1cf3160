/** Limits of buying in the bot, and taps at once. */
import { afterEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { formatPrice } from '#src/lib/format.ts'
import { addNode } from '#test/support/rows/records.ts'
import {
  type BotShop,
  type BotUser,
  createBotShop,
  monthIn,
  ONE_PROVIDER,
} from '#test/support/worlds/bot-user.ts'

let shop: BotShop

afterEach(() => shop.close())

async function open(environment: Record<string, string> = ONE_PROVIDER): Promise<BotUser> {
  shop = await createBotShop({ environment })
  return shop.user({ id: 1, username: 'ada' })
}

const payments = () => shop.w.rows('select * from payments order by seq')

const sold = () => shop.w.rows("select * from subscriptions where source = 'payment'")

const t = textsOf('en')

const MONTH = monthIn('en')

describe('limits and races', () => {
  test('the sixth payment in ten minutes is refused with the time to wait', async () => {
    const user = await open()
    for (let at = 1; at <= 5; at++) {
      addNode(shop.w, `n${at}`)
      await user.say('/buy')
      await user.tap(`Label of n${at}`)
      await user.tap(MONTH)
    }
    expect(payments()).toHaveLength(5)
    await user.say('/buy')
    await user.tap('Local')
    const before = payments()
    await user.tap(MONTH)
    expect(user.notice()).toBe(t.tooManyPayments(10))
    expect(payments()).toEqual(before)
    shop.w.clock.advance(600_000)
    await user.tap(MONTH)
    expect(payments()).toHaveLength(6)
  })

  test('taps while the provider wants to be left alone are answered without asking it', async () => {
    const user = await open()
    shop.a.creations.push({ outcome: 'unknown', reason: 'HTTP 429', retryAfterMs: 60_000 })
    await user.say('/buy')
    for (let i = 0; i < 15; i++) {
      await user.tap(MONTH)
      expect(user.notice()).toBe(t.noAnswer)
    }
    expect(shop.a.calls).toHaveLength(1)
    shop.w.clock.advance(60_000)
    await user.tap(MONTH)
    expect([shop.a.calls.length, payments().length]).toEqual([2, 1])
    expect(payments()).toMatchObject([{ external_id: 'yoo-1' }])
  })

  test.each(['YooKassa', 'CryptoBot'])('two taps at once make one payment at %s', async (label) => {
    const user = await open({ PROVIDER_B_ENABLED: 'false', STARS_ENABLED: 'false' })
    await user.say('/buy')
    await user.tap(MONTH)
    await user.tapTwice(`${label} · ${formatPrice(199, 'RUB', 'en')}`)
    expect(payments()).toHaveLength(1)
    expect(user.messages()).toHaveLength(1)
    expect(shop.telegram.callsOf('answerCallbackQuery')).toHaveLength(3)
    await user.tap(t.back)
    await user.tap(MONTH)
    await user.tap(`${label} · ${formatPrice(199, 'RUB', 'en')}`)
    expect(payments()).toHaveLength(1)
  })

  test('two taps on "I have paid" grant once', async () => {
    const user = await open()
    const { external_id } = await shop.order(user)
    const bill = user.keep()
    shop.a.pay(external_id)
    await user.tapTwice(t.paid)
    await user.tap(t.paid, bill)
    expect(sold()).toHaveLength(1)
    expect(user.messages()[0]?.text).toContain('Thank you')
  })
})
