/** What goes with days of another plan: its traffic, devices and reminders. Nothing of what was paid is lost, and nothing is had twice. */
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

describe('what goes with a plan', () => {
  const quotaOf = (uuid: string) => {
    const { quota_bytes, quota_period, used_bytes, extra_bytes, limited_at, resets_at } =
      shop.all(uuid)
    return { quota_bytes, quota_period, used_bytes, extra_bytes, limited_at, resets_at }
  }
  const used = (more = {}) =>
    shop.basic({
      ...{ quota_bytes: 10 * GB, quota_period: 'month', used_bytes: 10 * GB, extra_bytes: GB },
      ...{ resets_at: '2026-04-01T00:00:00', ...more },
    })

  test('is its quota; what was used of the period and bought beside it stays', async () => {
    await shop.setPlan('3m', { quota_gb: 20, quota_period: 'month' })
    const uuid = await used()
    expect((await shop.change(uuid, { plan: '3m' })).status).toBe(200)
    expect(quotaOf(uuid)).toEqual({
      ...{ quota_bytes: 20 * GB, quota_period: 'month', used_bytes: 10 * GB, extra_bytes: GB },
      ...{ limited_at: null, resets_at: '2026-04-01T00:00:00' },
    })
  })

  test('lets a limited one run again by a larger quota, and limits one that has used more than a smaller', async () => {
    await shop.setPlan('3m', { quota_gb: 20, quota_period: 'month' })
    const limited = await used({
      limited_at: '2026-03-01T11:00:00',
      used_bytes: 11 * GB,
      quota_notice: 100,
    })
    expect(shop.holders(limited)).toEqual([])
    await shop.change(limited, { plan: '3m' })
    expect(quotaOf(limited).limited_at).toBeNull()
    expect(shop.holders(limited)).toEqual(['de1', 'nl1', 'us1'])
    await shop.setPlan('3m', { quota_gb: 5 })
    const free = await used()
    await shop.change(free, { plan: '3m' })
    expect(quotaOf(free)).toMatchObject({ used_bytes: 10 * GB, quota_bytes: 5 * GB })
    expect(quotaOf(free).limited_at).not.toBeNull()
    expect(shop.holders(free)).toEqual([])
  })

  test('begins with nothing used where nothing was counted, and counts nothing without a quota', async () => {
    await shop.setPlan('3m', { quota_gb: 20, quota_period: 'rolling' })
    const counted = await shop.basic()
    await shop.change(counted, { plan: '3m' })
    expect(quotaOf(counted)).toMatchObject({
      quota_bytes: 20 * GB,
      used_bytes: 0,
      resets_at: '2026-04-01T12:00:00',
    })
    const uncounted = await shop.basic({
      plan: '3m',
      node_group: 'all',
      quota_bytes: 5,
      used_bytes: 5,
      limited_at: '2026-03-01T11:00:00',
      quota_notice: 100,
    })
    await shop.change(uncounted, { plan: '1m' })
    expect(quotaOf(uncounted)).toMatchObject({ quota_bytes: null, used_bytes: 0, limited_at: null })
    expect(shop.holders(uncounted)).toEqual(['de1'])
  })

  test('without periods is the share of the days: two days of little are not a thousand GB', async () => {
    await shop.setPlan('1m', { quota_gb: 30 })
    await shop.setPlan('3m', { quota_gb: 900 })
    const given = { quota_bytes: 30 * GB, used_bytes: 10 * GB, extra_bytes: GB }
    const uuid = await shop.basic({ ...given, expires_at: inSeconds(w, 2 * DAY) })
    expect((await shop.change(uuid, { plan: '3m' })).json.days).toBe(1)
    // 18 of the 20 GB are more than the share of two days, and 10 GB of the new ones for each.
    const left = 10 * GB + 18 * GB
    const { quota_bytes, ...rest } = quotaOf(uuid)
    expect(Math.abs(quota_bytes - left)).toBeLessThan(2)
    expect(rest).toMatchObject({ used_bytes: 0, extra_bytes: GB, quota_period: 'none' })
  })

  test('which is used up leaves nothing to change, whatever is between', async () => {
    await shop.setPlan('1m', { quota_gb: 30 })
    const uuid = await shop.basic({ quota_bytes: 30 * GB, used_bytes: 15 * GB })
    // 15 of 30 days' traffic is left.
    expect((await shop.change(uuid, { plan: '3m' })).json.days).toBe(7)
    w.clock.advance(DAY_MS)
    expect((await shop.change(uuid, { plan: '1m' })).json.days).toBe(12)
    expect(quotaOf(uuid)).toMatchObject({ quota_bytes: 12 * GB, used_bytes: 0 })
    w.change('update subscriptions set used_bytes = quota_bytes, limited_at = created_at')
    w.clock.advance(DAY_MS)
    const refused = await shop.change(uuid, { plan: '3m' })
    expect([refused.status, refused.json.error]).toEqual([
      ...[400, 'too little is left for a day of that plan: renew instead'],
    ])
  })

  test('of a period is as much used of what is sold for all days', async () => {
    await shop.setPlan('3m', { quota_gb: 90 })
    const uuid = await used({ used_bytes: 5 * GB })
    await shop.change(uuid, { plan: '3m' })
    expect(quotaOf(uuid)).toMatchObject({
      ...{ quota_bytes: 15 * GB, used_bytes: 7.5 * GB, extra_bytes: GB, resets_at: null },
    })
  })

  test('leaves what was bought beside it for the next one, as a renewal does', async () => {
    const uuid = await used({ used_bytes: 4 * GB, extra_bytes: 3 * GB })
    await shop.change(uuid, { plan: '3m' })
    expect(quotaOf(uuid)).toMatchObject({ quota_bytes: null, used_bytes: 0, extra_bytes: 3 * GB })
    await shop.setPlan('1m', { quota_gb: 10, quota_period: 'month' })
    w.clock.advance(DAY_MS)
    await shop.change(uuid, { plan: '1m' })
    expect(quotaOf(uuid)).toMatchObject({ quota_bytes: 10 * GB, extra_bytes: 3 * GB })
  })

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
