import { afterEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { formatPrice } from '#src/lib/format.ts'
import { plainOfHtml } from '#src/lib/html.ts'
import {
  addNode,
  addSubscription,
  addUser,
  auditOf,
  putSettings,
} from '#test/support/rows/records.ts'
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

describe.each(['en', 'ru'] as const)('in %s', (lang) => {
  const texts = textsOf(lang)
  const price = formatPrice(199, 'RUB', lang)

  test('a customer buys on one of two servers, in one message that changes, and has access', async () => {
    await open()
    const name = '<Ньюарк & "Co"> 🚀'
    addNode(shop.w, 'us1', { label: name })
    shop.w.change("update plans set label = '<30> & days' where code = '1m'")
    const user = shop.user({
      id: 1,
      first_name: '<b>Ада & "Co"</b> 🌍',
      language_code: `${lang}-XX`,
    })
    const hello = await user.say('/start')
    expect(plainOfHtml(hello.text ?? '')).toBe(
      plainOfHtml(texts.hello('<b>Ада & "Co"</b> 🌍', 'Subpanel')),
    )
    expect(plainOfHtml(hello.text ?? '')).toContain('<b>Ада & "Co"</b> 🌍')
    await user.tap(texts.buy)
    expect(user.buttons()).toEqual(['Local', name, texts.back])
    await user.tap(name)
    expect(user.last().text).toBe(texts.choosePlan(name))
    const bill = await user.tap(`<30> & days · ${price}`)
    const [payment] = payments()
    expect(payment).toMatchObject({
      tg_id: 1,
      node: 'us1',
      plan: '1m',
      provider: 'provider_a',
      amount: 199,
      currency: 'RUB',
      status: 'pending',
      source: 'bot',
      renews_uuid: null,
    })
    const plain = plainOfHtml(bill.text ?? '')
    for (const part of [name, '<30> & days', price, 'YooKassa']) expect(plain).toContain(part)
    for (const page of ['offer', 'privacy']) {
      expect(bill.text).toContain(`<a href="https://site.test/${page}?lang=${lang}">`)
    }
    expect(user.buttons()).toEqual([texts.pay(price), texts.paid, texts.back])
    const url = bill.reply_markup?.inline_keyboard[0]?.[0]
    expect(url).toMatchObject({ url: payment.pay_url })
    await user.tap(texts.paid)
    expect(user.notice()).toBe(texts.notPaidYet)
    shop.a.pay(payment.external_id)
    shop.w.clock.advance(5000)
    await user.tap(texts.paid)
    const [granted] = sold()
    expect(granted).toMatchObject({ tg_id: 1, node: 'us1', plan: '1m', payment_id: payment.id })
    const [done, message] = user.messages()
    expect(done?.message_id).toBe(hello.message_id)
    expect(done?.text).toBe(
      texts.paidDone({
        node: name,
        plan: '<30> & days',
        until: '31.03.2026',
        state: 'active',
        left: '',
      }),
    )
    // The grant's own message comes too.
    expect(message?.text).toContain(`https://sub.test/sub/`)
    expect(user.messages()).toHaveLength(2)
    expect(auditOf(shop.w)).toEqual(['payment.create', 'payment.grant'])
  })

  test('what can’t be sold is said, with support', async () => {
    await open()
    putSettings(shop.w, { PAYMENTS_ENABLED: 'false', SUPPORT_CONTACT: '@help <1>' })
    const user = shop.user({ id: 1, language_code: lang })
    const closed = await user.say('/buy')
    expect(closed.text).toBe(`${texts.closed}\n\n${texts.support('@help <1>')}`)
    putSettings(shop.w, { PAYMENTS_ENABLED: 'true', SUPPORT_CONTACT: '' })
    shop.w.change('update nodes set enabled = 0')
    expect((await user.say('/start buy_1m')).text).toBe(texts.closed)
    shop.w.change('update nodes set enabled = 1')
    shop.w.change('update plans set price = 0')
    expect((await user.say('/buy')).text).toBe(texts.closed)
  })

  test('a banned user is sent to support, whatever they do', async () => {
    await open()
    addUser(shop.w, 1, { banned_at: '2026-01-01T00:00:00', lang })
    putSettings(shop.w, { SUPPORT_EMAIL: 'help@shop.test' })
    const user = shop.user({ id: 1 })
    const said = `${texts.banned}\n\n${texts.email('help@shop.test')}`
    for (const text of ['/start', '/buy', '/start gift_ABCDEFGHIJKLMNOP', 'hi']) {
      expect((await user.say(text)).text).toBe(said)
    }
    expect((await user.tapData('buy')).text).toBe(said)
    expect(payments()).toEqual([])
    expect(shop.telegram.callsOf('answerCallbackQuery')).toHaveLength(1)
  })
})

describe('the steps', () => {
  test('with several ways to pay the way is asked, each with its price', async () => {
    const user = await open({})
    shop.w.change("update plans set price_stars = 100 where code = '1m'")
    await user.say('/buy')
    await user.tap(MONTH)
    expect(user.buttons()).toEqual([
      `YooKassa · ${formatPrice(199, 'RUB', 'en')}`,
      `Payment gateway · ${formatPrice(199, 'RUB', 'en')}`,
      'Telegram Stars · 100 ⭐',
      `CryptoBot · ${formatPrice(199, 'RUB', 'en')}`,
      t.back,
    ])
    await user.tap('Telegram Stars · 100 ⭐')
    expect(payments()[0]).toMatchObject({ provider: 'stars', amount: 100, currency: 'XTR' })
    expect(user.buttons()[0]).toBe(t.pay('100 ⭐'))
    await user.tap(t.back)
    await user.tap(t.back)
    expect(user.buttons()).toEqual([t.buy, t.my, t.help, t.cabinet])
    expect(user.messages()).toHaveLength(1)
  })

  test('a plan with price 0 is not offered, one for Stars alone offers Stars alone', async () => {
    const user = await open({})
    shop.w.change("update plans set price = 0 where code in ('1m', '3m')")
    shop.w.change("update plans set price_stars = 70 where code = '3m'")
    await user.say('/buy')
    expect(user.buttons()).not.toContain('30 days')
    expect(user.buttons()[0]).toBe('90 days · 70 ⭐')
    expect(user.buttons()).toHaveLength(4)
    await user.tap('90 days · 70 ⭐')
    expect(payments()).toMatchObject([{ provider: 'stars', plan: '3m', amount: 70 }])
    putSettings(shop.w, { STARS_ENABLED: 'false' })
    await user.say('/buy')
    expect(user.buttons()).toHaveLength(3)
  })

  test('/start buy_<plan> goes on at the plan', async () => {
    const user = await open()
    await user.say('/start buy_3m')
    expect(payments()).toMatchObject([{ plan: '3m', node: 'de1' }])
    addNode(shop.w, 'nl1')
    await user.say('/start buy_6m')
    expect(user.buttons()).toEqual(['Local', 'Label of nl1', t.back])
    await user.tap('Label of nl1')
    expect(payments().at(-1)).toMatchObject({ plan: '6m', node: 'nl1' })
    shop.w.change("update plans set archived = 1 where code = '12m'")
    for (const gone of ['12m', '<b>', 'x'.repeat(60)]) {
      await user.say(`/start buy_${gone}`)
      expect(user.messages().at(-2)?.text).toBe(t.planGone)
      expect(user.last().text).toBe(t.chooseNode)
    }
    expect(payments()).toHaveLength(2)
  })

  test('buttons work after a restart, and say when they are out of date', async () => {
    const user = await open({})
    addNode(shop.w, 'nl1')
    await user.say('/buy')
    const nodes = user.keep()
    await user.tap('Label of nl1')
    const plans = user.keep()
    await user.tap(MONTH)
    const ways = user.keep()
    shop.restart()
    await user.tap(`CryptoBot · ${formatPrice(199, 'RUB', 'en')}`, ways)
    expect(payments()).toMatchObject([{ provider: 'cryptobot', node: 'nl1' }])
    putSettings(shop.w, { CRYPTOBOT_ENABLED: 'false' })
    shop.w.change("update plans set archived = 1 where code = '1m'")
    shop.w.change("delete from nodes where code = 'nl1'")
    addNode(shop.w, 'nl2')
    const stale = async (message: typeof nodes, button: string) => {
      await user.tap(button, message)
      expect(user.notice()).toBe(t.stale)
      expect(user.buttons()).toEqual([t.buy, t.my, t.help, t.cabinet])
    }
    await stale(nodes, 'Label of nl1')
    await stale(plans, MONTH)
    await stale(ways, `CryptoBot · ${formatPrice(199, 'RUB', 'en')}`)
    for (const data of [
      'b',
      'b:x:y:z',
      'r:',
      'paid',
      'paid:nope',
      'what',
      '',
      'lang:xx',
      'help:xx',
      '__proto__',
      'constructor:1',
    ]) {
      await user.tapData(data)
      expect(user.notice()).toBe(t.stale)
    }
    expect(payments()).toHaveLength(1)
  })

  test('a button whose data counts is no longer than 64 bytes with the longest codes', async () => {
    const user = await open({})
    const node = addNode(shop.w, 'n'.repeat(32), { label: 'Far' })
    shop.w.change('update plans set code = ?, price_stars = 9 where code = ?', 'p'.repeat(32), '1m')
    addUser(shop.w, 1)
    const uuid = addSubscription(shop.w, 1, { node, plan: 'p'.repeat(32) })
    await user.say('/buy')
    await user.tap('Far')
    await user.tap(MONTH)
    await user.tap(`CryptoBot · ${formatPrice(199, 'RUB', 'en')}`)
    await user.say(`/start renew_${uuid}`)
    await user.tap(MONTH)
    await user.tap(`CryptoBot · ${formatPrice(199, 'RUB', 'en')}`)
    expect(payments()).toMatchObject([
      { provider: 'cryptobot', node, plan: 'p'.repeat(32), renews_uuid: null },
      { provider: 'cryptobot', node, plan: 'p'.repeat(32), renews_uuid: uuid },
    ])
    // The Bot API on loopback refuses longer ones; this is how long they were.
    const lengths = shop.telegram.calls
      .flatMap(({ params }) => params.reply_markup?.inline_keyboard.flat() ?? [])
      .map((button) => Buffer.byteLength(button.callback_data ?? ''))
    expect(Math.max(...lengths)).toBe('r:'.length + 22 + ':'.length + 8 + ':provider_a'.length)
  })

  test('what changes between a tap and the payment is said, and nothing is made', async () => {
    const user = await open()
    await user.say('/buy')
    const plans = user.keep()
    shop.a.creations.push({ outcome: 'refused', reason: 'no' })
    await user.tap(MONTH)
    expect(user.notice()).toBe(t.providerRefused)
    shop.a.creations.push({ outcome: 'unknown', reason: 'timeout', retryAfterMs: null })
    await user.tap(MONTH)
    expect(user.notice()).toBe(t.noAnswer)
    putSettings(shop.w, { PAYMENTS_ENABLED: 'false' })
    expect((await user.tap(MONTH, plans)).text).toBe(t.closed)
    expect(payments().map(({ status }) => status)).toEqual(['failed', 'pending'])
  })
})
