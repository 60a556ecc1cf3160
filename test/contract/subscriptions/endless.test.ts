/** Subscriptions that have no end: how they are made, what is said of them, and what is not done with them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { remindOwners } from '#src/domain/subscriptions/reminders.ts'
import { ENDLESS } from '#src/lib/time.ts'
import { SUBSCRIPTION_VIEW } from '#test/support/calls/views.ts'
import { given } from '#test/support/rows/expiry-rows.ts'
import {
  addSubscription,
  addUser,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const API = '/admin/api'
const LIST = `${API}/subscriptions`
/** From the present of these tests. */
const DAYS_LEFT = 2_912_383
const endless = { expires_at: ENDLESS }
const VIEW = { ...SUBSCRIPTION_VIEW, ...endless, days_left: DAYS_LEFT, endless: true }
const ends = (w: World) => w.rows('select expires_at from subscriptions order by seq')

scenarios('POST /admin/api/users/{tg_id}/grant for other days than the plan’s', [
  {
    name: '200 without end for 0, and the client is on its node',
    given: (w) => void addUser(w, 7, { username: 'alice' }),
    request: { path: `${API}/users/7/grant`, body: { node: 'de1', plan: '1m', days: 0 } },
    status: 200,
    body: { ...VIEW, uuid: expect.any(String) },
    effects: (w, _given, { json }) => {
      expect(ends(w)).toEqual([endless])
      expect([...w.node.clients.keys()]).toEqual([json.uuid])
      expect(w.rows('select detail from audit_log')).toEqual([
        { detail: 'tg_id=7 node=de1 plan=1m days=0' },
      ])
      expect(eventsOf(w)).toMatchObject([{ data: { ...endless, endless: true } }])
    },
  },
  {
    name: '200 for so many days, without a word of an end that is there',
    request: { path: `${API}/users/7/grant`, body: { node: 'de1', plan: '1m', days: 3 } },
    status: 200,
    effects: (w, _given, { json }) => {
      expect(json).toMatchObject({ expires_at: inSeconds(w, 3 * DAY), days_left: 3 })
      expect(json).not.toHaveProperty('endless')
      expect(eventsOf(w)[0]?.data).not.toHaveProperty('endless')
    },
  },
  ...[-1, 3651, 1.5, '0', null].map(
    (days): Scenario => ({
      name: `400 for ${JSON.stringify(days)} days`,
      request: { path: `${API}/users/7/grant`, body: { node: 'de1', plan: '1m', days } },
      status: 400,
      error: 'days must be a whole number from 0 to 3650',
    }),
  ),
  {
    name: '200 for many users at once',
    request: {
      path: `${API}/users/bulk`,
      body: { action: 'grant', tg_ids: [1, 2], node: 'de1', plan: '1m', days: 0 },
    },
    status: 200,
    effects: (w) => expect(ends(w)).toEqual([endless, endless]),
  },
])

const PLAN = { code: 'ever', label: 'For ever', days: 0, price: 0 }
const addPlan = (w: World) => w.admin(`${API}/plans`, { body: PLAN })
const ENDS = 'days must be a whole number from 1 to 3650'
const PRICED = 'a plan without end has no price'

scenarios('plans without end', [
  {
    name: '200, and it is shown with 0 days and offered to nobody',
    request: { path: `${API}/plans`, body: PLAN },
    status: 200,
    effects: async (w, _given, { json }) => {
      expect(json).toMatchObject({ ...PLAN, price_stars: null })
      const plans = (await w.call('/api/plans')).json
      expect(plans.at(-1)).toEqual({ ...PLAN, currency: 'RUB' })
      const shop = await w.call(`/api/cabinet/${addUser(w, 1)}/shop`)
      expect(shop.json.plans.map(({ code }: { code: string }) => code)).not.toContain('ever')
    },
  },
  ...[{ price: 1 }, { price_stars: 1 }].map(
    (price): Scenario => ({
      name: `400 for one with ${JSON.stringify(price)}`,
      request: { path: `${API}/plans`, body: { ...PLAN, ...price } },
      status: 400,
      error: ENDS,
    }),
  ),
  ...[{ price: 5 }, { price_stars: 5 }].map(
    (price): Scenario => ({
      name: `400 for ${JSON.stringify(price)} later`,
      given: addPlan,
      request: { path: `${API}/plans/ever`, method: 'PATCH', body: price },
      status: 400,
      error: PRICED,
    }),
  ),
  {
    name: '400 for one that is sold and would lose its end',
    request: { path: `${API}/plans/1m`, method: 'PATCH', body: { days: 0 } },
    status: 400,
    error: ENDS,
  },
  {
    name: '200 where it loses its price with its end',
    request: { path: `${API}/plans/1m`, method: 'PATCH', body: { days: 0, price: 0 } },
    status: 200,
  },
  {
    name: '400 for its price among those of all',
    given: addPlan,
    request: { path: `${API}/payments/plan-settings`, body: { prices: { '1m': 7, ever: 1 } } },
    status: 400,
    error: PRICED,
  },
  {
    name: '200 for its price of 0 among those of all',
    given: addPlan,
    request: { path: `${API}/payments/plan-settings`, body: { prices: { ever: 0 } } },
    status: 200,
  },
  {
    name: '200 for a grant of it',
    given: addPlan,
    request: { path: `${API}/users/7/grant`, body: { node: 'de1', plan: 'ever' } },
    status: 200,
    effects: (w) => expect(ends(w)).toEqual([endless]),
  },
])

const post = (verb: string, body?: unknown) => (uuid: string) =>
  ({ path: `${LIST}/${uuid}/${verb}`, method: 'POST', ...(body ? { body } : {}) }) as const

scenarios('what is done with one that has no end', [
  {
    name: '400 for an extension',
    given: given(endless),
    request: post('extend', { days: 1 }),
    status: 400,
    error: 'has no end',
  },
  {
    name: '400 for an extension of one that is held',
    given: given((w) => ({ ...endless, held_at: nowOf(w) })),
    request: post('extend', { days: 1 }),
    status: 400,
    error: 'has no end',
  },
  {
    name: '400 for an extension of one that is revoked: that comes first',
    given: given({ ...endless, active: 0 }),
    request: post('extend', { days: 1 }),
    status: 400,
    error: 'subscription is revoked',
  },
  {
    name: '200 for many users at once, with a refusal for who has one',
    given: (w) => {
      for (const tgId of [1, 2]) addUser(w, tgId)
      addSubscription(w, 1)
      addSubscription(w, 1, endless)
      addSubscription(w, 2)
    },
    request: {
      path: `${API}/users/bulk`,
      body: { action: 'extend', tg_ids: [1, 2], days: 1 },
    },
    status: 200,
    body: [
      { tg_id: 1, ok: false, error: 'has no end' },
      { tg_id: 2, ok: true },
    ],
    effects: (w) =>
      expect(ends(w).map((row) => row.expires_at)).toEqual([
        inSeconds(w, 30 * DAY),
        ENDLESS,
        inSeconds(w, 31 * DAY),
      ]),
  },
  {
    name: '200 for an end that is given to it, and for one that is taken',
    given: given(endless),
    request: (uuid) => ({
      path: `${LIST}/${uuid}`,
      method: 'PATCH',
      body: { expires_at: '2026-03-31T12:00:00' },
    }),
    status: 200,
    effects: async (w, uuid, { json }) => {
      expect(json).toEqual({ ...SUBSCRIPTION_VIEW, uuid })
      const back = await w.admin(`${LIST}/${uuid}`, { method: 'PATCH', body: endless })
      expect(back.json).toEqual({ ...VIEW, uuid })
    },
  },
])

test('a hold and its end leave it without end', async () => {
  const w = await createWorld()
  const uuid = given(endless)(w)
  await w.admin(`${LIST}/${uuid}/hold`, { method: 'POST' })
  expect((await w.admin(LIST)).json).toMatchObject([{ endless: true, days_left: DAYS_LEFT }])
  expect(w.node.clients.has(uuid)).toBe(false)
  w.clock.advance(3 * DAY * 1000)
  expect((await w.admin(LIST)).json).toMatchObject([{ endless: true, days_left: DAYS_LEFT }])
  const resumed = await w.admin(`${LIST}/${uuid}/resume`, { method: 'POST' })
  expect(resumed.json).toEqual({ ok: true, ...endless })
  expect(w.node.clients.has(uuid)).toBe(true)
  expect(w.faults()).toEqual([])
  w.close()
})

describe('what is said of it', () => {
  let w: World
  let token: string
  beforeEach(async () => {
    w = await createWorld()
    token = addUser(w, 7, { telegram_id: 7 })
    addSubscription(w, 7, endless)
  })
  afterEach(() => w.close())

  const list = (headers: Record<string, string> = { 'user-agent': 'Happ/3.26.3' }) =>
    w.call(`/sub/${token}`, { host: 'sub.test', headers })

  test('apps: that it never expires, beside one that ends soon, of which they are told', async () => {
    const { headers, text } = await list()
    expect(headers.get('subscription-userinfo')).toBe('upload=0; download=0; total=0; expire=0')
    expect(headers.get('announce')).toBeNull()
    expect(atob(text)).not.toBe('')
    addSubscription(w, 7, { expires_at: inSeconds(w, DAY) })
    const both = (await list()).headers
    expect(both.get('subscription-userinfo')).toMatch(/expire=0$/)
    expect(both.get('announce')).not.toBeNull()
  })

  test.each([
    ['en', 'without end', /until 31|9999|days left/],
    ['ru', 'без срока', /до 31|9999|ещё/],
  ])('people, in %s', async (lang, words, other) => {
    const headers = { 'user-agent': 'Mozilla/5.0', 'accept-language': lang }
    const { text } = await list(headers)
    expect(text).toContain(words)
    expect(text).not.toMatch(other)
    w.change('update subscriptions set held_at = ?', nowOf(w))
    addSubscription(w, 7)
    expect((await list(headers)).text).toContain(words)
  })

  test('the cabinet, in both of its answers', async () => {
    const cabinet = (await w.call(`/api/cabinet/${token}`)).json
    expect(cabinet.subscriptions).toMatchObject([{ days_left: DAYS_LEFT, endless: true }])
    const shop = (await w.call(`/api/cabinet/${token}/shop`)).json
    expect(shop.subscriptions).toMatchObject([{ ...endless, endless: true, state: 'active' }])
    w.change('update subscriptions set expires_at = ?', inSeconds(w, DAY))
    expect((await w.call(`/api/cabinet/${token}`)).text).not.toContain('endless')
    expect((await w.call(`/api/cabinet/${token}/shop`)).text).not.toContain('endless')
  })

  test('the statistics: it is active, and ends on no day that is asked for', async () => {
    const { subscriptions, expiring_3d } = (await w.admin(`${API}/stats`)).json
    expect([subscriptions.active, expiring_3d]).toEqual([1, 0])
    const ending = (await w.admin(`${API}/stats/active`)).json.endings
    expect(ending.every(({ count }: { count: number }) => count === 0)).toBe(true)
    expect(w.faults()).toEqual([])
  })

  test('its owner is never reminded', async () => {
    putSettings(w, { PAYMENTS_ENABLED: 'true' })
    for (let day = 0; day < 4; day++) {
      await remindOwners(w.s)
      w.clock.advance(DAY * 1000)
    }
    expect(w.rows('select * from outbox')).toEqual([])
  })
})

describe('payments', () => {
  let shop: Shop
  beforeEach(async () => {
    shop = await createShop()
  })
  afterEach(() => closeShop(shop))

  test('it is not sold more time', async () => {
    const renews = addSubscription(shop.w, 1, endless)
    await expect(shop.buy({ renews })).rejects.toThrow('400 {"error":"has no end"}')
    expect(shop.w.rows('select * from payments')).toEqual([])
  })

  test('one that was under way when the end was taken gives a subscription of its own', async () => {
    const renews = addSubscription(shop.w, 1)
    const { id } = await shop.buy({ renews })
    await shop.w.admin(`${LIST}/${renews}`, { method: 'PATCH', body: endless })
    await confirmPayment(shop.w.s, id, { state: 'paid' })
    await shop.w.s.background.idle()
    expect(shop.sold()).toMatchObject([{ payment_id: id, expires_at: inSeconds(shop.w, 30 * DAY) }])
    expect(ends(shop.w)[0]).toEqual(endless)
    expect(shop.w.rows('select payload from outbox')[0].payload).not.toContain('9999')
  })

  test('a refund of one that lengthened it takes nothing from what has no end', async () => {
    const renews = addSubscription(shop.w, 1)
    const { id } = await shop.buy({ renews })
    await confirmPayment(shop.w.s, id, { state: 'paid' })
    await shop.w.admin(`${LIST}/${renews}`, { method: 'PATCH', body: endless })
    await shop.w.admin(`${API}/payments/${id}/refunded`, { body: { revoke: true } })
    expect(ends(shop.w)).toEqual([endless])
    expect(auditOf(shop.w)).not.toContain('subscription.shorten')
  })
})
