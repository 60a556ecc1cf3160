import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { plainOfHtml } from '#src/lib/html.ts'
import { stringsOf } from '#src/web/strings.ts'
import { modulesOf, readPng } from '#test/support/png.ts'
import { decode } from '#test/support/qr-decoder.ts'
import { addNode, addUser, auditOf, nowOf, putSettings } from '#test/support/rows/records.ts'
import { type BotShop, createBotShop } from '#test/support/worlds/bot-user.ts'

let shop: BotShop
let code: string
beforeEach(async () => {
  shop = await createBotShop()
  addNode(shop.w, 'nl1', { label: '<NL> & "1" 🇳🇱' })
  const body = { node: 'nl1', plan: '1m', expires_in_days: 10 }
  code = (await shop.w.admin('/admin/api/gift-codes', { body })).json.code
  shop.w.change('delete from audit_log')
})
afterEach(() => shop.close())

const gifts = () => shop.w.rows("select * from subscriptions where source = 'gift'")
const tokenOf = (tgId: number) =>
  shop.w.rows('select token from users where tg_id = ?', tgId)[0].token

describe.each(['en', 'ru'] as const)('in %s', (lang) => {
  const t = textsOf(lang)

  test('a link shows the gift, a tap takes it, and link and QR code come', async () => {
    const ada = shop.user({ id: 1, language_code: lang })
    const offer = await ada.say(`/start gift_${code}`)
    expect(plainOfHtml(offer.text ?? '')).toContain('<NL> & "1" 🇳🇱')
    expect(offer.text).toBe(t.gift('<NL> & "1" 🇳🇱', '30 days'))
    expect(gifts()).toEqual([])
    await ada.tap(t.giftTake)
    expect(gifts()).toMatchObject([{ tg_id: 1, node: 'nl1', plan: '1m', gift_code: code }])
    const [text, photo] = ada.messages()
    const link = `https://sub.test/sub/${tokenOf(1)}`
    expect(text?.text).toContain(link)
    expect(text?.text).toContain('31.03.2026')
    expect(photo?.caption).toBe(t.qrCaption)
    expect(decode(modulesOf(readPng(photo?.photo as Uint8Array), 8))).toBe(link)
    expect(auditOf(shop.w)).toEqual(['gift.redeem'])
    // Ada comes again by the same link.
    const again = await ada.say(`/start gift_${code}`)
    expect(again.text).toContain(t.giftAgain)
    expect(again.text).toContain(link)
    expect(gifts()).toHaveLength(1)
  })

  test('one without end says so, and so does the list', async () => {
    shop.w.change("update plans set days = 0, price = 0 where code = '1m'")
    const ada = shop.user({ id: 1, language_code: lang })
    await ada.say(`/start gift_${code}`)
    await ada.tap(t.giftTake)
    const endless = stringsOf(lang).terms.endless
    expect(ada.messages()[0]?.text).toContain(`<b>30 days</b>, ${endless}\n`)
    const list = await ada.say('/my')
    expect(list.text).toContain(`${t.state.active}, ${endless}`)
    const [button] = ada.buttons()
    expect(button).toBe(`<NL> & "1" 🇳🇱 · ${endless}`)
    await ada.tap(button as string)
    expect(ada.buttons()).not.toContain(t.renew)
    expect(ada.buttons()).toContain(t.devices)
  })

  test.each<[keyof typeof t.giftRefusal, () => void]>([
    ['used', () => shop.w.change('update gift_codes set used_at = ?, used_by = 9', nowOf(shop.w))],
    ['revoked', () => shop.w.change('update gift_codes set revoked_at = ?', nowOf(shop.w))],
    ['expired', () => shop.w.change("update gift_codes set expires_at = '2026-01-01T00:00:00'")],
    ['gone', () => shop.w.change("delete from nodes where code = 'nl1'")],
    ['unknown', () => shop.w.change('delete from gift_codes')],
  ])('%s: said at once, and at the tap when it happened in between', async (outcome, change) => {
    putSettings(shop.w, { SUPPORT_CONTACT: '@help' })
    const ada = shop.user({ id: 1, language_code: lang })
    await ada.say(`/start gift_${code}`)
    change()
    const said = `${t.giftRefusal[outcome]}\n\n${t.support('@help')}`
    expect((await ada.tap(t.giftTake)).text).toBe(said)
    expect((await ada.say(`/start gift_${code}`)).text).toBe(said)
    expect(gifts()).toEqual([])
  })

  test('a banned user gets nothing', async () => {
    addUser(shop.w, 1, { banned_at: nowOf(shop.w), lang })
    const ada = shop.user({ id: 1 })
    expect((await ada.say(`/start gift_${code}`)).text).toBe(t.banned)
    expect((await ada.tapData(`gift:${code}`)).text).toBe(t.banned)
    expect(gifts()).toEqual([])
  })
})

const t = textsOf('en')

test.each(['', 'x', 'A'.repeat(17), '<b>', `${'A'.repeat(15)}1`])(
  'a link with %j is no gift',
  async (text) => {
    const ada = shop.user({ id: 1 })
    expect((await ada.say(`/start gift_${text}`)).text).toBe(t.giftRefusal.unknown)
  },
)

test('a code is also taken as a message, alone or as its link', async () => {
  const ada = shop.user({ id: 1 })
  for (const text of [
    code.toLowerCase(),
    `gift_${code}`,
    `https://t.me/shop_bot?start=gift_${code}`,
  ]) {
    expect((await ada.say(text)).text).toBe(t.gift('<NL> & "1" 🇳🇱', '30 days'))
  }
})

test('two taps at once, and two people at once: one gift', async () => {
  const ada = shop.user({ id: 1 })
  const bob = shop.user({ id: 2 })
  await ada.say(`/start gift_${code}`)
  await bob.say(`/start gift_${code}`)
  shop.telegram.tap(bob.person, bob.keep(), t.giftTake)
  await ada.tapTwice(t.giftTake)
  expect(gifts()).toHaveLength(1)
  expect(auditOf(shop.w)).toEqual(['gift.redeem'])
  expect(shop.telegram.callsOf('answerCallbackQuery')).toHaveLength(3)
})

test('a tap that is delivered again after a crash shows what it gave', async () => {
  const ada = shop.user({ id: 1 })
  const offer = await ada.say(`/start gift_${code}`).then(() => ada.keep())
  await ada.tap(t.giftTake)
  shop.restart()
  await ada.tap(t.giftTake, offer)
  expect(ada.messages()[0]?.text).toContain(`https://sub.test/sub/${tokenOf(1)}`)
  expect(ada.messages()).toHaveLength(2)
})

test('what was revoked since is not given again', async () => {
  const ada = shop.user({ id: 1 })
  await ada.say(`/start gift_${code}`)
  await ada.tap(t.giftTake)
  shop.w.change('update subscriptions set active = 0')
  expect((await ada.say(`/start gift_${code}`)).text).toBe(t.giftAgain)
})

test('what is over is not called ready', async () => {
  const ada = shop.user({ id: 1 })
  await ada.say(`/start gift_${code}`)
  await ada.tap(t.giftTake)
  shop.w.clock.advance(31 * 24 * 3_600_000)
  expect((await ada.say(`/start gift_${code}`)).text).toBe(t.giftAgain)
})
