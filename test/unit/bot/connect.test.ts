import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { findListOwner, type ListOwner } from '#db/users.ts'
import { textsOf } from '#src/bot/texts.ts'
import { admit } from '#src/domain/customers/devices.ts'
import { connectTelegram, createConnectLink } from '#src/domain/customers/linking.ts'
import { rotateToken } from '#src/domain/customers/links.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { readSettings } from '#src/domain/settings.ts'
import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import { grant } from '#src/domain/subscriptions/subscriptions.ts'
import { seeded } from '#test/support/drivers/torture.ts'
import {
  addDevice,
  addPayment,
  addSubscription,
  addUser,
  auditOf,
  nowOf,
} from '#test/support/rows/records.ts'
import { type BotShop, createBotShop } from '#test/support/worlds/bot-user.ts'

let shop: BotShop
beforeEach(async () => {
  shop = await createBotShop()
})
afterEach(async () => {
  // What was read last has shared its transaction with the rest of its turn.
  await setImmediate()
  expect(shop.w.faults()).toEqual([])
  await shop.close()
})

const tokenOf = (tgId: number): string =>
  shop.w.rows('select token from users where tg_id = ?', tgId)[0].token

/** A customer without Telegram, whose page has given a link into the bot; the code of it. */
async function customer(more: Record<string, unknown> = {}): Promise<string> {
  const { w } = shop
  addUser(w, -1, { name: 'Анна <b>', ...more })
  w.change("insert into sequences (name, last) values ('customers', 1)")
  const link = await createConnectLink(w.s, tokenOf(-1))
  return link.slice(link.indexOf('link_') + 'link_'.length)
}
const users = () => shop.w.rows('select * from users order by tg_id')
const all = (sql: string) => shop.w.rows(sql)

describe.each(['en', 'ru'] as const)('in %s', (lang) => {
  const t = textsOf(lang)
  const anna = () => shop.user({ id: 700, username: 'anna', language_code: lang })

  test('a link connects nothing; the tap under it does, and nobody new is made', async () => {
    const code = await customer()
    const asked = await anna().say(`/start link_${code}`)
    expect(asked.text).toBe(t.connectAsk('Анна <b>', false))
    expect(users()).toMatchObject([{ tg_id: -1, telegram_id: null }])
    const menu = await anna().tap(t.connectDo)
    expect(menu.text).toBe(t.connected)
    expect(users()).toMatchObject([
      { tg_id: -1, telegram_id: 700, username: 'anna', lang, name: 'Анна <b>' },
    ])
    expect(auditOf(shop.w)).toEqual(['user.connect'])
    expect(all('select * from link_codes')).toEqual([])
    // From now on the bot knows them by it.
    await anna().say('/my')
    expect(users()).toHaveLength(1)
  })

  test('who has an account already is told that the two become one', async () => {
    addUser(shop.w, 700)
    const code = await customer()
    const asked = await anna().say(`/start link_${code}`)
    expect(asked.text).toBe(t.connectAsk('Анна <b>', true))
    expect(users()).toHaveLength(2)
    expect((await anna().tap(t.connectDo)).text).toBe(t.connected)
    expect(users()).toMatchObject([{ tg_id: 700, telegram_id: 700, name: 'Анна <b>' }])
  })

  test.each([
    ['that was never one', () => {}, 'x'.repeat(32)],
    ['that has run out', () => shop.w.clock.advance(15 * 60_000), undefined],
    [
      'in whose place another one is',
      async () => {
        shop.w.clock.advance(2000)
        await createConnectLink(shop.w.s, tokenOf(-1))
      },
      undefined,
    ],
  ])('a code %s connects nothing and makes nobody', async (_what, change, other) => {
    const code = await customer()
    await change()
    const before = users()
    const said = await anna().say(`/start link_${other ?? code}`)
    expect(said.text).toBe(t.connectStale)
    await anna().tapData(`link:${other ?? code}`)
    expect(anna().notice()).toBe(t.connectStale)
    expect(users()).toEqual(before)
  })

  test('two taps at once connect once', async () => {
    const code = await customer()
    await anna().say(`/start link_${code}`)
    expect((await anna().tapTwice(t.connectDo)).text).toBe(t.connected)
    expect(users()).toMatchObject([{ telegram_id: 700 }])
    expect(auditOf(shop.w)).toEqual(['user.connect'])
  })

  test('a customer whom an admin has connected meanwhile stays with that account', async () => {
    const code = await customer()
    await anna().say(`/start link_${code}`)
    shop.w.change('update users set telegram_id = 800')
    await anna().tap(t.connectDo)
    expect(anna().notice()).toBe(t.connectStale)
    expect(users()).toMatchObject([{ tg_id: -1, telegram_id: 800 }])
  })
})

const merge = (code: string) =>
  connectTelegram(shop.w.s, { admin: null, ip: 'bot' }, code, {
    tgId: 700,
    username: null,
    lang: 'en',
  })

test('whose link ends while they ask gets no code that would outlive it', async () => {
  const { w } = shop
  await customer()
  w.clock.advance(2000)
  const link = tokenOf(-1)
  const actor = { admin: 'admin', ip: '' }
  const [ended, asked] = await Promise.allSettled([
    rotateToken(w.s, actor, -1),
    createConnectLink(w.s, link),
  ])
  expect(ended.status).toBe('fulfilled')
  // Whichever was first: refused, or given a code that went with the link.
  if (asked.status === 'rejected') expect(asked.reason).toMatchObject({ status: 404 })
  expect(all('select * from link_codes')).toEqual([])
})

describe('two customers who become one', () => {
  test('have what both had: subscriptions, payments, gifts, devices, links, words', async () => {
    const { w } = shop
    const token = addUser(w, 700, { note: 'a friend', hwid_limit: 5, tags: '["vip"]' })
    addSubscription(w, 700, { uuid: '00000000-0000-4000-8000-000000000001' })
    addDevice(w, 700, 'device-both')
    addDevice(w, 700, 'device-0700')
    const code = await customer({
      note: 'by phone',
      email: 'anna@mail.test',
      hwid_limit: 3,
      tags: '["vip","new"]',
    })
    const other = all('select token from users where tg_id = -1')[0].token
    const gift = 'ABCDEFGHABCDEFGH'
    w.change(
      "insert into gift_codes (code, node, plan, created_at, used_at, used_by) values (?, 'de1', '1m', ?, ?, -1)",
      ...[gift, nowOf(w), nowOf(w)],
    )
    addSubscription(w, -1, { source: 'gift', gift_code: gift })
    addPayment(w, { id: 'payment-1', tg_id: -1, status: 'pending' })
    addDevice(w, -1, 'device-both')
    addDevice(w, -1, 'device-0001')
    w.change("insert into user_tokens values ('old-link', -1, 'imported', null, ?)", nowOf(w))
    const touch = vi.spyOn(w.s.nodeSync, 'touch')

    expect(await merge(code)).toMatchObject({ tgId: 700, token })
    expect(users()).toMatchObject([
      {
        ...{ tg_id: 700, telegram_id: 700, token, name: 'Анна <b>', email: 'anna@mail.test' },
        ...{ note: 'a friend\nby phone', hwid_limit: 3, tags: '["vip","new"]', banned_at: null },
      },
    ])
    expect(all('select distinct tg_id from subscriptions')).toEqual([{ tg_id: 700 }])
    expect(all('select count(*) as n from subscriptions')).toEqual([{ n: 2 }])
    expect(all('select tg_id, deleted_user from payments')).toEqual([
      { tg_id: 700, deleted_user: 0 },
    ])
    expect(all('select used_by from gift_codes')).toEqual([{ used_by: 700 }])
    expect(all('select tg_id, hwid from devices order by hwid')).toEqual([
      { tg_id: 700, hwid: 'device-0001' },
      { tg_id: 700, hwid: 'device-0700' },
      { tg_id: 700, hwid: 'device-both' },
    ])
    expect(all('select token, tg_id, kind from user_tokens order by kind')).toEqual([
      { token: other, tg_id: 700, kind: 'former' },
      { token: 'old-link', tg_id: 700, kind: 'imported' },
    ])
    expect(all('select action, object, detail from audit_log')).toEqual([
      { action: 'user.merge', object: '700', detail: 'from=-1' },
    ])
    // Clients stay as they are, so no node hears of it.
    expect(touch.mock.calls.flat(2)).toEqual([])
    const headers = { 'user-agent': 'Happ/3.5.0' }
    const lists = await Promise.all(
      [token, other, 'old-link'].map((one) => w.call(`/sub/${one}`, { headers })),
    )
    expect(new Set(lists.map(({ text }) => text)).size).toBe(1)
    expect(lists[0]?.status).toBe(200)
  })

  test('keep no more times than count, however many they were', async () => {
    const times = (hour: number) =>
      JSON.stringify([1, 2, 3].map((n) => `2026-03-01T0${hour}:00:0${n}`))
    addUser(shop.w, 700, { device_removals: times(8), link_resets: times(7) })
    await merge(await customer({ device_removals: times(9), link_resets: times(6) }))
    const [merged] = users()
    expect(JSON.parse(merged.device_removals)).toEqual([...JSON.parse(times(9))].reverse())
    expect(JSON.parse(merged.link_resets)).toEqual([...JSON.parse(times(7))].reverse())
  })

  test('have no more devices than the limit of both, those of the Telegram account before the newest others', async () => {
    const { w } = shop
    w.change("insert into settings values ('HWID_LIMIT_ENABLED', 'true')")
    addUser(w, 700, { hwid_limit: 3 })
    addDevice(w, 700, 'device-0700')
    const code = await customer()
    for (const [hwid, day] of [
      ['device-old', 1],
      ['device-newest', 3],
      ['device-newer', 2],
    ] as const) {
      addDevice(w, -1, hwid)
      w.change(
        'update devices set last_seen_at = ? where hwid = ?',
        `2026-02-0${day}T00:00:00`,
        hwid,
      )
    }
    await merge(code)
    expect(all('select tg_id, hwid from devices order by hwid')).toEqual([
      { tg_id: 700, hwid: 'device-0700' },
      { tg_id: 700, hwid: 'device-newer' },
      { tg_id: 700, hwid: 'device-newest' },
    ])
  })

  test.each([
    ['who has Telegram', 700],
    ['who has none', -1],
  ])(
    'they do not become while the one %s is banned: nobody is banned by a tap',
    async (_who, banned) => {
      const { w } = shop
      addUser(w, 700, { lang: 'en' })
      addSubscription(w, 700)
      const code = await customer()
      addSubscription(w, -1)
      const at = '2026-02-01T00:00:00'
      w.change('update users set banned_at = ? where tg_id = ?', at, banned)
      const before = w.dump('audit_log')
      const t = textsOf('en')
      const anna = shop.user({ id: 700 })
      expect((await anna.say(`/start link_${code}`)).text).toBe(t.connectBanned)
      await anna.tapData(`link:${code}`)
      expect(anna.notice()).toBe(t.connectBanned)
      expect(await merge(code)).toBe('banned')
      expect(w.dump('audit_log')).toBe(before)
      // When the ban is over, the code is as good as before.
      w.change('update users set banned_at = null')
      expect(await merge(code)).toMatchObject({ tgId: 700 })
    },
  )

  test('who is banned connects no account that is nobody’s either', async () => {
    const code = await customer()
    shop.w.change("update users set banned_at = '2026-02-01T00:00:00'")
    expect(await merge(code)).toBe('banned')
    expect(users()).toMatchObject([{ tg_id: -1, telegram_id: null }])
  })
})

describe('while two customers become one', () => {
  test.each(Array.from({ length: 20 }, (_, seed) => [seed]))(
    'payments, gifts, devices and another link meet it in any order and nothing is lost: %i',
    async (seed) => {
      const { w } = shop
      addUser(w, 700)
      const code = await customer()
      const owner = findListOwner(w.s.db, tokenOf(-1), '', nowOf(w)) as ListOwner
      addPayment(w, { id: 'paid', tg_id: -1 })
      const gift = 'ABCDEFGHABCDEFGH'
      w.change(
        "insert into gift_codes (code, node, plan, created_at) values (?, 'de1', '1m', ?)",
        ...[gift, nowOf(w)],
      )
      const claim = { hwid: 'device-0001', deviceOs: null, deviceModel: null, userAgent: null }
      const catalogue = { settings: readSettings(w.s), plans: new Map() }
      const works = [
        () => merge(code),
        () => confirmPayment(w.s, 'paid', { state: 'paid', amount: '199.00', currency: 'RUB' }),
        () => redeemGift(w.s, -1, gift),
        () => admit(w.s, owner, claim, catalogue, true),
        () => rotateToken(w.s, { admin: 'admin', ip: '::1' }, -1),
        () => grant(w.s, { admin: 'admin', ip: '::1' }, -1, { node: 'de1', plan: '1m' }),
      ]
      const random = seeded(seed + 1)
      const order = works.map((work) => ({ work, at: random() })).sort((a, b) => a.at - b.at)
      const done = await Promise.allSettled(order.map(({ work }) => work()))
      // Who comes too late for the number below 0 is told that it is nobody's.
      for (const one of done) {
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ status: 404 })
      }
      const merged = users().length === 1
      const owned = all('select tg_id, source, payment_id from subscriptions')
      expect(owned.filter(({ payment_id }) => payment_id === 'paid')).toHaveLength(1)
      const wanted = merged ? 700 : -1
      expect(new Set(owned.map(({ tg_id }) => tg_id))).toEqual(new Set([wanted]))
      expect(all('select status, tg_id from payments')).toEqual([{ status: 'paid', tg_id: wanted }])
      const redeemed = all('select used_by from gift_codes where used_by is not null')
      expect(redeemed).toHaveLength(owned.filter(({ source }) => source === 'gift').length)
    },
  )
})
