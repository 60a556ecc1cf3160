import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DatabaseFailure } from '#db/engine/failures.ts'
import { textsOf } from '#src/bot/texts.ts'
import type { SuccessfulPayment } from '#test/support/fakes/stars.ts'
import { userOf } from '#test/support/fakes/telegram.ts'
import { addUser, auditOf, putSettings } from '#test/support/rows/records.ts'
import { type BotShop, type BotUser, createBotShop } from '#test/support/worlds/bot-user.ts'

const t = textsOf('en')
const ALONE = {
  PROVIDER_A_ENABLED: 'false',
  PROVIDER_B_ENABLED: 'false',
  CRYPTOBOT_ENABLED: 'false',
}

let shop: BotShop
let ada: BotUser
beforeEach(async () => {
  shop = await createBotShop({ environment: ALONE })
  shop.w.change("update plans set price_stars = 100 where code = '1m'")
  ada = shop.user({ id: 1 })
})
afterEach(() => shop.close())

const payment = () => shop.w.rows('select * from payments')[0]
const sold = () => shop.w.rows("select * from subscriptions where source = 'payment'")

/** Buys a month; the link of the bill. */
async function order() {
  await ada.say('/start buy_1m')
  return ada.tap(t.pay('100 ⭐')).then(() => payment().pay_url as string)
}

/** Asks as Telegram does before it takes the Stars; what the bot says. */
async function ask(more: object = {}, from = ada.person) {
  const pre_checkout_query = {
    id: 'q1',
    from: userOf(from),
    currency: 'XTR',
    total_amount: 100,
    invoice_payload: payment()?.id ?? 'nope',
    ...more,
  }
  await shop.push({ pre_checkout_query } as never)
  const { ok, error_message } = shop.telegram.callsOf('answerPreCheckoutQuery').at(-1)?.params ?? {}
  return ok === true ? 'take it' : error_message
}

/** Tells the bot of a charge, as a message of the payer. */
const tell = (content: object, id = 1) =>
  shop.push({
    message: {
      message_id: 77,
      date: 1,
      from: userOf({ id }),
      chat: { id, type: 'private', first_name: 'Ada' },
      ...content,
    },
  } as never)
const tellPaid = (successful_payment: Partial<SuccessfulPayment>) => tell({ successful_payment })

test('a bill whose Stars went back is paid no more, and what is paid all the same is for an admin to see', async () => {
  const link = await order()
  const { id } = payment()
  const first = shop.telegram.stars.pay(link, 1)
  shop.w.change("update plans set code = 'gone' where code = '1m'")
  await tellPaid(first)
  expect(payment().review_reason).toBe('paid, but its plan is gone')
  const marked = await shop.w.admin(`/admin/api/payments/${id}/refunded`, { body: {} })
  expect(marked.status).toBe(200)
  shop.w.change("update plans set code = '1m' where code = 'gone'")
  expect(await ask()).toBe(t.starsNotPending)
  const second = shop.telegram.stars.pay(link, 1)
  await tellPaid(second)
  expect(payment()).toMatchObject({
    status: 'pending',
    external_id: first.telegram_payment_charge_id,
  })
  expect(shop.w.rows('select external_id from orphan_payments')).toEqual([
    { external_id: second.telegram_payment_charge_id },
  ])
  expect(sold()).toEqual([])
})

test('from the tap to access: asked, taken, granted once, told of once', async () => {
  const link = await order()
  expect(await ask()).toBe('take it')
  const charge = shop.telegram.stars.pay(link, 1)
  await tellPaid(charge)
  // Telegram delivers an update again when the bot did not confirm it.
  await tellPaid(charge)
  expect(sold()).toMatchObject([{ tg_id: 1, payment_id: payment().id }])
  expect(payment()).toMatchObject({
    status: 'paid',
    external_id: charge.telegram_payment_charge_id,
  })
  const texts = ada.messages().map(({ text }) => text)
  expect(texts).toHaveLength(2)
  expect(texts[1]).toContain('https://sub.test/sub/')
  expect(auditOf(shop.w)).toEqual(['payment.create', 'payment.grant'])
  await ada.tap(t.paid)
  expect(ada.messages()[0]?.text).toContain('Paid. Thank you!')
  expect(await ask()).toBe(t.starsNotPending)
})

test('"I have paid" finds the Stars when the bot never heard of them', async () => {
  shop.telegram.stars.pay(await order(), 1)
  await ada.tap(t.paid)
  expect(sold()).toHaveLength(1)
})

describe('Telegram is told not to take the Stars', () => {
  test.each<[string, () => void, object?]>([
    ['for a payment that nobody knows', () => {}, { invoice_payload: 'nope' }],
    ['for another amount', () => {}, { total_amount: 1 }],
    ['in another currency', () => {}, { currency: 'RUB' }],
    ['for one that failed', () => shop.w.change("update payments set status = 'failed'")],
    ['for one of a deleted user', () => shop.w.change('update payments set deleted_user = 1')],
    ['for one in review', () => shop.w.change("update payments set review_reason = 'x'")],
    [
      'for one of another provider',
      () => shop.w.change("update payments set provider = 'provider_a'"),
    ],
  ])('%s', async (_, change, more = {}) => {
    await order()
    change()
    const before = shop.w.dump()
    expect(await ask(more)).toBe(t.starsNotPending)
    expect(shop.w.dump()).toBe(before)
  })

  test.each<[string, () => void]>([
    ['after the price has changed', () => shop.w.change('update plans set price_stars = 101')],
    ['after the plan left Stars', () => shop.w.change('update plans set price_stars = null')],
    ['after Stars were switched off', () => putSettings(shop.w, { STARS_ENABLED: 'false' })],
    ['when the plan is gone', () => shop.w.change("delete from plans where code = '1m'")],
    ['when the node is gone', () => shop.w.change("update payments set node = 'gone'")],
  ])('%s', async (_, change) => {
    await order()
    change()
    expect(await ask()).toBe(t.starsChanged)
  })

  test('by a banned user, and for one, each in the payer’s language', async () => {
    await order()
    addUser(shop.w, 2, { banned_at: '2026-01-01T00:00:00', lang: 'ru' })
    expect(await ask({}, { id: 2 })).toBe(textsOf('ru').banned)
    shop.w.change("update users set banned_at = '2026-01-01T00:00:00' where tg_id = 1")
    expect(await ask()).toBe(t.banned)
    expect(await ask({}, { id: 3, language_code: 'ru' })).toBe(textsOf('ru').banned)
  })

  test('but a friend may pay, and while payments are off what was begun may be paid', async () => {
    const link = await order()
    putSettings(shop.w, { PAYMENTS_ENABLED: 'false' })
    expect(await ask({}, { id: 9 })).toBe('take it')
    await tell({ successful_payment: shop.telegram.stars.pay(link, 9) }, 9)
    expect(sold()).toMatchObject([{ tg_id: 1 }])
  })
})

test('Stars for a payment that nobody knows, or another amount, are kept for an admin', async () => {
  const link = await order()
  const charge = shop.telegram.stars.pay(link, 1)
  await tellPaid({ ...charge, total_amount: 5 })
  expect(payment()).toMatchObject({ status: 'pending', review_reason: 'paid with another amount' })
  expect(ada.last().text).toBe(t.inReview)
  await tellPaid({ ...charge, invoice_payload: 'nope', telegram_payment_charge_id: 'c2' })
  expect(
    shop.w.rows('select provider, external_id, amount, currency from orphan_payments'),
  ).toEqual([{ provider: 'stars', external_id: 'c2', amount: '100', currency: 'XTR' }])
  expect(sold()).toEqual([])
})

test('Stars that went back mark their payment, those of nobody nothing', async () => {
  const charge = shop.telegram.stars.pay(await order(), 1)
  await tellPaid(charge)
  const { provider_payment_charge_id: _, ...refund } = charge
  await tell({ refunded_payment: refund })
  expect(payment()).toMatchObject({ status: 'paid', review_reason: 'refunded at the provider' })
  const before = shop.w.dump()
  await tell({ refunded_payment: { ...refund, invoice_payload: 'nope' } })
  expect(shop.w.dump()).toBe(before)
})

test.each(['busy', 'full'] as const)(
  'Stars that came or went back are taken up as soon as the database is no longer %s: nobody tells of them again',
  async (kind) => {
    const link = await order()
    const charges = [shop.telegram.stars.pay(link, 1), shop.telegram.stars.pay(link, 9)] as const
    const { db } = shop.w.s
    const { tx } = db
    const during = async (trouble: () => Promise<unknown>) => {
      let failures = 2
      db.tx = (work) =>
        failures-- > 0 ? Promise.reject(new DatabaseFailure(kind, 'not now')) : tx(work)
      await trouble()
      db.tx = tx
    }
    await during(() => tellPaid(charges[0]))
    expect(payment()).toMatchObject({ external_id: charges[0].telegram_payment_charge_id })
    await during(() => tell({ successful_payment: charges[1] }, 9))
    expect(shop.w.rows('select external_id from orphan_payments')).toEqual([
      { external_id: charges[1].telegram_payment_charge_id },
    ])
    const { provider_payment_charge_id: _, ...refund } = charges[0]
    await during(() => tell({ refunded_payment: refund }))
    expect(payment()).toMatchObject({ status: 'paid', review_reason: 'refunded at the provider' })
    expect(sold()).toHaveLength(1)
  },
)

test('an answer that comes too late is no fault', async () => {
  await order()
  shop.bot.api.config.use(async (call, method, payload, signal) =>
    method === 'answerPreCheckoutQuery'
      ? { ok: false, error_code: 400, description: 'Bad Request: query is too old' }
      : call(method, payload, signal),
  )
  await ask()
  expect(payment().status).toBe('pending')
})

test('a bill that two have paid at once is granted once, and the second charge is kept for an admin', async () => {
  const link = await order()
  expect([await ask(), await ask({ id: 'q2' }, { id: 9 })]).toEqual(['take it', 'take it'])
  const [first, second] = [shop.telegram.stars.pay(link, 1), shop.telegram.stars.pay(link, 9)]
  await tellPaid(first)
  await tell({ successful_payment: second }, 9)
  await tell({ successful_payment: second }, 9)
  await tellPaid(first)
  expect(sold()).toHaveLength(1)
  expect(payment()).toMatchObject({ external_id: first.telegram_payment_charge_id })
  const orphans = () => shop.w.rows('select external_id from orphan_payments')
  expect(orphans()).toEqual([{ external_id: second.telegram_payment_charge_id }])
  const { provider_payment_charge_id: _, ...refund } = second
  await tell({ refunded_payment: refund }, 9)
  expect(payment()).toMatchObject({ status: 'paid', refunded_at: null, review_reason: null })
})
