import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { FILE_APPS } from '#src/domain/lists/apps.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { stringsOf } from '#src/web/strings.ts'
import { modulesOf, readPng } from '#test/support/png.ts'
import { decode } from '#test/support/qr-decoder.ts'
import {
  addDevice,
  addNode,
  addSubscription,
  addUser,
  auditOf,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import { type BotShop, type BotUser, createBotShop } from '#test/support/worlds/bot-user.ts'

let shop: BotShop
let ada: BotUser
let token: string
async function open(environment: Record<string, string> = {}) {
  shop = await createBotShop({ environment })
  token = addUser(shop.w, 1, { lang: 'en' })
  ada = shop.user({ id: 1 })
}
beforeEach(() => open())
afterEach(() => shop.close())
const speak = (lang: string) => shop.w.change('update users set lang = ?', lang)
const tokenNow = () => shop.w.rows('select token from users where tg_id = 1')[0].token
/** Opens the card of the newest subscription. */
async function openCard() {
  await ada.say('/my')
  return ada.tap(ada.buttons()[0] as string)
}

test('dates are those of the service’s time zone', async () => {
  await shop.close()
  await open({ TIMEZONE: 'Asia/Vladivostok' })
  addSubscription(shop.w, 1, { expires_at: '2026-03-31T20:00:00' })
  expect((await ada.say('/my')).text).toContain('until 01.04.2026')
})

test('a hundred subscriptions with long labels still fit into a message', async () => {
  shop.w.change('update nodes set label = ?', '&🚀'.repeat(85))
  for (let at = 0; at < 100; at++) addSubscription(shop.w, 1)
  await ada.say('/my')
  expect(ada.buttons()).toHaveLength(20 + 2)
})

test('no message and no button holds the uuid, which lets an app in without the list', async () => {
  const uuid = addSubscription(shop.w, 1)
  await openCard()
  const t = textsOf('en')
  await ada.tap(t.renew)
  await ada.tap(t.back)
  await ada.say(`/start renew_${ownIdOf(shop.w.s, uuid)}`)
  await ada.tap(ada.buttons()[0] as string)
  await ada.tap(ada.buttons()[0] as string)
  expect(shop.w.rows('select renews_uuid from payments')).toEqual([{ renews_uuid: uuid }])
  const said = shop.telegram.asked.map(({ body }) => body).join()
  expect(said).toContain(ownIdOf(shop.w.s, uuid))
  expect(said).not.toContain(uuid)
})

describe.each(['en', 'ru'] as const)('in %s', (lang) => {
  const t = textsOf(lang)
  const days = stringsOf(lang).subDays
  beforeEach(() => speak(lang))

  test('the list names server, plan, end, days left and state, without revoked ones', async () => {
    addNode(shop.w, 'nl1', { label: '<NL> & "1" 🇳🇱' })
    addSubscription(shop.w, 1, { active: 0 })
    addSubscription(shop.w, 1, { expires_at: inSeconds(shop.w, -DAY) })
    addSubscription(shop.w, 1, { held_at: inSeconds(shop.w, -10 * DAY), plan: 'gone' })
    addSubscription(shop.w, 1, { node: 'nl1' })
    addUser(shop.w, 2)
    addSubscription(shop.w, 2)
    const list = await ada.say('/my')
    const [held, active] = [
      t.line({
        node: 'Local',
        plan: 'gone',
        state: 'held',
        until: '31.03.2026',
        left: days(40),
      }),
      t.line({
        node: '<NL> & "1" 🇳🇱',
        plan: '30 days',
        state: 'active',
        until: '31.03.2026',
        left: days(30),
      }),
    ]
    const ended = t.line({
      node: 'Local',
      plan: '30 days',
      state: 'expired',
      until: '28.02.2026',
      left: '',
    })
    expect(list.text?.split('\n\n')).toEqual([t.list, active, held, ended])
    expect(active).toContain('&lt;NL&gt; &amp; &quot;1&quot; 🇳🇱')
    expect(ada.buttons()).toHaveLength(3 + 2)
  })

  test('nothing there: the shop is offered', async () => {
    const list = await ada.say('/my')
    expect(list.text).toBe(`${t.list}\n\n${t.listEmpty}`)
    expect(ada.buttons()).toEqual([t.buy, t.back])
  })

  describe('the card', () => {
    test('has the link to copy, as a QR code, and as buttons into apps through the bridge page', async () => {
      addSubscription(shop.w, 1)
      const card = await openCard()
      const link = `https://sub.test/sub/${token}`
      expect(card.text).toContain(`<code>${link}</code>`)
      expect(await tapUrl(t.copyLink)).toBe(link)
      for (const { id, name } of FILE_APPS) {
        expect(await tapUrl(stringsOf(lang).addTo(name))).toBe(`${link}/open/${id}?lang=${lang}`)
        const page = await shop.w.call(`/sub/${token}/open/${id}?lang=${lang}`, {
          host: 'sub.test',
        })
        expect(page.status).toBe(200)
      }
      await ada.tap(t.qr)
      const photo = ada.last()
      expect(decode(modulesOf(readPng(photo.photo as Uint8Array), 8))).toBe(link)
      // Buttons under a picture can't become a text: there are none.
      expect(photo.reply_markup).toBeUndefined()
      await ada.tap(t.back, card)
      expect(ada.messages()).toHaveLength(2)
    })

    test('has no button into an app that gets no list while devices are limited', async () => {
      putSettings(shop.w, { HWID_LIMIT_ENABLED: '1' })
      addSubscription(shop.w, 1)
      await openCard()
      const { addTo } = stringsOf(lang)
      expect(ada.buttons()).toContain(addTo('FlClashX'))
      for (const name of ['Hiddify', 'Streisand', 'v2rayNG']) {
        expect(ada.buttons()).not.toContain(addTo(name))
      }
    })

    const tapUrl = async (button: string) => shop.telegram.tap(ada.person, ada.keep(), button)

    test('without https there are no buttons that Telegram would refuse', async () => {
      await shop.close()
      await open({
        PUBLIC_SCHEME: 'http',
        SUB_DOMAIN: 'sub.localhost',
        SITE_DOMAIN: 'site.localhost',
      })
      speak(lang)
      addSubscription(shop.w, 1)
      const card = await openCard()
      expect(card.text).not.toContain(t.importHint)
      expect(ada.buttons()).toEqual([t.copyLink, t.qr, t.renew, t.devices, t.reset, t.back])
      await ada.say('/start')
      expect(ada.buttons()).toEqual([t.buy, t.my, t.help])
      await ada.say('/help')
    })

    test('of a node that is gone can’t be renewed', async () => {
      addSubscription(shop.w, 1, { node: 'gone' })
      await openCard()
      expect(ada.buttons()).not.toContain(t.renew)
    })

    test('of another user, or one that is gone, is out of date and the list comes', async () => {
      addUser(shop.w, 2)
      const other = addSubscription(shop.w, 2)
      addSubscription(shop.w, 1)
      await ada.say('/my')
      for (const uuid of [other, 'nope']) {
        const list = await ada.tapData(`s:${uuid}`)
        expect(ada.notice()).toBe(t.stale)
        expect(list.text).toContain(t.list)
      }
    })
  })

  describe('another link', () => {
    test('is asked for twice and given once, however often it is tapped', async () => {
      addSubscription(shop.w, 1)
      await openCard()
      await ada.tap(t.reset)
      expect(ada.last().text).toBe(t.resetAsk)
      expect(tokenNow()).toBe(token)
      const question = ada.keep()
      await ada.tapTwice(t.resetDo)
      expect(auditOf(shop.w)).toEqual(['user.rotate-token'])
      const next = tokenNow()
      expect(next).not.toBe(token)
      expect(ada.last().text).toContain(`https://sub.test/sub/${next}`)
      expect((await shop.w.call(`/sub/${token}`, { host: 'sub.test' })).status).toBe(404)
      await ada.tap(t.resetDo, question)
      expect(ada.notice()).toBe(t.stale)
      expect(tokenNow()).toBe(next)
      expect(shop.w.rows('select ip from audit_log')).toEqual([{ ip: 'bot' }])
    })

    test('is given 3 times in 24 hours; an admin may give more', async () => {
      const uuid = () => shop.w.rows('select uuid from subscriptions')[0].uuid
      const reset = async () => {
        await openCard()
        await ada.tap(t.reset)
        await ada.tap(t.resetDo)
      }
      addSubscription(shop.w, 1)
      for (let at = 0; at < 3; at++) {
        await reset()
        expect(ada.last().text).toBe(t.resetDone(`https://sub.test/sub/${tokenNow()}`))
      }
      const kept = [tokenNow(), uuid()]
      await reset()
      expect(ada.notice()).toBe(t.resetLimitReached(24))
      expect(ada.notice()?.length).toBeLessThanOrEqual(200)
      expect(ada.last().text).toContain(t.list)
      expect([tokenNow(), uuid()]).toEqual(kept)
      expect(auditOf(shop.w)).toEqual(Array(3).fill('user.rotate-token'))
      const { status } = await shop.w.admin('/admin/api/users/1/rotate-token', { method: 'POST' })
      expect([status, tokenNow() === kept[0]]).toEqual([200, false])
      shop.w.clock.advance((DAY - 60) * 1000)
      const given = tokenNow()
      await reset()
      expect([ada.notice(), tokenNow()]).toEqual([t.resetLimitReached(1), given])
      shop.w.clock.advance(60_000)
      await reset()
      expect(tokenNow()).not.toBe(given)
    })

    test('makes the buttons of the old client ids out of date', async () => {
      addSubscription(shop.w, 1)
      const card = await openCard().then(() => ada.keep())
      await ada.tap(t.reset)
      await ada.tap(t.resetDo)
      await ada.tap(t.renew, card)
      expect(ada.notice()).toBe(t.stale)
      await ada.tap(t.copyLink, (await openCard()) && ada.keep())
      expect(ada.last().text).toContain(tokenNow())
    })
  })

  describe('devices', () => {
    test('are listed with their names, and removed by a tap, one of which counts', async () => {
      const name = '<iPhone> & "16" 📱'
      addDevice(shop.w, 1, 'hwid-1-of-ada', { device_model: name, device_os: 'iOS' })
      addDevice(shop.w, 1, 'hwid-2-of-ada', { user_agent: 'Happ/1.0' })
      addDevice(shop.w, 1, 'hwid-3-of-ada')
      addUser(shop.w, 2)
      const others = addDevice(shop.w, 2, 'hwid-of-bob')
      addSubscription(shop.w, 1)
      putSettings(shop.w, { HWID_LIMIT_ENABLED: 'true' })
      await openCard()
      const list = await ada.tap(t.devices)
      expect(list.text).toBe(t.deviceList(3, 5))
      expect(ada.buttons()).toEqual([`🗑 ${name}, iOS`, '🗑 Happ/1.0', `🗑 ${t.device}`, t.back])
      await ada.tapTwice(`🗑 ${name}, iOS`)
      expect(auditOf(shop.w)).toEqual(['device.remove'])
      expect(ada.last().text).toBe(t.deviceList(2, 5))
      expect(ada.notice()).toBe(t.deviceRemoved)
      for (const data of [`dev:${others}`, 'dev:x', 'dev:', 'dev:9999999999999999']) {
        await ada.tapData(data)
      }
      expect(shop.w.rows('select tg_id from devices where tg_id = 2')).toHaveLength(1)
      expect(auditOf(shop.w)).toEqual(['device.remove'])
    })

    test('the fourth in a day stays, and the time to wait is said', async () => {
      for (let at = 0; at < 4; at++) addDevice(shop.w, 1, `hwid-${at}-of-ada`)
      addSubscription(shop.w, 1)
      await openCard()
      await ada.tap(t.devices)
      for (let at = 0; at < 3; at++) await ada.tap(`🗑 ${t.device}`)
      await ada.tap(`🗑 ${t.device}`)
      expect(ada.notice()).toBe(t.deviceLimitReached(24))
      expect(shop.w.rows('select id from devices')).toHaveLength(1)
    })

    test('nobody counts them: there is no limit to show', async () => {
      addSubscription(shop.w, 1)
      await openCard()
      expect((await ada.tap(t.devices)).text).toBe(t.deviceList(0, null))
    })
  })
})
