/** Subscriptions that are switched off and on again: their end stays, what they are served does not. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { remindOwners } from '#src/domain/subscriptions/reminders.ts'
import { given, post, SUBSCRIPTIONS, unknown } from '#test/support/calls/subscription-calls.ts'
import { SUBSCRIPTION_VIEW } from '#test/support/calls/views.ts'
import {
  addSubscription,
  addUser,
  auditOf,
  DAY,
  eventsOf,
  inSeconds,
  nowOf,
} from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { closeShop, createShop, type Shop } from '#test/support/worlds/shop.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const API = '/admin/api'
const OFF_AT = '2026-02-10T00:00:00'
const off = { disabled_at: OFF_AT }
const held = (w: World) => ({ held_at: inSeconds(w, -3600) })
const expired = (w: World) => ({ expires_at: inSeconds(w, 0) })
const revoked = { active: 0, revoked_at: '2026-02-01T00:00:00' }
const row = (w: World) =>
  w.rows('select expires_at, active, held_at, disabled_at from subscriptions')[0]
const isServed = (w: World, uuid: string) => w.node.clients.has(uuid)

type Verb = 'disable' | 'enable' | 'hold'

const refuses = (verb: Verb, what: string, make: Scenario['given'], error: string): Scenario => ({
  name: `400 ${error}: ${what}`,
  given: make as NonNullable<Scenario['given']>,
  request: post(verb),
  status: 400,
  error,
  effects: (w) => expect(w.node.calls).toEqual([]),
})

scenarios('POST /admin/api/subscriptions/{uuid}/disable', [
  {
    name: '200, its client is gone before the answer, and its days run on',
    given: given(),
    request: post('disable'),
    status: 200,
    body: { ok: true, disabled_at: '2026-03-01T12:00:00' },
    effects: async (w, uuid) => {
      expect(isServed(w, uuid)).toBe(false)
      expect(auditOf(w)).toEqual(['subscription.disable'])
      expect(eventsOf(w)).toEqual([])
      w.clock.advance(10 * DAY * 1000)
      const view = (await w.admin(SUBSCRIPTIONS)).json[0]
      expect(view).toEqual({
        ...SUBSCRIPTION_VIEW,
        uuid,
        days_left: 20,
        disabled_at: '2026-03-01T12:00:00',
      })
    },
  },
  {
    name: '200 for one that is held, which stays so',
    given: given(held),
    request: post('disable'),
    status: 200,
    effects: (w) => expect(row(w)).toMatchObject({ ...held(w), disabled_at: nowOf(w) }),
  },
  {
    name: '200 for one that has run out',
    given: given(expired),
    request: post('disable'),
    status: 200,
  },
  refuses('disable', 'a second time', given(off), 'already disabled'),
  refuses('disable', 'after the end for good', given(revoked), 'subscription is revoked'),
  ...unknown('disable'),
])

scenarios('POST /admin/api/subscriptions/{uuid}/enable', [
  {
    name: '200, and its client is back before the answer, with the same end',
    given: given(off),
    request: post('enable'),
    status: 200,
    body: { ok: true },
    effects: (w, uuid) => {
      expect(isServed(w, uuid)).toBe(true)
      expect(row(w)).toMatchObject({ expires_at: inSeconds(w, 30 * DAY), disabled_at: null })
      expect(auditOf(w)).toEqual(['subscription.enable'])
      expect(eventsOf(w)).toEqual([])
    },
  },
  ...[held, expired].map(
    (more): Scenario => ({
      name: `200 for one that is ${more.name} beside it, which is served no more than before`,
      given: given((w) => ({ ...off, ...more(w) })),
      request: post('enable'),
      status: 200,
      effects: (w, uuid) => {
        expect(isServed(w, uuid)).toBe(false)
        expect(row(w)).toMatchObject(more(w))
      },
    }),
  ),
  refuses('enable', 'one that is on', given(), 'subscription is not disabled'),
  refuses('enable', 'one that is revoked', given(revoked), 'subscription is not disabled'),
  ...unknown('enable'),
])

const over = (w: World) => ({ ...off, ...expired(w) })

scenarios('what else is done with one that is off', [
  refuses('hold', 'nothing to pause', given(off), 'subscription is disabled'),
  {
    name: '200 for the end of a pause: it stays off, and has its time',
    given: given((w) => ({ ...off, ...held(w) })),
    request: post('resume'),
    status: 200,
    effects: (w, uuid) => {
      expect(row(w)).toMatchObject({ ...off, expires_at: inSeconds(w, 30 * DAY + 3600) })
      expect(isServed(w, uuid)).toBe(false)
    },
  },
  ...[
    { what: 'from its end on', make: given(off), end: 31 },
    { what: 'from now on, where it is over', make: given(over), end: 1 },
  ].map(
    ({ what, make, end }): Scenario => ({
      name: `200 for more days, ${what}: it stays off`,
      given: make,
      request: (uuid) => ({ path: `${SUBSCRIPTIONS}/${uuid}/extend`, body: { days: 1 } }),
      status: 200,
      effects: (w, uuid, { json }) => {
        expect(json).toMatchObject({ ...off, expires_at: inSeconds(w, end * DAY) })
        expect(isServed(w, uuid)).toBe(false)
      },
    }),
  ),
  {
    name: '200 for a revocation, of which nothing stays off',
    given: given(off),
    request: post('revoke'),
    status: 200,
    effects: (w) => expect(row(w)).toMatchObject({ active: 0, disabled_at: null }),
  },
  ...[
    { what: 'unexpired', make: given({ ...off, node: 'nl1' }), status: 400 },
    {
      what: 'over',
      make: given((w) => ({ ...over(w), node: 'nl1' })),
      status: 200,
    },
  ].map(
    ({ what, make, status }): Scenario => ({
      name: `${status} for the deletion of its node, where it is ${what}`,
      given: (w) => {
        w.change(
          `insert into nodes (code, label, kind, address, public_key, sort_order, created_at)
           values ('nl1', 'NL', 'external', 'nl.test', 'x', 2, '2026-01-01T00:00:00')`,
        )
        return make(w)
      },
      request: { path: `${API}/nodes/nl1`, method: 'DELETE' },
      status,
    }),
  ),
])

describe('where it is listed and counted', () => {
  let w: World
  let token: string
  beforeEach(async () => {
    w = await createWorld()
    token = addUser(w, 7, { username: 'alice', telegram_id: 7 })
    addSubscription(w, 7, off)
  })
  afterEach(() => w.close())

  const total = async (path: string) => (await w.admin(`${API}/${path}`)).json.length
  const page = async (lang: string) => {
    const headers = { 'user-agent': 'Mozilla/5.0', 'accept-language': lang }
    return (await w.call(`/sub/${token}`, { host: 'sub.test', headers })).text
  }

  test('by its state, before that of a pause or an end', async () => {
    const { uuid } = (await w.admin(SUBSCRIPTIONS)).json[0]
    for (const more of [{}, held(w), expired(w)]) {
      for (const [column, value] of Object.entries(more)) {
        w.change(`update subscriptions set ${column} = ? where uuid = ?`, value, uuid)
      }
      expect(await total('subscriptions?status=disabled')).toBe(1)
      expect(await total('subscriptions?status=disabled&sort=expires_at&node=de1')).toBe(1)
      expect(await total('subscriptions?status=disabled&q=@alice')).toBe(1)
      expect(await total('users?status=disabled')).toBe(1)
      for (const state of ['active', 'held', 'expired']) {
        expect(await total(`subscriptions?status=${state}`)).toBe(0)
        expect(await total(`users?status=${state}`)).toBe(0)
      }
      expect(await total('users?status=none')).toBe(0)
    }
    expect((await w.admin(`${API}/users`)).json[0]).toMatchObject({
      active: 0,
      held: 0,
      disabled: 1,
    })
  })

  test('in the statistics apart from those that are active', async () => {
    addSubscription(w, 7)
    const { subscriptions } = (await w.admin(`${API}/stats`)).json
    expect(subscriptions).toEqual({ active: 1, held: 0, expired: 0, revoked: 0, disabled: 1 })
    w.change('update subscriptions set disabled_at = null')
    const none = (await w.admin(`${API}/stats`)).json.subscriptions
    expect(none).toEqual({ active: 2, held: 0, expired: 0, revoked: 0 })
    expect(w.faults()).toEqual([])
  })

  test('in no list and on no page as one that works', async () => {
    const headers = { 'user-agent': 'Happ/3.26.3' }
    const list = await w.call(`/sub/${token}`, { host: 'sub.test', headers })
    expect([list.status, list.text]).toEqual([200, ''])
    expect(await page('en')).toContain('Subscription switched off')
    expect(await page('ru')).toContain('Подписка отключена')
    expect((await w.call(`/api/cabinet/${token}`)).json.subscriptions).toEqual([])
    const shop = (await w.call(`/api/cabinet/${token}/shop`)).json
    expect(shop.subscriptions).toMatchObject([{ state: 'disabled' }])
  })

  test('nobody is reminded of its end', async () => {
    w.change('update subscriptions set expires_at = ?', inSeconds(w, DAY))
    await remindOwners(w.s)
    expect(w.rows('select * from outbox')).toEqual([])
  })
})

test('sixty that are off behind our back are no loss to the removal brake', async () => {
  const w = await createWorld()
  addUser(w, 9)
  for (let i = 0; i < 60; i++) {
    w.node.clients.set(addSubscription(w, 9, i < 50 ? off : { ...off, ...held(w) }), 'de1')
  }
  const [synced] = await w.s.nodeSync.syncAll({ force: false, remove: true })
  expect(synced).toMatchObject({ removed: 60, error: null })
  w.close()
})

describe('payments', () => {
  let shop: Shop
  beforeEach(async () => {
    shop = await createShop()
  })
  afterEach(() => closeShop(shop))

  test('more time is not sold for it', async () => {
    const renews = addSubscription(shop.w, 1, off)
    await expect(shop.buy({ renews })).rejects.toThrow('400 {"error":"subscription is disabled"}')
  })

  test('one that was under way lengthens it, and it stays off', async () => {
    const renews = addSubscription(shop.w, 1)
    const { id } = await shop.buy({ renews })
    shop.w.change('update subscriptions set disabled_at = ?', OFF_AT)
    await confirmPayment(shop.w.s, id, { state: 'paid' })
    await shop.w.s.background.idle()
    expect(row(shop.w)).toMatchObject({ ...off, expires_at: inSeconds(shop.w, 60 * DAY) })
    expect(isServed(shop.w, renews)).toBe(false)
  })
})
