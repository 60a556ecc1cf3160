/** What a customer without Telegram has, buys and never gets. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { meetUser } from '#src/domain/customers/contacts.ts'
import { remindOwners } from '#src/domain/subscriptions/reminders.ts'
import { addOther } from '#test/support/rows/other-customers.ts'
import {
  addDevice,
  addPayment,
  addSubscription,
  addUser,
  auditOf,
  DAY,
  inSeconds,
} from '#test/support/rows/records.ts'
import { createShop } from '#test/support/worlds/shop.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const CLIENT = { 'user-agent': 'Happ/3.5.0' }
const _create = (body: unknown) => ({ path: USERS, method: 'POST', body })

describe('a customer without Telegram', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
  })
  afterEach(() => {
    expect(w.faults('2020-01-01T00:00:00')).toEqual([])
    w.close()
  })
  const made = async (body: unknown = {}) => (await w.admin(USERS, { body })).json

  test('has a number that nobody had before, also when those before are gone', async () => {
    expect((await made()).tg_id).toBe(-1)
    expect((await made()).tg_id).toBe(-2)
    await w.admin(`${USERS}/-2`, { method: 'DELETE' })
    expect((await made()).tg_id).toBe(-3)
  })

  test('gets a number of their own each, however many come at once', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => made()))
    expect(new Set(all.map(({ tg_id }) => tg_id)).size).toBe(20)
  })

  test('takes a Telegram id once, of many who want it at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 10 }, () => w.admin(USERS, { body: { telegram_id: 9 } })),
    )
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(w.rows('select tg_id, telegram_id from users')).toEqual([{ tg_id: 9, telegram_id: 9 }])
  })

  test('is granted to, limited, banned and deleted as others are', async () => {
    const { tg_id, token } = await made({ name: 'Anna' })
    const granted = await w.admin(`${USERS}/${tg_id}/grant`, { body: { node: 'de1', plan: '1m' } })
    expect(granted.json).toMatchObject({ tg_id, username: null, name: 'Anna' })
    const list = await w.call(`/sub/${token}?format=links`, { headers: CLIENT })
    expect(list.text).toContain(granted.json.uuid)
    await w.admin(`${USERS}/${tg_id}/hwid-limit`, { body: { limit: 3 } })
    expect((await w.admin(`${USERS}/${tg_id}/devices`)).json.limit).toBe(3)
    const bulk = { tg_ids: [tg_id], action: 'ban' }
    expect((await w.admin(`${USERS}/bulk`, { body: bulk })).json).toEqual([{ tg_id, ok: true }])
    expect((await w.call(`/sub/${token}?format=links`, { headers: CLIENT })).text).toBe('')
    await w.admin(`${USERS}/${tg_id}`, { method: 'DELETE' })
    expect((await w.admin(`${USERS}/${tg_id}`)).status).toBe(404)
  })

  test('is told nothing of what ends, and nobody else is either', async () => {
    addOther(w, -1)
    addUser(w, 5)
    addSubscription(w, -1, { expires_at: inSeconds(w, DAY), created_at: '2026-01-01T00:00:00' })
    addSubscription(w, 5, { expires_at: inSeconds(w, DAY), created_at: '2026-01-01T00:00:00' })
    await remindOwners(w.s)
    expect(w.rows('select tg_id, kind from outbox')).toEqual([{ tg_id: 5, kind: 'reminder' }])
    w.change('update users set telegram_id = 70 where tg_id = -1')
    w.clock.advance(DAY * 1000)
    await remindOwners(w.s)
    expect(w.rows('select tg_id from outbox order by tg_id')).toEqual([
      { tg_id: 5 },
      { tg_id: 5 },
      { tg_id: 70 },
    ])
  })

  test('is found by number, name, address and tag in all listings', async () => {
    addOther(w, -1, {
      name: 'Анна Петрова',
      email: 'anna@mail.test',
      tags: '["vip","old"]',
      telegram_id: 70,
    })
    addOther(w, -12, { name: 'Bob', tags: '["vip"]' })
    addUser(w, 12, { username: 'annabel' })
    const uuid = addSubscription(w, -1)
    addPayment(w, { id: 'p1', tg_id: -1 })
    const found = async (query: string, path = USERS) =>
      (await w.admin(`${path}?${query}&sort=${path === USERS ? 'tg_id' : 'created_at'}`)).json.map(
        (row: { tg_id: number }) => row.tg_id,
      )
    const q = (text: string) => `q=${encodeURIComponent(text)}&order=asc`
    expect(await found(q('анна'))).toEqual([-1])
    expect(await found(q('Анна п'))).toEqual([-1])
    expect(await found(q('ANNA'))).toEqual([-1, 12])
    expect(await found(q('@anna'))).toEqual([12])
    expect(await found(q('anna@m'))).toEqual([-1])
    expect(await found(q('bO'))).toEqual([-12])
    expect(await found(q('-1'))).toEqual([-1])
    expect(await found(q('70'))).toEqual([-1])
    expect(await found(q('12'))).toEqual([12])
    expect(await found('tag=vip&order=asc')).toEqual([-12, -1])
    expect(await found('tag=vip&order=asc&q=bob')).toEqual([-12])
    expect(await found('tag=old')).toEqual([-1])
    expect(await found('tag=vip&status=active')).toEqual([-1])
    expect(await found('tag=VIP')).toEqual([])
    for (const text of ['анна', 'anna@mail', '-1', '70']) {
      expect(await found(q(text), '/admin/api/subscriptions')).toEqual([-1])
      expect(await found(q(text), '/admin/api/payments')).toEqual([-1])
    }
    for (const number of [-1, 70]) {
      const [row] = (await w.admin(`/admin/api/subscriptions?tg_id=${number}`)).json
      expect(row).toMatchObject({ uuid, tg_id: -1, name: 'Анна Петрова' })
      expect((await w.admin(`/admin/api/payments?tg_id=${number}`)).json).toHaveLength(1)
    }
    expect((await w.admin('/admin/api/subscriptions?tg_id=0')).status).toBe(400)
  })

  test('is found however the same letters were typed', async () => {
    const forms = ['NFC', 'NFD'] as const
    const name = 'ЖЭК Йоэль é'
    for (const form of forms) {
      const text = name.normalize(form)
      await made({ name: text, tags: [text], email: `${'é'.normalize(form)}@mail.test` })
    }
    for (const form of forms) {
      const text = encodeURIComponent(name.normalize(form))
      const email = encodeURIComponent('É@'.normalize(form))
      for (const query of [`q=${text}`, `tag=${text}`, `q=${email}`]) {
        expect((await w.admin(`${USERS}?${query}`)).json, query).toHaveLength(2)
      }
    }
    const [first, second] = w.rows('select name, email, tags from users')
    expect(first).toEqual(second)
  })

  test('and somebody who writes to the bot at the same moment are one, or the admin is told', async () => {
    for (let id = 1; id <= 10; id++) {
      const create = () => w.admin(USERS, { body: { telegram_id: id, name: 'Anna' } })
      const meet = () => meetUser(w.s, { tgId: id, username: 'ada', lang: 'en' })
      const met = id % 2 ? meet() : undefined
      const [{ status }] = await Promise.all([create(), met ?? meet()])
      expect([200, 400]).toContain(status)
      expect(w.rows('select telegram_id, username from users where tg_id = ?', id)).toEqual([
        { telegram_id: id, username: 'ada' },
      ])
    }
  })

  test('is in the table of all with what is known of them', async () => {
    addUser(w, 7)
    const plain = (await w.admin(`${USERS}?format=csv`)).text
    expect(plain.split(/\r?\n/)[0]).not.toContain('email')
    addOther(w, -1, { name: 'Anna', email: 'a@b.test', tags: '["vip","old"]' })
    const [head, ...rows] = (await w.admin(`${USERS}?format=csv&sort=tg_id&order=asc`)).text
      .trim()
      .split(/\r?\n/)
    expect(head).toMatch(/,devices,telegram_id,name,email,tags$/)
    expect(rows[0]).toMatch(/^'?-1,.*,,Anna,a@b.test,vip old$/)
    expect(rows[1]).toMatch(/^7,.*,7,,,$/)
  })

  test('is called by their name where there is no username', async () => {
    addOther(w, -1, { name: 'Anna' })
    addOther(w, -2)
    addUser(w, 7, { name: 'Carl', username: 'carl' })
    for (const tgId of [-1, -2, 7]) addSubscription(w, tgId, { up_bytes: 100 + tgId })
    const { entries } = (await w.admin('/admin/api/traffic')).json
    expect(entries.map((entry: { username: string }) => entry.username)).toEqual([
      '@carl',
      'Anna',
      'tg-2',
    ])
  })

  test('is one person by both numbers', async () => {
    addOther(w, -1, { telegram_id: 70 })
    addSubscription(w, -1)
    addDevice(w, -1, 'device-0001')
    const extend = { tg_ids: [70, -1, 70], action: 'extend', days: 1 }
    expect((await w.admin(`${USERS}/bulk`, { body: extend })).json).toEqual([
      { tg_id: 70, ok: true },
      { tg_id: -1, ok: true },
    ])
    expect(auditOf(w)).toEqual(['subscription.extend'])
    const granted = await w.admin(`${USERS}/70/grant`, { body: { node: 'de1', plan: '1m' } })
    expect(granted.json.tg_id).toBe(-1)
    expect((await w.admin(`${USERS}/70/devices`)).json.devices).toHaveLength(1)
    expect((await w.admin(`${USERS}/70`)).json.tg_id).toBe(-1)
    expect(w.rows('select count(*) as n from users')).toEqual([{ n: 1 }])
  })
})

describe('what a customer without Telegram pays for', () => {
  test('is given without a message, with its event; with one where they are connected', async () => {
    const shop = await createShop()
    const { w } = shop
    addOther(w, -1, { name: 'Anna' })
    addOther(w, -2, { telegram_id: 70 })
    for (const tgId of [-1, -2]) addPayment(w, { id: `p${tgId}`, tg_id: tgId })
    for (const tgId of [-1, -2]) await w.admin(`/admin/api/payments/p${tgId}/grant`, { body: {} })
    expect(w.rows("select tg_id from outbox where kind = 'granted'")).toEqual([{ tg_id: 70 }])
    const [{ data }] = w.rows("select data from events where event = 'payment.paid' order by seq")
    expect(JSON.parse(data)).toMatchObject({ tg_id: -1, username: null, payment_id: 'p-1' })
    expect(w.faults('2020-01-01T00:00:00')).toEqual([])
    // Who connects later is not owed the message of then.
    w.change('update users set telegram_id = 71 where tg_id = -1')
    expect(w.faults('2020-01-01T00:00:00')).toEqual([])
    const order = { tg_id: -9, node: 'de1', plan: '1m', provider: 'provider_a' }
    const refused = await w.admin('/admin/api/payments', { body: order })
    expect([refused.status, refused.json]).toEqual([404, { error: 'user not found' }])
    w.close()
  })
})
