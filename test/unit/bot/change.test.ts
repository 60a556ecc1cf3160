/** Another server and another plan in the bot: from the button under a subscription to what is told when it is done. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { textsOf } from '#src/bot/texts.ts'
import { addAll } from '#test/support/rows/groups.ts'
import {
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  putSettings,
} from '#test/support/rows/records.ts'
import {
  type BotShop,
  type BotUser,
  createBotShop,
  ONE_PROVIDER,
} from '#test/support/worlds/bot-user.ts'

const DAY_MS = DAY * 1000

let shop: BotShop
let ada: BotUser
let uuid: string
beforeEach(async () => {
  shop = await createBotShop({ environment: ONE_PROVIDER })
  addAll(shop.w)
  shop.w.change("update plans set label = 'Basic', price = 300 where code = '1m'")
  shop.w.change("update plans set label = 'All servers', price = 1800 where code = '3m'")
  addUser(shop.w, 1, { telegram_id: 1 })
  // An hour more than 30 days: taps take their time.
  uuid = addSubscription(shop.w, 1, { expires_at: inSeconds(shop.w, 30 * DAY + 3600) })
  ada = shop.user({ id: 1 })
})
afterEach(async () => {
  expect(shop.w.faults()).toEqual([])
  await shop.close()
})

const t = textsOf('en')
const row = () => shop.w.rows('select * from subscriptions where uuid = ?', uuid)[0]
const changes = () => shop.w.rows("select * from audit_log where action = 'subscription.change'")
const openCard = async () => {
  await ada.say('/my')
  return ada.tap(ada.buttons()[0] as string)
}

describe('another server', () => {
  test('is chosen, confirmed, and told of; the next day again', async () => {
    await openCard()
    const list = await ada.tap(t.changeServer)
    expect(list.text).toContain('Now: <b>Local</b>')
    expect(ada.buttons()).toEqual(['Label of nl1', 'Label of us1', t.back])
    const asked = await ada.tap('Label of nl1')
    expect(asked.text).toContain('Local → Label of nl1')
    expect([row().node, ada.buttons()]).toEqual(['de1', [t.changeDo, t.back]])
    const done = await ada.tap(t.changeDo)
    expect(done.text).toContain('Your server is Label of nl1 now')
    expect(row()).toMatchObject({ uuid, node: 'nl1', expires_at: '2026-03-31T13:00:00' })
    await ada.tap(t.back)
    await ada.tap(t.changeServer)
    expect(ada.notice()).toBe(t.changeWait(24))
    shop.w.clock.advance(DAY_MS)
    await ada.tap(t.changeServer)
    expect(ada.buttons()).toEqual(['Local', 'Label of us1', t.back])
  })

  test('two taps at once change once', async () => {
    await openCard()
    await ada.tap(t.changeServer)
    await ada.tap('Label of nl1')
    await ada.tapTwice(t.changeDo)
    expect([row().node, changes()]).toEqual(['nl1', [expect.anything()]])
  })

  test('has no button where there is no other, where it is off, and for who has several', async () => {
    const offered = async () => {
      await openCard()
      return ada.buttons().includes(t.changeServer)
    }
    expect(await offered()).toBe(true)
    putSettings(shop.w, { NODE_CHANGE_HOURS: '0' })
    expect(await offered()).toBe(false)
    putSettings(shop.w, { NODE_CHANGE_HOURS: '24' })
    shop.w.change("update subscriptions set node_group = 'all'")
    expect(await offered()).toBe(false)
    shop.w.change('update subscriptions set node_group = null')
    shop.w.change("update nodes set enabled = 0 where code <> 'de1'")
    expect(await offered()).toBe(false)
  })

  test('that is gone by now is a button out of date', async () => {
    await openCard()
    const list = await ada.tap(t.changeServer)
    shop.w.change("update nodes set enabled = 0 where code = 'nl1'")
    await ada.tap('Label of nl1', list)
    expect(ada.notice()).toBe(t.stale)
    for (const data of ['n', 'n:nobody', 'n:nobody:x', 'p', 'p:nobody:x:1']) await ada.tapData(data)
    expect(changes()).toEqual([])
  })
})

describe('another plan', () => {
  const becomes = '31 days of Basic → 15 days of All servers until 16 March 2026'

  test('is shown with its days before the tap that changes it', async () => {
    await openCard()
    const list = await ada.tap(t.changePlan)
    expect(list.text).toContain('Now: <b>Basic</b>')
    expect(ada.buttons()).toEqual(['All servers · 15 days', t.back])
    expect((await ada.tap('All servers · 15 days')).text).toContain(becomes)
    expect(row().plan).toBe('1m')
    expect((await ada.tap(t.changeDo)).text).toContain(becomes)
    expect(row()).toMatchObject({
      plan: '3m',
      node_group: 'all',
      expires_at: expect.stringMatching(/^2026-03-16T12:/),
    })
    await ada.tap(t.back)
    await ada.tap(t.changePlan)
    expect(ada.notice()).toBe(t.changeWait(24))
  })

  test('in Russian', async () => {
    const vera = shop.user({ id: 2, language_code: 'ru' })
    addUser(shop.w, 2, { telegram_id: 2, lang: 'ru' })
    addSubscription(shop.w, 2, { expires_at: inSeconds(shop.w, 30 * DAY + 3600) })
    await vera.say('/my')
    await vera.tap(vera.buttons()[0] as string)
    await vera.tap(textsOf('ru').changePlan)
    const asked = await vera.tap('All servers · 15 дней')
    expect(asked.text).toContain(
      '31 день тарифа «Basic» → 15 дней тарифа «All servers» до 16 марта 2026 г.',
    )
  })

  test('of which there are other days by now is asked of anew', async () => {
    await openCard()
    await ada.tap(t.changePlan)
    const asked = await ada.tap('All servers · 15 days')
    shop.w.change("update plans set price = 3600 where code = '3m'")
    expect((await ada.tap(t.changeDo, asked)).text).toContain('7 days of All servers')
    expect([row().plan, ada.buttons()]).toEqual(['1m', [t.changeDo, t.back]])
    await ada.tap(t.changeDo)
    expect(row().expires_at).toMatch(/^2026-03-08T12:/)
  })

  test('of which there would be less than a day is not to be had: renew instead', async () => {
    await openCard()
    const list = await ada.tap(t.changePlan)
    shop.w.clock.advance(28.5 * DAY_MS)
    await ada.tap('All servers · 15 days', list)
    expect(ada.notice()).toBe(t.tooLittleLeft)
    await openCard()
    expect(ada.buttons()).not.toContain(t.changePlan)
  })

  test('whose days are others in the moment of the change is not taken', async () => {
    await openCard()
    await ada.tap(t.changePlan)
    await ada.tap('All servers · 15 days')
    const { db } = shop.w.s
    const { tx } = db
    db.tx = (body) => {
      db.tx = tx
      shop.w.change("update plans set price = 3600 where code = '3m'")
      return tx.call(db, body) as never
    }
    await ada.tap(t.changeDo)
    expect(ada.notice()).toBe(t.anotherOffer)
    expect([row().plan, changes()]).toEqual(['1m', []])
  })

  test('two taps at once change once', async () => {
    await openCard()
    await ada.tap(t.changePlan)
    await ada.tap('All servers · 15 days')
    await ada.tapTwice(t.changeDo)
    expect(row().expires_at).toMatch(/^2026-03-16T12:/)
    expect(changes()).toHaveLength(1)
  })

  test('has no button where all plans give the same, nor while nothing is sold', async () => {
    const offered = async () => {
      await openCard()
      return ada.buttons().includes(t.changePlan)
    }
    expect(await offered()).toBe(true)
    putSettings(shop.w, { PAYMENTS_ENABLED: 'false' })
    expect(await offered()).toBe(false)
    putSettings(shop.w, { PAYMENTS_ENABLED: 'true' })
    shop.w.change('update plans set node_group = null')
    expect(await offered()).toBe(false)
  })
})
