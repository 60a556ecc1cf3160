/** Traffic quotas as admins set them: of plans, of what is sold with them, and of single subscriptions. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import {
  addSubscription,
  addUser,
  DAY,
  inSeconds,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { createGroupShop, type GroupShop } from '#test/support/worlds/group-shop.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import type { World } from '#test/support/worlds/world.ts'

const GB = 1024 ** 3
const KEYS = ['quota_bytes', 'quota_period', 'used_bytes', 'extra_bytes', 'resets_at', 'limited_at']

let shop: GroupShop
let w: World
beforeEach(async () => {
  shop = await createGroupShop()
  w = shop.w
})
afterEach(() => shop.close())

const setPlan = (code: string, body: object) => shop.api(`plans/${code}`, body, 'PATCH')
const edit = (uuid: string, body: object) => shop.api(`subscriptions/${uuid}`, body, 'PATCH')
const quotaOf = (uuid: string) =>
  w.rows(`select ${KEYS.join(', ')}, quota_notice from subscriptions where uuid = ?`, uuid)[0]
const addUserOf = (tgId: number) => {
  addUser(w, tgId)
  return tgId
}
/** Lets a core report so many bytes more of a client, and counts them. */
async function use(code: 'de1' | 'nl1' | 'us1', uuid: string, bytes: number) {
  const [up, down] = shop.nodes[code].counters.get(uuid) ?? [0, 0]
  shop.nodes[code].counters.set(uuid, [up, down + bytes])
  await w.s.nodeSync.readNode(code, 1000)
  await w.s.background.idle()
}

async function pay({ id, externalId }: { id: string; externalId: string }) {
  shop.a.pay(externalId)
  await shop.noticeA(id, { externalId })
  await w.s.background.idle()
}

const BAD: [body: Record<string, unknown>, error: string][] = [
  ...[0, -1, 1.5, '100', 1_000_001].map((quota_gb): [Record<string, unknown>, string] => [
    { quota_gb },
    'quota_gb must be a whole number from 1 to 1000000',
  ]),
  [
    { quota_gb: 5, quota_period: 'year' },
    'quota_period must be one of none, day, week, month, rolling',
  ],
  [{ quota_period: 'month' }, 'quota_gb is missing or of the wrong type'],
  ...[0, -1, '3', 1_000_001].map((hwid_limit): [Record<string, unknown>, string] => [
    { hwid_limit },
    'hwid_limit must be a whole number from 1 to 1000000',
  ]),
]

describe('a plan', () => {
  test('says its quota to all who see it, and nothing of one that it has not', async () => {
    const { json } = await setPlan('1m', { quota_gb: 100, quota_period: 'month', hwid_limit: 3 })
    expect(json).toMatchObject({ quota_gb: 100, quota_period: 'month', hwid_limit: 3 })
    const sold = (await w.call('/api/plans')).json
    expect(sold[0]).toMatchObject({ code: '1m', quota_gb: 100, quota_period: 'month' })
    for (const key of ['quota_gb', 'quota_period', 'hwid_limit']) {
      expect(sold[1]).not.toHaveProperty(key)
      expect((await shop.api('plans')).json[1]).not.toHaveProperty(key)
    }
    const none = (await setPlan('1m', { quota_gb: null, hwid_limit: null })).json
    for (const key of ['quota_gb', 'quota_period', 'hwid_limit'])
      expect(none).not.toHaveProperty(key)
  })

  test.each(BAD)('is refused with %j', async (body, error) => {
    expect(await setPlan('1m', body)).toMatchObject({ status: 400, json: { error } })
    const plan = { code: 'new', label: 'New', days: 30, price: 5, ...body }
    expect(await shop.api('plans', plan)).toMatchObject({ status: 400, json: { error } })
  })
})

describe('what is given of a plan with a quota', () => {
  beforeEach(() => setPlan('1m', { quota_gb: 10, quota_period: 'rolling' }))

  test('has it from the beginning, by a grant', async () => {
    const { json } = await shop.api('users/7/grant', { node: 'de1', plan: '1m' })
    expect(json).toMatchObject({
      ...{ quota_bytes: 10 * GB, quota_period: 'rolling', used_bytes: 0, extra_bytes: 0 },
      ...{ limited_at: null, resets_at: '2026-04-01T12:00:00' },
    })
    const other = await shop.api('users/7/grant', { node: 'de1', plan: '6m' })
    for (const key of KEYS) expect(other.json).not.toHaveProperty(key)
  })

  test('keeps what the plan had when a gift code was made', async () => {
    const { json } = await shop.api('gift-codes', { node: 'nl1', plan: '1m' })
    await setPlan('1m', { quota_gb: 99, quota_period: 'day' })
    const given = await redeemGift(w.s, 7, json.code)
    expect(given).toMatchObject({
      subscription: { row: { quotaBytes: 10 * GB, quotaPeriod: 'rolling' } },
    })
    await w.s.background.idle()
  })

  test('keeps what the plan had when its payment was made, and is not paid by an older link', async () => {
    const first = await shop.buy()
    expect(await shop.buy()).toEqual(first)
    await setPlan('1m', { quota_gb: 99 })
    expect((await shop.buy()).id).not.toBe(first.id)
    await pay(first)
    const [row] = w.rows('select quota_bytes, quota_period from subscriptions')
    expect(row).toEqual({ quota_bytes: 10 * GB, quota_period: 'rolling' })
  })
})

describe('PATCH of a subscription', () => {
  test('begins, changes and ends a quota', async () => {
    const uuid = addSubscription(w, addUserOf(7))
    const begun = await edit(uuid, { quota_gb: 5, quota_period: 'day', extra_gb: 2 })
    expect(begun.json).toMatchObject({
      ...{ quota_bytes: 5 * GB, quota_period: 'day', extra_bytes: 2 * GB, used_bytes: 0 },
      resets_at: '2026-03-02T00:00:00',
    })
    expect((await edit(uuid, { quota_period: 'none' })).json).toMatchObject({ resets_at: null })
    expect(w.rows('select detail from audit_log order by id desc limit 1')).toEqual([
      { detail: `tg_id=7 quota_bytes=${5 * GB} quota_period=none extra_bytes=${2 * GB}` },
    ])
    const ended = (await edit(uuid, { quota_gb: null })).json
    for (const key of KEYS) expect(ended).not.toHaveProperty(key)
    expect(quotaOf(uuid)).toMatchObject({ quota_bytes: null, extra_bytes: 0 })
  })

  test('to less than is used limits at once; what is bought beside it lifts that', async () => {
    const uuid = addSubscription(w, addUserOf(7), { quota_bytes: 9 * GB, used_bytes: 3 * GB })
    await w.s.nodeSync.syncAll({ force: false, remove: true })
    expect(shop.holders(uuid)).toEqual(['de1'])
    expect((await edit(uuid, { quota_gb: 3 })).json.limited_at).toBe(nowOf(w))
    expect(shop.holders(uuid)).toEqual([])
    expect((await edit(uuid, { extra_gb: 1 })).json.limited_at).toBeNull()
    expect(shop.holders(uuid)).toEqual(['de1'])
  })

  test('is refused without a quota, and of a revoked one', async () => {
    const uuid = addSubscription(w, addUserOf(7))
    const missing = { error: 'quota_gb is missing or of the wrong type' }
    expect((await edit(uuid, { extra_gb: 5 })).json).toEqual(missing)
    expect((await edit(uuid, { quota_period: 'day' })).json).toEqual(missing)
    expect((await edit(uuid, { quota_gb: 0 })).json).toEqual({
      error: 'quota_gb must be a whole number from 1 to 1000000',
    })
    expect((await edit(uuid, { extra_gb: -1 })).json).toEqual({
      error: 'extra_gb must be a whole number from 0 to 1000000',
    })
    w.change('update subscriptions set active = 0, revoked_at = ?', nowOf(w))
    expect((await edit(uuid, { quota_gb: 5 })).json).toEqual({
      error: 'subscription is revoked',
    })
  })
})

describe('who has used up all', () => {
  const limitedOne = async (more: Record<string, string | number | null> = {}) => {
    addUser(w, 7, { telegram_id: 7 })
    const uuid = addSubscription(w, 7, { node_group: 'all', quota_bytes: GB, ...more })
    await w.s.nodeSync.syncAll({ force: false, remove: true })
    return uuid
  }

  test('leaves the nodes whose traffic counts, and stays on the others', async () => {
    expect((await shop.api('nodes/nl1', { traffic_ratio: 0 }, 'PATCH')).json.traffic_ratio).toBe(0)
    const uuid = await limitedOne()
    await use('nl1', uuid, 5 * GB)
    expect(quotaOf(uuid)).toMatchObject({ used_bytes: 0, limited_at: null })
    await use('us1', uuid, GB)
    expect(quotaOf(uuid)).toMatchObject({ used_bytes: GB, limited_at: nowOf(w), quota_notice: 100 })
    expect(shop.holders(uuid)).toEqual(['nl1'])
    const { json } = await shop.api('subscriptions?status=limited')
    expect(json.map((one: { uuid: string }) => one.uuid)).toEqual([uuid])
    expect(json[0]).toMatchObject({ active: true, limited_at: nowOf(w) })
    expect((await shop.api('subscriptions?status=active')).json).toEqual([])
    expect((await shop.api('stats')).json.subscriptions).toEqual({
      ...{ active: 0, limited: 1, held: 0, expired: 0, revoked: 0 },
    })
  })

  test('is told once, with the day on which it comes back, also when a reading repeats', async () => {
    const month = { quota_period: 'month', resets_at: '2026-04-01T00:00:00' }
    const uuid = await limitedOne({ ...month, expires_at: inSeconds(w, 60 * DAY) })
    await use('de1', uuid, GB)
    await use('de1', uuid, 0)
    await use('de1', uuid, 5)
    const told = w.rows("select tg_id, payload from outbox where kind = 'traffic'")
    expect(told.map(({ tg_id, payload }) => [tg_id, JSON.parse(payload)])).toEqual([
      [
        7,
        {
          ...{ node_label: 'Label of all', plan_label: expect.any(String), subscription: uuid },
          ...{ used: 100, left: 0, resets_at: '2026-04-01T00:00:00' },
        },
      ],
    ])
  })

  test('keeps their entries; apps are told until when, and how much is used', async () => {
    const uuid = await limitedOne({ quota_period: 'month', resets_at: '2026-03-20T00:00:00' })
    const [{ token }] = w.rows('select token from users where tg_id = 7')
    const list = () => w.call(`/sub/${token}`, { headers: { 'user-agent': 'v2rayNG/1.9' } })
    const before = await list()
    await use('de1', uuid, GB)
    const after = await list()
    expect(after.text).toBe(before.text)
    expect(before.headers.get('announce')).toBeNull()
    expect(after.headers.get('subscription-userinfo')).toMatch(
      new RegExp(`^upload=0; download=${GB}; total=${GB}; expire=\\d+$`),
    )
    const day = Date.UTC(2026, 2, 20) / 1000
    expect(after.headers.get('subscription-refill-date')).toBe(String(day))
    const announced = atob(after.headers.get('announce')?.slice('base64:'.length) ?? '')
    expect(announced).toBe('Your traffic is used up. It comes back on 20.03.2026.')
  })

  test('is served again after a renewal, which begins a new period', async () => {
    await setPlan('1m', { quota_gb: 10, quota_period: 'rolling' })
    const uuid = await limitedOne({ quota_period: 'rolling', node_group: null })
    await use('de1', uuid, GB)
    expect(shop.holders(uuid)).toEqual([])
    const order = { tg_id: 7, plan: '1m', provider: 'provider_a', renews: uuid }
    const { id } = (await shop.api('payments', order)).json
    await pay({ id, externalId: shop.payment(id).external_id })
    expect(quotaOf(uuid)).toMatchObject({
      ...{ quota_bytes: 10 * GB, used_bytes: 0, limited_at: null, quota_notice: 0 },
      resets_at: '2026-04-01T12:00:00',
    })
    expect(shop.holders(uuid)).toEqual(['de1'])
  })

  test('is served again once an admin counts their traffic from 0', async () => {
    const uuid = await limitedOne({ extra_bytes: 5 })
    await use('de1', uuid, 2 * GB)
    expect((await shop.api(`subscriptions/${uuid}/reset-traffic`, undefined, 'POST')).json).toEqual(
      {
        ok: true,
      },
    )
    expect(quotaOf(uuid)).toMatchObject({ used_bytes: 0, extra_bytes: 5, limited_at: null })
    expect(shop.holders(uuid)).toEqual(['de1', 'nl1', 'us1'])
  })

  test('is moved with their node, where nothing counts', async () => {
    w.change("update nodes set traffic_ratio = 0 where code <> 'de1'")
    const uuid = await limitedOne({
      ...{ node: 'nl1', node_group: null, used_bytes: GB, limited_at: nowOf(w) },
    })
    expect(shop.holders(uuid)).toEqual(['nl1'])
    await shop.api('nodes/nl1/move', { to: 'us1' })
    expect(shop.holders(uuid)).toEqual(['us1'])
  })
})

const RATIOS: Scenario[] = [-1, 1.5, '100', 1001, null].map((traffic_ratio) => ({
  name: `400 for a ratio of ${JSON.stringify(traffic_ratio)}`,
  request: { path: '/admin/api/nodes/de1', method: 'PATCH', body: { traffic_ratio } },
  status: 400,
  error: 'traffic_ratio must be a whole number from 0 to 1000',
}))

scenarios('PATCH /admin/api/nodes/{code} {traffic_ratio}', [
  {
    name: '200 with it, of this machine’s node too; one of 100 is not said',
    request: { path: '/admin/api/nodes/de1', method: 'PATCH', body: { traffic_ratio: 250 } },
    status: 200,
    effects: async (w, _given, { json }) => {
      expect(json.traffic_ratio).toBe(250)
      const body = { traffic_ratio: 100 }
      const { json: back } = await w.admin('/admin/api/nodes/de1', { method: 'PATCH', body })
      expect(back).not.toHaveProperty('traffic_ratio')
    },
  },
  ...RATIOS,
])

test('a plan’s device limit counts for who has none of their own: the largest of what is active', async () => {
  putSettings(w, { HWID_LIMIT_ENABLED: 'true', HWID_FALLBACK_LIMIT: '1' })
  await setPlan('1m', { hwid_limit: 2 })
  await setPlan('6m', { hwid_limit: 3 })
  const token = addUser(w, 7)
  addSubscription(w, 7)
  const gone = addSubscription(w, 7, { plan: '6m', expires_at: inSeconds(w, -DAY) })
  const fetch = async (device: number) =>
    (
      await w.call(`/sub/${token}`, {
        headers: { 'user-agent': 'Happ/1.0', 'x-hwid': `device-000${device}` },
      })
    ).status
  expect([await fetch(1), await fetch(2), await fetch(3)]).toEqual([200, 200, 404])
  w.change('update subscriptions set expires_at = ? where uuid = ?', inSeconds(w, DAY), gone)
  expect([await fetch(3), await fetch(4)]).toEqual([200, 404])
  w.change('update users set hwid_limit = 4')
  expect(await fetch(4)).toBe(200)
})
