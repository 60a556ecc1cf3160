import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ownIdOf } from '#src/domain/secret.ts'
import {
  addDevice,
  addNode,
  addSubscription,
  addUser,
  auditOf,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { expectDecent, scenarios } from '#test/support/worlds/scenario.ts'
import { createShop, type Shop } from '#test/support/worlds/shop.ts'

const PLANS = [
  { code: '1m', label: '30 days', days: 30, price: 199, currency: 'RUB', price_stars: null },
  { code: '3m', label: '90 days', days: 90, price: 549, currency: 'RUB', price_stars: null },
  { code: '6m', label: '180 days', days: 180, price: 999, currency: 'RUB', price_stars: null },
  { code: '12m', label: '365 days', days: 365, price: 1799, currency: 'RUB', price_stars: null },
]

describe('GET /api/cabinet/{token}/shop', () => {
  let shop: Shop
  beforeEach(async () => {
    shop = await createShop()
  })
  afterEach(() => shop.w.close())

  async function read() {
    const path = `/api/cabinet/${shop.token}/shop`
    const answer = await shop.w.call(path)
    expectDecent(path, answer)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    return answer.json
  }

  test('200 with what can be bought', async () => {
    expect(await read()).toEqual({
      payments_enabled: true,
      nodes: [{ code: 'de1', label: 'Local' }],
      plans: PLANS,
      providers: [
        { id: 'provider_a', label: 'YooKassa' },
        { id: 'provider_b', label: 'Payment gateway' },
        { id: 'stars', label: 'Telegram Stars' },
        { id: 'cryptobot', label: 'CryptoBot' },
      ],
      subscriptions: [],
      devices: { limit: null, list: [] },
    })
  })

  test('what is not sold is not there', async () => {
    addNode(shop.w, 'off', { enabled: 0 })
    shop.w.change("update plans set archived = 1 where code = '1m'")
    shop.w.change("update plans set price = 0 where code = '3m'")
    shop.w.change("update plans set price = 0, price_stars = 50 where code = '6m'")
    putSettings(shop.w, { PROVIDER_A_SECRET_KEY: '', STARS_ENABLED: 'false' })
    const json = await read()
    expect(json.nodes).toEqual([{ code: 'de1', label: 'Local' }])
    expect(json.plans).toEqual([{ ...PLANS[2], price: 0, price_stars: 50 }, PLANS[3]])
    expect(json.providers.map((one: { id: string }) => one.id)).toEqual(['provider_b', 'cryptobot'])
  })

  test('payments that are off are said to be, and so they are for a banned user', async () => {
    putSettings(shop.w, { PAYMENTS_ENABLED: 'false' })
    expect((await read()).payments_enabled).toBe(false)
    putSettings(shop.w, { PAYMENTS_ENABLED: 'true' })
    addSubscription(shop.w, 1)
    shop.w.change("update users set banned_at = '2026-01-01T00:00:00'")
    expect(await read()).toMatchObject({ payments_enabled: false, subscriptions: [] })
  })

  test('all own subscriptions but revoked ones are there, with their state', async () => {
    addUser(shop.w, 2)
    addSubscription(shop.w, 2)
    addSubscription(shop.w, 1, { active: 0 })
    const active = addSubscription(shop.w, 1)
    const expired = addSubscription(shop.w, 1, { expires_at: inSeconds(shop.w, -1) })
    const heldAt = nowOf(shop.w)
    const held = addSubscription(shop.w, 1, { held_at: heldAt, node: 'gone', plan: 'gone' })
    const idOf = (uuid: string) => ownIdOf(shop.w.s, uuid)
    expect(idOf(active)).toMatch(/^[\w-]{22}$/)
    const { subscriptions } = await read()
    expect(subscriptions).toEqual([
      {
        uuid: idOf(held),
        node: 'gone',
        node_label: 'gone',
        plan_label: 'gone',
        expires_at: inSeconds(shop.w, 30 * 86_400),
        held_at: heldAt,
        state: 'held',
      },
      expect.objectContaining({ uuid: idOf(expired), state: 'expired', held_at: null }),
      expect.objectContaining({
        uuid: idOf(active),
        state: 'active',
        node_label: 'Local',
        plan_label: '30 days',
      }),
    ])
  })

  test('own devices are there without their ids, with the limit where there is one', async () => {
    const id = addDevice(shop.w, 1, 'hwid-of-user-1', { device_os: 'iOS', device_model: 'iPhone' })
    const list = [
      {
        id,
        device_os: 'iOS',
        device_model: 'iPhone',
        user_agent: null,
        created_at: nowOf(shop.w),
        last_seen_at: nowOf(shop.w),
      },
    ]
    expect((await read()).devices).toEqual({ limit: null, list })
    putSettings(shop.w, { HWID_LIMIT_ENABLED: 'true' })
    expect((await read()).devices).toEqual({ limit: 5, list })
    shop.w.change('update users set hwid_limit = 0')
    expect((await read()).devices).toEqual({ limit: 0, list })
  })
})

scenarios('GET /api/cabinet/{token}/shop', [
  {
    name: '404 for an unknown token',
    request: { path: `/api/cabinet/${'x'.repeat(43)}/shop` },
    status: 404,
    error: 'not found',
  },
  {
    name: '405 for another method',
    request: { path: `/api/cabinet/${'x'.repeat(43)}/shop`, body: {} },
    status: 405,
    headers: { allow: 'GET, HEAD' },
  },
])

scenarios('DELETE /api/cabinet/{token}/devices/{id}', [
  {
    name: '200, and the device is gone',
    given: (w) => ({ token: addUser(w, 1), id: addDevice(w, 1, 'hwid-of-user-1') }),
    request: ({ token, id }) => ({
      path: `/api/cabinet/${token}/devices/${id}`,
      method: 'DELETE',
      headers: { 'x-real-ip': '203.0.113.7' },
    }),
    status: 200,
    headers: { 'cache-control': 'private, no-store' },
    body: { ok: true },
    effects: (w, { id }) => {
      expect(w.rows('select * from devices')).toEqual([])
      expect(w.rows('select admin, ip, action, object, detail from audit_log')).toEqual([
        {
          admin: null,
          ip: '203.0.113.7',
          action: 'device.remove',
          object: String(id),
          detail: 'tg_id=1',
        },
      ])
    },
  },
  {
    name: "200 without an effect for another user's device",
    given: (w) => {
      addUser(w, 2)
      return { token: addUser(w, 1), id: addDevice(w, 2, 'hwid-of-user-2') }
    },
    request: ({ token, id }) => ({
      path: `/api/cabinet/${token}/devices/${id}`,
      method: 'DELETE',
    }),
    status: 200,
    body: { ok: true },
    effects: (w) => expect(w.rows('select * from devices')).toHaveLength(1),
  },
  ...['0', 'x', '99', '1e3', '9'.repeat(30)].map((id) => ({
    name: `200 without an effect for the id ${id}`,
    given: (w: Shop['w']) => addUser(w, 1),
    request: (token: string) => ({
      path: `/api/cabinet/${token}/devices/${id}`,
      method: 'DELETE',
    }),
    status: 200,
    body: { ok: true },
    effects: (w: Shop['w']) => expect(auditOf(w)).toEqual([]),
  })),
  {
    name: '404 for an unknown token',
    request: { path: `/api/cabinet/${'x'.repeat(43)}/devices/1`, method: 'DELETE' },
    status: 404,
    error: 'not found',
  },
])

describe('the limit of 3 devices in 24 hours', () => {
  test('counts what a user removes on their own, and nothing else', async () => {
    const { w, token } = await createShop()
    const devices = Array.from({ length: 8 }, (_, i) => addDevice(w, 1, `hwid-number-${i}`))
    const remove = (id: number | undefined) =>
      w.call(`/api/cabinet/${token}/devices/${id}`, { method: 'DELETE' })
    // By an admin, and of no device: neither counts.
    await w.admin(`/admin/api/users/1/devices/${devices[0]}`, { method: 'DELETE' })
    expect((await remove(devices[0])).status).toBe(200)
    for (const i of [1, 2, 3]) {
      expect((await remove(devices[i])).status).toBe(200)
      w.clock.advance(3_600_000)
    }
    const before = w.dump()
    const answer = await remove(devices[4])
    expect([answer.status, answer.json]).toEqual([
      429,
      { error: 'too many attempts, try again later' },
    ])
    expect(answer.headers.get('retry-after')).toBe(String(21 * 3600))
    expect(w.dump()).toBe(before)
    w.clock.advance(21 * 3_600_000)
    expect((await remove(devices[4])).status).toBe(200)
    expect((await remove(devices[5])).status).toBe(429)
    expect(w.rows('select count(*) n from devices')).toEqual([{ n: 3 }])
    w.close()
  })

  test('of 8 removals at once 3 are done', async () => {
    const { w, token } = await createShop()
    const devices = Array.from({ length: 8 }, (_, i) => addDevice(w, 1, `hwid-number-${i}`))
    const answers = await Promise.all(
      devices.map((id) => w.call(`/api/cabinet/${token}/devices/${id}`, { method: 'DELETE' })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([
      200, 200, 200, 429, 429, 429, 429, 429,
    ])
    expect(w.rows('select count(*) n from devices')).toEqual([{ n: 5 }])
    w.close()
  })
})
