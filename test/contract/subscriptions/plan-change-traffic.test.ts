/** Traffic, devices and reminders when days become those of another plan: customers change among plans with the same traffic, admins among all. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DAY, inSeconds } from '#test/support/rows/records.ts'
import { type ChangeShop, createChangeShop } from '#test/support/worlds/change-shop.ts'
import type { World } from '#test/support/worlds/world.ts'

const GB = 1024 ** 3
const DAY_MS = DAY * 1000

let shop: ChangeShop
let w: World
beforeEach(async () => {
  shop = await createChangeShop()
  w = shop.w
})
afterEach(() => shop.close())

const trafficOf = (uuid: string) => {
  const { quota_bytes, quota_period, used_bytes, extra_bytes, limited_at, resets_at } =
    shop.all(uuid)
  return { quota_bytes, quota_period, used_bytes, extra_bytes, limited_at, resets_at }
}
const used = (more = {}) =>
  shop.basic({
    ...{ quota_bytes: 10 * GB, quota_period: 'month', used_bytes: 10 * GB, extra_bytes: GB },
    ...{ resets_at: '2026-04-01T00:00:00', ...more },
  })
const monthly = { quota_gb: 10, quota_period: 'month' }

describe('customers', () => {
  test.each([
    ['of a month', monthly, {}],
    [
      'for all days, as much as there is of it',
      { quota_gb: 10, quota_period: 'none' },
      { quota_period: 'none', quota_bytes: 30 * GB, used_bytes: 25 * GB, resets_at: null },
    ],
    [
      'of which all is used',
      monthly,
      { used_bytes: 11 * GB, limited_at: '2026-03-01T11:00:00', quota_notice: 100 },
    ],
    [
      'that there is none of, beside what was bought',
      { quota_gb: null },
      { quota_bytes: null, quota_period: 'none', used_bytes: 0, resets_at: null },
    ],
  ])('keep their traffic %s', async (_, sold, row) => {
    await shop.setPlan('1m', sold)
    await shop.setPlan('3m', sold)
    const uuid = await used(row)
    const before = trafficOf(uuid)
    expect((await shop.choices(uuid)).json.plans).toMatchObject([{ plan: '3m', days: 15 }])
    expect((await shop.change(uuid, { plan: '3m' })).json.days).toBe(15)
    expect(trafficOf(uuid)).toEqual(before)
    w.clock.advance(DAY_MS)
    expect((await shop.change(uuid, { plan: '1m' })).json.days).toBe(28)
    expect(trafficOf(uuid)).toEqual(before)
  })

  test.each([
    ['more of it', monthly, { quota_gb: 20 }, {}],
    ['other periods', monthly, { quota_gb: 10, quota_period: 'day' }, {}],
    ['none', monthly, {}, {}],
    [
      'some where there was none',
      {},
      monthly,
      { quota_bytes: null, quota_period: 'none', used_bytes: 0, resets_at: null },
    ],
    ['the list’s, where their own is another', monthly, monthly, { quota_period: 'week' }],
  ])('are offered no plan with other traffic: %s', async (_, sold, other, row) => {
    await shop.setPlan('1m', sold)
    await shop.setPlan('3m', other)
    const uuid = await used(row)
    const before = shop.all(uuid)
    expect((await shop.choices(uuid)).json.plans).toEqual([])
    const refused = await shop.change(uuid, { plan: '3m' })
    expect([refused.status, refused.json]).toEqual([
      ...[400, { error: 'that plan has other traffic: renew with it instead' }],
    ])
    expect(shop.all(uuid)).toEqual(before)
  })
})

describe('admins change to a plan with other traffic', () => {
  const change = (uuid: string, plan: string) =>
    shop.api(`subscriptions/${uuid}/change`, { plan }, 'POST')

  test('whose quota it is; what was used of the period and bought beside it stays', async () => {
    await shop.setPlan('3m', { quota_gb: 20, quota_period: 'month' })
    const uuid = await used()
    expect((await change(uuid, '3m')).status).toBe(200)
    expect(trafficOf(uuid)).toEqual({
      ...{ quota_bytes: 20 * GB, quota_period: 'month', used_bytes: 10 * GB, extra_bytes: GB },
      ...{ limited_at: null, resets_at: '2026-04-01T00:00:00' },
    })
  })

  test('which serves a limited one again, or limits one that has used more', async () => {
    await shop.setPlan('3m', { quota_gb: 20, quota_period: 'month' })
    const limited = await used({ limited_at: '2026-03-01T11:00:00', quota_notice: 100 })
    expect(shop.holders(limited)).toEqual([])
    await change(limited, '3m')
    expect(shop.holders(limited)).toEqual(['de1', 'nl1', 'us1'])
    await shop.setPlan('3m', { quota_gb: 5 })
    const free = await used({ extra_bytes: 0 })
    await change(free, '3m')
    expect(trafficOf(free)).toMatchObject({ used_bytes: 10 * GB, quota_bytes: 5 * GB })
    expect(trafficOf(free).limited_at).not.toBeNull()
    expect(shop.holders(free)).toEqual([])
  })

  test('and packs are neither used by what the quota was, nor whole again', async () => {
    await shop.setPlan('1m', { quota_gb: 100, quota_period: 'month' })
    await shop.setPlan('3m', { quota_gb: 1000, quota_period: 'month' })
    const eaten = await used({
      ...{ quota_bytes: 100 * GB, used_bytes: 250 * GB, extra_bytes: 200 * GB },
    })
    await change(eaten, '3m')
    expect(trafficOf(eaten)).toMatchObject({ used_bytes: 100 * GB, extra_bytes: 50 * GB })
    const whole = await used({
      ...{ plan: '3m', node_group: 'all', quota_bytes: 1000 * GB },
      ...{ used_bytes: 500 * GB, extra_bytes: 50 * GB, expires_at: inSeconds(w, 90 * DAY) },
    })
    await change(whole, '1m')
    expect(trafficOf(whole).extra_bytes).toBe(50 * GB)
  })

  test('of which nothing is used where it was for all days, or there was none', async () => {
    await shop.setPlan('3m', { quota_gb: 20, quota_period: 'rolling' })
    for (const row of [
      { quota_period: 'none', resets_at: null },
      { quota_bytes: null, quota_period: 'none', used_bytes: 0, resets_at: null },
    ]) {
      const uuid = await used(row)
      await change(uuid, '3m')
      expect(trafficOf(uuid)).toMatchObject({
        ...{ quota_bytes: 20 * GB, used_bytes: 0, extra_bytes: GB, limited_at: null },
        resets_at: '2026-04-01T12:00:00',
      })
    }
  })

  test('or without: what was bought beside it waits', async () => {
    const uuid = await used({ used_bytes: 4 * GB, extra_bytes: 3 * GB })
    await change(uuid, '3m')
    expect(trafficOf(uuid)).toMatchObject({ quota_bytes: null, used_bytes: 0, extra_bytes: 3 * GB })
  })
})

describe('what goes with a plan', () => {
  test('is the number of devices, which is the plan’s now', async () => {
    await shop.api('hwid-settings', { enabled: true, fallback_limit: 3 })
    await shop.setPlan('3m', { hwid_limit: 7 })
    const uuid = await shop.basic()
    await shop.change(uuid, { plan: '3m' })
    const { devices } = (await w.call(`/api/cabinet/${shop.token}/shop`)).json
    expect(devices.limit).toBe(7)
  })

  test('reminders of the new end that are past are not sent', async () => {
    const uuid = await shop.basic({ expires_at: inSeconds(w, 5 * DAY) })
    await shop.change(uuid, { plan: '3m' })
    expect(shop.all(uuid)).toMatchObject({ reminded: 1, expires_at: inSeconds(w, 2 * DAY) })
  })
})
