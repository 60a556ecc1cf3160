/** Traffic bought in the bot: under a subscription, and by the buttons of messages that say how little is left. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { messageButtons } from '#src/domain/notify/messages.ts'
import { tellUsed } from '#src/domain/notify/quota-notices.ts'
import { NO_QUOTA } from '#src/domain/quotas.ts'
import { userOf } from '#test/support/fakes/telegram.ts'
import { addSubscription, addUser, nowOf, putSettings } from '#test/support/rows/records.ts'
import {
  type BotShop,
  type BotUser,
  createBotShop,
  ONE_PROVIDER,
} from '#test/support/worlds/bot-user.ts'
import { addPack, GB, USED_UP } from '#test/support/worlds/pack-shop.ts'

let shop: BotShop
let ada: BotUser
let uuid: string
const begin = async (environment: Record<string, string> = ONE_PROVIDER) => {
  shop = await createBotShop({ environment })
  addPack(shop.w)
  addUser(shop.w, 1, { telegram_id: 1 })
  uuid = addSubscription(shop.w, 1, USED_UP)
  ada = shop.user({ id: 1 })
}
afterEach(async () => {
  expect(shop.w.faults()).toEqual([])
  await shop.close()
})

const t = textsOf('en')
const PACK = '➕ 50 GB · ₽99'
const payment = () => shop.w.rows('select * from payments')[0]
const extra = () => shop.w.rows('select extra_bytes, limited_at from subscriptions')[0]
const openCard = async () => {
  await ada.say('/my')
  await ada.tap(ada.buttons()[0] as string)
}

describe('a subscription with a quota', () => {
  beforeEach(() => begin())

  test('has a button for each pack; from the tap to the traffic', async () => {
    await openCard()
    expect(ada.buttons()).toContain(PACK)
    const bill = await ada.tap(PACK)
    expect(bill.text).toContain('50 GB')
    expect(ada.buttons()).toEqual([t.pay('₽99'), t.paid, t.back])
    expect(payment()).toMatchObject({ kind: 'traffic', pack: '50gb', source: 'bot' })
    shop.a.pay(payment().external_id)
    const paid = await ada.tap(t.paid)
    expect(paid.text).toContain('50 GB of traffic added')
    expect(extra()).toEqual({ extra_bytes: 50 * GB, limited_at: null })
  })

  test('leads back to it, and two taps at once are one payment', async () => {
    await openCard()
    await ada.tapTwice(PACK)
    expect(shop.w.rows('select id from payments')).toHaveLength(1)
    await ada.tap(t.back)
    expect(ada.buttons()).toContain(PACK)
  })

  test.each([
    ['nothing is sold', () => putSettings(shop.w, { PAYMENTS_ENABLED: 'false' })],
    ['it is archived', () => shop.w.change('update traffic_packs set archived = 1')],
    ['it has no price there', () => shop.w.change('update traffic_packs set price = 0')],
    [
      'it has ended',
      () => shop.w.change("update subscriptions set expires_at = '2020-01-01T00:00:00'"),
    ],
    [
      'it has no quota',
      () =>
        shop.w.change(
          'update subscriptions set quota_bytes = null, used_bytes = 0, quota_notice = 0, limited_at = null',
        ),
    ],
  ])('has none where %s, and a button of before is out of date', async (_what, change) => {
    await openCard()
    const before = ada.keep()
    change()
    await ada.tap(PACK, before)
    expect(ada.notice()).toBe(t.stale)
    await openCard()
    expect(ada.buttons()).not.toContain(PACK)
    expect(payment()).toBeUndefined()
  })

  test('of somebody else is nobody’s to top up', async () => {
    await openCard()
    const thief = shop.user({ id: 2 })
    await thief.say('/start')
    await thief.tap(PACK, { ...ada.keep(), chat_id: 2 })
    expect(thief.notice()).toBe(t.stale)
    expect(payment()).toBeUndefined()
  })
})

describe('with several ways to pay', () => {
  beforeEach(() => begin({}))

  test('asks which', async () => {
    await openCard()
    await ada.tap(PACK)
    const stars = ada.buttons().find((label) => label.includes('60 ⭐')) as string
    await ada.tap(stars)
    expect(payment()).toMatchObject({ provider: 'stars', amount: 60, currency: 'XTR' })
  })

  /** Asks as Telegram does before it takes the Stars; what the bot says. */
  async function ask() {
    const pre_checkout_query = {
      ...{ id: 'q1', from: userOf(ada.person), currency: 'XTR', total_amount: 60 },
      invoice_payload: payment().id,
    }
    await shop.push({ pre_checkout_query } as never)
    const { ok, error_message } =
      shop.telegram.callsOf('answerPreCheckoutQuery').at(-1)?.params ?? {}
    return ok === true ? 'take it' : error_message
  }

  test('Stars are taken for what is offered as it was, and granted once', async () => {
    await openCard()
    await ada.tap(PACK)
    await ada.tap(ada.buttons().find((label) => label.includes('60 ⭐')) as string)
    expect(await ask()).toBe('take it')
    shop.w.change('update traffic_packs set gb = 49')
    expect(await ask()).toBe(t.starsChanged)
    shop.w.change('update traffic_packs set gb = 50, price_stars = 61')
    expect(await ask()).toBe(t.starsChanged)
    shop.w.change('update traffic_packs set price_stars = 60')
    for (const [unusable, usable] of [
      ['active = 0', 'active = 1'],
      ["disabled_at = '2026-01-01T00:00:00'", 'disabled_at = null'],
      ["expires_at = '2026-01-01T00:00:00'", "expires_at = '9999-12-31T23:59:59'"],
      ['quota_bytes = null, limited_at = null', `quota_bytes = ${10 * GB}`],
    ]) {
      shop.w.change(`update subscriptions set ${unusable}`)
      expect(await ask()).toBe(t.packUnusable)
      shop.w.change(`update subscriptions set ${usable}`)
      expect(await ask()).toBe('take it')
    }
    shop.w.change("update subscriptions set limited_at = '2026-01-01T00:00:00'")
    const successful_payment = shop.telegram.stars.pay(payment().pay_url, 1)
    for (let i = 0; i < 2; i++) {
      const from = { from: userOf({ id: 1 }), chat: { id: 1, type: 'private', first_name: 'A' } }
      await shop.push({ message: { message_id: 7, date: 1, ...from, successful_payment } } as never)
    }
    expect(extra()).toEqual({ extra_bytes: 50 * GB, limited_at: null })
  })
})

describe('a message of used traffic', () => {
  beforeEach(() => begin())
  const quota = { ...NO_QUOTA, quotaBytes: 10 * GB, usedBytes: 10 * GB }
  const buttons = async (lang = 'en') => {
    await shop.w.s.db.tx((tx) =>
      tellUsed(tx, shop.w.s, nowOf(shop.w), { uuid, quota, notice: 100 }),
    )
    const [row] = shop.w.rows("select kind, payload from outbox where kind = 'traffic'")
    const found = { kind: row.kind, payload: JSON.parse(row.payload) }
    return messageButtons(shop.w.s, found, { token: 'x', lang }, 'shop_bot')
  }

  test('has a button for each pack, which opens its sale in the bot', async () => {
    addPack(shop.w, 'stars', { label: 'More', price: 0, sort_order: 2 })
    const [money, stars] = await buttons()
    expect([money?.text, stars?.text]).toEqual([PACK, '➕ More · 60 ⭐'])
    const payload = new URL(money?.url as string).searchParams.get('start') as string
    expect(payload).toMatch(/^pack_[\w-]{22}_50gb$/)
    expect(payload).not.toContain(uuid)
    const bill = await ada.say(`/start ${payload}`)
    expect(bill.text).toContain('More traffic: 50 GB')
    expect(payment()).toMatchObject({ kind: 'traffic', pack: '50gb', renews_uuid: uuid })
  })

  test('has none while nothing is sold', async () => {
    putSettings(shop.w, { PAYMENTS_ENABLED: 'false' })
    expect(await buttons()).toEqual([])
  })

  test('with a link to what there is not is out of date', async () => {
    for (const link of ['pack_', 'pack_x', `pack_${'x'.repeat(22)}_50gb`]) {
      expect((await ada.say(`/start ${link}`)).text).not.toContain('More traffic')
    }
    expect(payment()).toBeUndefined()
  })
})
