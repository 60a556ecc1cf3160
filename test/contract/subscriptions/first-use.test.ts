/** Subscriptions that begin with their first use: how they are made, what begins them, what lengthens and pauses them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import { remindOwners } from '#src/domain/subscriptions/reminders.ts'
import { SUBSCRIPTION_VIEW } from '#test/support/calls/views.ts'
import {
  addNode,
  addSubscription,
  addUser,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
} from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const API = '/admin/api'
const LIST = `${API}/subscriptions`
const ORDER = { node: 'de1', plan: '1m', start: 'first_use' }
const grant = (body: object) => ({ path: `${API}/users/7/grant`, body })
const MONTH = 30 * DAY
const row = (w: World) =>
  w.rows(
    'select uuid, expires_at, start_seconds, start_by, started_at, held_at from subscriptions',
  )[0]

scenarios('POST /admin/api/users/{tg_id}/grant from the first use on', [
  {
    name: '200: it waits for a year at most, and its client is on the node',
    given: (w) => void addUser(w, 7, { username: 'alice' }),
    request: grant(ORDER),
    status: 200,
    body: {
      ...SUBSCRIPTION_VIEW,
      uuid: expect.any(String),
      expires_at: '2027-03-31T12:00:00',
      days_left: 395,
      start: 'first_use',
      start_seconds: MONTH,
      start_by: '2027-03-01T12:00:00',
      started_at: null,
    },
    effects: (w, _given, { json }) => {
      expect([...w.node.clients.keys()]).toEqual([json.uuid])
      expect(eventsOf(w)[0]?.data).toMatchObject({ start: 'first_use', start_seconds: MONTH })
    },
  },
  {
    name: '200 for so many seconds, until that moment at most',
    request: grant({ ...ORDER, start_seconds: 3600, start_by: '2026-03-05T00:00:00' }),
    status: 200,
    effects: (w) =>
      expect(row(w)).toMatchObject({
        expires_at: '2026-03-05T01:00:00',
        start_seconds: 3600,
        start_by: '2026-03-05T00:00:00',
      }),
  },
  {
    name: '200 for many users at once',
    request: {
      path: `${API}/users/bulk`,
      body: { ...ORDER, action: 'grant', tg_ids: [1, 2], start_seconds: 60 },
    },
    status: 200,
    effects: (w) =>
      expect(w.rows('select start_seconds from subscriptions')).toEqual([
        { start_seconds: 60 },
        { start_seconds: 60 },
      ]),
  },
  ...(
    [
      [{ start: 'later' }, 'start must be first_use'],
      [{ start_seconds: 0 }, 'start_seconds must be a whole number from 1 to 315360000'],
      [{ start_by: '2026-03-01T12:00:00' }, 'start_by must be in the future'],
      [{ start_by: '2036-03-02T12:00:00' }, 'start_by would be too late'],
      [{ start_by: '2026-02-30T00:00:00' }, 'start_by must be a time that exists'],
      [{ days: 0 }, 'has no end'],
      [{ start: undefined, start_seconds: 5 }, 'start is missing or of the wrong type'],
      [
        { start: undefined, start_by: '2026-04-01T00:00:00' },
        'start is missing or of the wrong type',
      ],
    ] as const
  ).map(
    ([more, error]): Scenario => ({
      name: `400 for ${JSON.stringify(more)}`,
      request: grant({ ...ORDER, ...more }),
      status: 400,
      error,
    }),
  ),
])

describe('the first use', () => {
  let w: World
  let uuid: string
  beforeEach(async () => {
    w = await createWorld()
    addUser(w, 7, { telegram_id: 7 })
    uuid = (await w.admin(`${API}/users/7/grant`, { body: ORDER })).json.uuid
    await w.s.background.idle()
  })
  afterEach(() => w.close())

  const sync = () => w.s.nodeSync.syncAll({ force: false, remove: true })
  const use = async () => {
    const [up, down] = w.node.counters.get(uuid) ?? [0, 0]
    w.node.counters.set(uuid, [up + 1, down])
    await sync()
  }
  const pass = (days: number) => w.clock.advance(days * DAY * 1000)
  const post = (verb: string, body?: object) =>
    w.admin(`${LIST}/${uuid}/${verb}`, { method: 'POST', ...(body ? { body } : {}) })
  const view = async () => (await w.admin(LIST)).json[0]

  test('is the first byte that is counted, once', async () => {
    pass(100)
    await sync()
    expect(row(w).started_at).toBeNull()
    const at = nowOf(w)
    await use()
    const begun = { started_at: at, start_by: null, expires_at: inSeconds(w, MONTH) }
    expect(row(w)).toMatchObject(begun)
    pass(3)
    await use()
    expect(row(w)).toMatchObject(begun)
    expect(await view()).toMatchObject({ days_left: 27, started_at: at, start_seconds: MONTH })
    expect(w.faults()).toEqual([])
  })

  test('does not come: it begins by itself, and ends then', async () => {
    pass(366)
    const moment = { started_at: '2027-03-01T12:00:00', expires_at: '2027-03-31T12:00:00' }
    expect(await view()).toMatchObject({ ...moment, days_left: 29 })
    await use()
    expect(await view()).toMatchObject(moment)
    pass(30)
    await sync()
    expect(w.node.clients.has(uuid)).toBe(false)
  })

  test('after more days: it has them too', async () => {
    await post('extend', { days: 5 })
    expect(row(w)).toMatchObject({ start_seconds: 35 * DAY, expires_at: inSeconds(w, 400 * DAY) })
    await use()
    expect(row(w).expires_at).toBe(inSeconds(w, 35 * DAY))
    await post('extend', { days: 5 })
    expect(row(w).expires_at).toBe(inSeconds(w, 40 * DAY))
  })

  test('waits while it is held, and as much longer', async () => {
    pass(364)
    await post('hold')
    pass(10)
    expect(await view()).toMatchObject({ started_at: null })
    await post('resume')
    expect(row(w)).toMatchObject({
      start_by: inSeconds(w, DAY),
      expires_at: inSeconds(w, 31 * DAY),
      started_at: null,
    })
    await use()
    expect(row(w).expires_at).toBe(inSeconds(w, MONTH))
    expect(w.faults()).toEqual([])
  })

  test('what a core tells of it after a hold was before that', async () => {
    w.node.counters.set(uuid, [9, 9])
    w.change('update subscriptions set held_at = ?', nowOf(w))
    const heldAt = nowOf(w)
    pass(2)
    await sync()
    expect(row(w)).toMatchObject({ started_at: heldAt, held_at: heldAt })
    await post('resume')
    expect(row(w).expires_at).toBe(inSeconds(w, MONTH))
  })

  test('is not waited for any more once an admin sets the end', async () => {
    await w.admin(`${LIST}/${uuid}`, { method: 'PATCH', body: { expires_at: inSeconds(w, DAY) } })
    expect(await view()).not.toHaveProperty('start')
    await use()
    expect(row(w)).toMatchObject({ expires_at: inSeconds(w, DAY), started_at: null })
  })

  test('is a fetch by an app where others manage the server, and not a look at it', async () => {
    addNode(w, 'ext', { shared_uuid: '99999999-9999-4999-8999-999999999999' })
    const { token } = (await w.admin(`${API}/users/7`)).json
    const fetch = async (method: string, agent: string) => {
      const options = { host: 'sub.test', method, headers: { 'user-agent': agent } }
      const answer = await w.call(`/sub/${token}`, options)
      await w.s.background.idle()
      return answer
    }
    await fetch('GET', 'Happ/3.26.3')
    expect(row(w).started_at).toBeNull()
    w.change("update subscriptions set node = 'ext'")
    await fetch('HEAD', 'Happ/3.26.3')
    await fetch('GET', 'Mozilla/5.0')
    expect(row(w).started_at).toBeNull()
    const { headers } = await fetch('GET', 'Happ/3.26.3')
    expect(row(w)).toMatchObject({ started_at: nowOf(w), expires_at: inSeconds(w, MONTH) })
    expect(headers.get('announce')).toBeNull()
    pass(1)
    await fetch('GET', 'Happ/3.26.3')
    expect(row(w).expires_at).toBe(inSeconds(w, 29 * DAY))
  })

  test('is told in lists, on pages and in the cabinet until it comes', async () => {
    const { token } = (await w.admin(`${API}/users/7`)).json
    const get = (agent: string, lang = 'en') =>
      w.call(`/sub/${token}`, {
        host: 'sub.test',
        headers: { 'user-agent': agent, 'accept-language': lang },
      })
    const list = await get('Happ/3.26.3')
    const end = Date.parse(`${inSeconds(w, MONTH)}Z`) / 1000
    expect(list.headers.get('subscription-userinfo')).toMatch(new RegExp(`expire=${end}$`))
    expect(atob((list.headers.get('announce') ?? '').slice(7))).toContain('first use')
    expect((await get('Mozilla/5.0')).text).toContain('starts with the first use')
    expect((await get('Mozilla/5.0', 'ru')).text).toContain('начнётся с первого подключения')
    const waiting = { start: 'first_use', start_seconds: MONTH }
    expect((await w.call(`/api/cabinet/${token}`)).json.subscriptions).toMatchObject([waiting])
    const shop = async () => (await w.call(`/api/cabinet/${token}/shop`)).json.subscriptions
    expect(await shop()).toMatchObject([waiting])
    await use()
    expect((await get('Happ/3.26.3')).headers.get('announce')).toBeNull()
    expect((await w.call(`/api/cabinet/${token}`)).text).not.toContain('start')
    expect((await shop())[0]).not.toHaveProperty('start')
  })

  test('comes before all reminders', async () => {
    w.change(
      'update subscriptions set start_seconds = 3600, start_by = ?, expires_at = ?',
      inSeconds(w, DAY),
      inSeconds(w, DAY + 3600),
    )
    await remindOwners(w.s)
    expect(w.rows('select * from outbox')).toEqual([])
    pass(1)
    w.clock.advance(3_601_000)
    await remindOwners(w.s)
    expect(w.rows('select kind from outbox')).toEqual([{ kind: 'reminder' }])
  })
})

describe('gifts from the first use on', () => {
  let w: World
  beforeEach(async () => {
    w = await createWorld()
    addUser(w, 5)
  })
  afterEach(() => w.close())

  const give = async (more: object = {}) => {
    const { code } = (await w.admin(`${API}/gift-codes`, { body: { ...ORDER, ...more } })).json
    return code as string
  }

  test('keep the days of their plan, which wait from the redemption on', async () => {
    const code = await give()
    expect((await w.admin(`${API}/gift-codes`)).json[0]).toMatchObject({
      start: 'first_use',
      start_seconds: MONTH,
      start_by: null,
    })
    w.change("update plans set days = 1 where code = '1m'")
    w.clock.advance(5 * DAY * 1000)
    await redeemGift(w.s, 5, code)
    expect(row(w)).toMatchObject({ start_seconds: MONTH, start_by: inSeconds(w, 365 * DAY) })
  })

  test('begin at once where their moment is over', async () => {
    const code = await give({ start_by: inSeconds(w, DAY), start_seconds: 7200 })
    w.clock.advance(2 * DAY * 1000)
    await redeemGift(w.s, 5, code)
    expect(row(w)).toMatchObject({
      started_at: nowOf(w),
      start_by: null,
      expires_at: inSeconds(w, 7200),
    })
  })
})

describe('payments', () => {
  let shop: Shop
  beforeEach(async () => {
    shop = await createShop()
  })
  afterEach(() => closeShop(shop))

  test('a renewal lengthens what waits, and its refund takes the days back', async () => {
    const { w } = shop
    const renews = addSubscription(w, 1, {
      start_seconds: MONTH,
      start_by: inSeconds(w, 365 * DAY),
      expires_at: inSeconds(w, 395 * DAY),
    })
    const { id } = await shop.buy({ renews })
    await confirmPayment(w.s, id, { state: 'paid' })
    await w.s.background.idle()
    expect(row(w)).toMatchObject({ start_seconds: 2 * MONTH, expires_at: inSeconds(w, 425 * DAY) })
    const [message] = w.rows('select payload from outbox')
    expect(JSON.parse(message.payload)).toMatchObject({ unstarted: true })
    await w.admin(`${API}/payments/${id}/refunded`, { body: { revoke: true } })
    expect(row(w)).toMatchObject({ start_seconds: MONTH, expires_at: inSeconds(w, 395 * DAY) })
  })

  test('a renewal that brings a quota lets its first period wait too', async () => {
    const { w } = shop
    w.change("update plans set quota_gb = 5, quota_period = 'day' where code = '1m'")
    const [start_by, expires_at] = [inSeconds(w, 365 * DAY), inSeconds(w, 395 * DAY)]
    const renews = addSubscription(w, 1, { start_seconds: MONTH, start_by, expires_at })
    const { id } = await shop.buy({ renews })
    await confirmPayment(w.s, id, { state: 'paid' })
    await w.s.background.idle()
    expect(w.rows('select quota_anchor, resets_at from subscriptions')).toEqual([
      { quota_anchor: start_by, resets_at: `${inSeconds(w, 366 * DAY).slice(0, 10)}T00:00:00` },
    ])
  })
})
