/** Days of one plan that become days of another: what they are worth, what goes with them, what is refused. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addPayment, auditOf, DAY, eventsOf, inSeconds } from '#test/support/rows/records.ts'
import { type ChangeShop, createChangeShop } from '#test/support/worlds/change-shop.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'
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

const admin = (uuid: string, body: object) => shop.api(`subscriptions/${uuid}/change`, body)
const messages = () => w.rows('select kind from outbox')

describe('days of one server become days of all', () => {
  test('as the preview says, which changes nothing; the same client, on all nodes at once', async () => {
    const uuid = await shop.basic()
    w.clock.advance(7 * DAY_MS + 1000)
    const before = w.dump()
    const preview = await shop.change(uuid, { plan: '3m', preview: true })
    expect(preview.json).toEqual({
      ...{ days: 11, expires_at: inSeconds(w, 11 * DAY), plan_label: 'All servers' },
    })
    expectDecent('/api/cabinet', preview)
    expect(preview.headers.get('cache-control')).toBe('private, no-store')
    expect(w.dump()).toBe(before)
    expect((await admin(uuid, { plan: '3m', preview: true })).json).toEqual(preview.json)
    const changed = await shop.change(uuid, { plan: '3m' })
    expect([changed.status, changed.json]).toEqual([200, preview.json])
    expect(shop.all(uuid)).toMatchObject({
      ...{ uuid, node: 'de1', node_group: 'all', plan: '3m', active: 1 },
      expires_at: inSeconds(w, 11 * DAY),
    })
    expect(shop.holders(uuid)).toEqual(['de1', 'nl1', 'us1'])
    expect(w.rows('select object, detail from audit_log order by id desc limit 1')).toEqual([
      {
        object: uuid,
        detail: `tg_id=1 plan=3m from=1m days=11 expires_at=${inSeconds(w, 11 * DAY)} before=2026-03-31T12:00:00`,
      },
    ])
    expect([eventsOf(w), messages()]).toEqual([[], []])
  })

  test('by an admin, who gets the subscription as it is then', async () => {
    const uuid = await shop.basic()
    const { status, json } = await admin(uuid, { plan: '3m' })
    expect(status).toBe(200)
    expect(json).toMatchObject({ uuid, plan: '3m', node_group: 'all', days_left: 15 })
    expect(json.expires_at).toBe(inSeconds(w, 15 * DAY))
    expect(auditOf(w).at(-1)).toBe('subscription.change')
  })

  test('of which there are other days than were shown is refused, as a change and as a preview', async () => {
    const uuid = await shop.basic()
    const shown = {
      plan: '3m',
      days: (await shop.change(uuid, { plan: '3m', preview: true })).json.days,
    }
    expect(shown.days).toBe(15)
    await shop.setPlan('3m', { price: 3600 })
    const before = w.dump()
    for (const ask of [shop.change, admin]) {
      for (const more of [{}, { preview: true }]) {
        const { status, json } = await ask(uuid, { ...shown, ...more })
        expect([status, json]).toEqual([400, { error: 'the offer is another one by now' }])
      }
    }
    expect(w.dump()).toBe(before)
    expect((await admin(uuid, { plan: '3m', days: 7, preview: true })).json.days).toBe(7)
    expect((await shop.change(uuid, { plan: '3m', days: 7 })).json.days).toBe(7)
  })

  test('an admin may also while nothing is sold', async () => {
    const uuid = await shop.basic()
    await shop.api('payments/plan-settings', { payments_enabled: false })
    const refused = await shop.change(uuid, { plan: '3m' })
    expect([refused.status, refused.json]).toEqual([400, { error: 'payments are switched off' }])
    expect((await admin(uuid, { plan: '3m' })).status).toBe(200)
  })

  test('its home stays where it is a member, else it is the first that is on', async () => {
    w.change("delete from node_group_nodes where node = 'de1'")
    await shop.api('nodes/nl1', { enabled: false }, 'PATCH')
    const uuid = await shop.basic()
    expect((await shop.change(uuid, { plan: '3m' })).status).toBe(200)
    expect(shop.rowOf(uuid)).toEqual({ node: 'us1', node_group: 'all', plan: '3m' })
    expect(shop.holders(uuid)).toEqual(['nl1', 'us1'])
  })

  test('back to one server it is that of its home, or one that is on', async () => {
    for (const [home, after] of [
      ['nl1', 'nl1'],
      ['us1', 'de1'],
    ]) {
      const uuid = await shop.basic({ plan: '3m', node: home as string, node_group: 'all' })
      if (home === 'us1') await shop.api('nodes/us1', { enabled: false }, 'PATCH')
      expect((await shop.change(uuid, { plan: '1m' })).json.days).toBe(60)
      expect(shop.rowOf(uuid)).toEqual({ node: after, node_group: null, plan: '1m' })
      expect(shop.holders(uuid)).toEqual([after])
    }
  })
})

describe('a second change', () => {
  test('is refused for 24 hours, with the time to wait, also as a preview', async () => {
    const uuid = await shop.basic()
    await shop.change(uuid, { plan: '3m' })
    w.clock.advance(DAY_MS - 60_000)
    for (const more of [{}, { preview: true }]) {
      const answer = await shop.change(uuid, { plan: '1m', ...more })
      expect(answer.status).toBe(429)
      expect(answer.headers.get('retry-after')).toBe('60')
      expect((await admin(uuid, { plan: '1m', ...more })).status).toBe(429)
    }
    w.clock.advance(60_000)
    // 14 days of 20 are worth 28 of 10.
    expect((await shop.change(uuid, { plan: '1m' })).json.days).toBe(28)
  })

  test('is refused after another link, too', async () => {
    const uuid = await shop.basic()
    await shop.change(uuid, { plan: '3m' })
    await shop.api('users/1/rotate-token', {})
    const [{ uuid: renamed }] = w.rows('select uuid from subscriptions')
    expect(renamed).not.toBe(uuid)
    expect((await admin(renamed, { plan: '1m' })).status).toBe(429)
  })

  test('is refused where the first began later, in another process', async () => {
    const uuid = await shop.basic({
      plan_changed_at: inSeconds(w, 1),
      node_changed_at: inSeconds(w, 1),
    })
    for (const body of [{ plan: '3m' }, { node: 'nl1' }]) {
      expect((await shop.change(uuid, body)).status).toBe(429)
    }
  })

  test('is not for the rest of time where the clock was wrong', async () => {
    const uuid = await shop.basic({ plan_changed_at: '2030-01-01T00:00:00' })
    expect((await shop.change(uuid, { plan: '3m' })).status).toBe(200)
  })
})

describe('what a day is worth', () => {
  const daysBy = async (uuid: string) =>
    (await shop.change(uuid, { plan: '3m', preview: true })).json.days
  const bought = async (plan = '1m') => {
    const payment = await shop.buy({ plan })
    await shop.paid(payment)
    return shop.payment(payment.id).subscription_uuid as string
  }

  test('is by the list where nothing was paid', async () => {
    expect(await daysBy(await shop.basic())).toBe(15)
  })

  test('is at most what was paid for it, when the list is dearer by now', async () => {
    const uuid = await bought()
    await shop.setPlan('1m', { price: 600 })
    expect(await daysBy(uuid)).toBe(15)
  })

  test('is by the list, when that is cheaper by now', async () => {
    const uuid = await bought()
    await shop.setPlan('1m', { price: 150 })
    expect(await daysBy(uuid)).toBe(7)
  })

  test.each([{ currency: 'XTR' }, { currency: 'USD' }])(
    'is by the list where it was paid in $currency',
    async ({ currency }) => {
      const uuid = await shop.basic()
      const of = { status: 'paid', renews_uuid: uuid, subscription_uuid: uuid }
      addPayment(w, { ...of, currency, amount: 1 })
      expect(await daysBy(uuid)).toBe(15)
    },
  )

  test('is not that of one dear day that was added to cheap ones', async () => {
    const uuid = await bought()
    await shop.setPlan('1m', { price: 600 })
    await shop.paid(await shop.ordered(uuid))
    // 60 days, of which 30 cost 10 each.
    expect(await daysBy(uuid)).toBe(30)
    w.clock.advance(31 * DAY_MS)
    // Those are over.
    expect(await daysBy(uuid)).toBe(29)
  })

  test('is not that of a renewal whose days were taken back', async () => {
    await shop.setPlan('1m', { price: 150 })
    const uuid = await bought()
    await shop.setPlan('1m', { price: 600 })
    const renewal = await shop.ordered(uuid)
    await shop.paid(renewal)
    await shop.api(`payments/${renewal.id}/refunded`, { revoke: true })
    expect(await daysBy(uuid)).toBe(7)
  })

  test('of the same things is never more than it was: a longer plan is cheaper for who pays for it', async () => {
    const uuid = await shop.basic()
    const preview = (plan: string) => shop.change(uuid, { plan, preview: true })
    // 999 for 180 days.
    expect((await preview('6m')).json.days).toBe(30)
    await shop.setPlan('6m', { price: 3600 })
    expect((await preview('6m')).json.days).toBe(15)
    expect((await shop.choices(uuid)).json.plans.map(({ plan }: { plan: string }) => plan)).toEqual(
      ['3m'],
    )
    await shop.setPlan('6m', { price: 999, hwid_limit: 2 })
    expect((await preview('6m')).json.days).toBe(54)
  })

  test('does not grow by changes and renewals in turn', async () => {
    await shop.setPlan('3m', { price: 300, days: 15 })
    const payment = await shop.buy({ plan: '3m', node: undefined })
    await shop.paid(payment)
    const uuid = shop.payment(payment.id).subscription_uuid
    expect((await shop.change(uuid, { plan: '1m' })).json.days).toBe(30)
    // It brings the group to all 45 days, of which 30 are worth 10.
    await shop.paid(await shop.ordered(uuid, '3m'))
    expect(shop.rowOf(uuid)).toMatchObject({ plan: '3m', node_group: 'all' })
    w.clock.advance(DAY_MS)
    expect((await shop.change(uuid, { plan: '1m' })).json.days).toBe(44)
  })
})

describe('payments', () => {
  test('a renewal that was ordered before lengthens what there is, or is a subscription of its own', async () => {
    const uuid = await shop.basic()
    const renewal = await shop.ordered(uuid)
    await shop.change(uuid, { plan: '3m' })
    await shop.paid(renewal)
    // All servers are not lengthened by the plan of one.
    expect(shop.all(uuid).expires_at).toBe(inSeconds(w, 15 * DAY))
    expect(shop.sold()).toMatchObject([
      { plan: '1m', node: 'de1', node_group: null, expires_at: inSeconds(w, 30 * DAY) },
    ])
    const back = await shop.basic({ plan: '3m', node_group: 'all' })
    const second = await shop.ordered(back, '3m')
    await shop.change(back, { plan: '1m' })
    await shop.paid(second)
    expect(shop.all(back)).toMatchObject({
      plan: '3m',
      node_group: 'all',
      expires_at: inSeconds(w, 150 * DAY),
    })
  })

  test('one that is refunded with revoke takes what its days have become, and its traffic, once, and no servers of the new plan', async () => {
    await shop.setPlan('1m', { quota_gb: 10 })
    await shop.setPlan('3m', { quota_gb: 10 })
    const first = await shop.buy()
    await shop.paid(first)
    const uuid = shop.payment(first.id).subscription_uuid
    const renewal = await shop.ordered(uuid)
    await shop.paid(renewal)
    await shop.change(uuid, { plan: '3m' })
    expect(shop.all(uuid)).toMatchObject({
      ...{ expires_at: inSeconds(w, 30 * DAY), quota_bytes: 20 * GB },
    })
    for (let i = 0; i < 2; i++) await shop.api(`payments/${renewal.id}/refunded`, { revoke: true })
    // 30 of 60 days of one server are 15 of 30 of all; a second more, as what is left of one counts for the shop.
    expect(shop.all(uuid)).toMatchObject({
      ...{ expires_at: inSeconds(w, 15 * DAY - 1), node_group: 'all', quota_bytes: 10 * GB },
    })
    await shop.api(`payments/${first.id}/refunded`, { revoke: true })
    expect(shop.all(uuid).active).toBe(0)
  })

  test('one that is granted anew after a restore stands for its own days', async () => {
    const uuid = await shop.basic()
    const renewal = await shop.ordered(uuid)
    w.change('update payments set given_seconds = 5')
    await shop.paid(renewal)
    expect(shop.payment(renewal.id)).toMatchObject({ status: 'paid', given_seconds: null })
  })

  test('of days that became more, as many are taken', async () => {
    const first = await shop.buy({ plan: '3m', node: undefined })
    await shop.paid(first)
    const uuid = shop.payment(first.id).subscription_uuid
    const renewal = await shop.ordered(uuid, '3m')
    await shop.paid(renewal)
    await shop.change(uuid, { plan: '1m' })
    expect(shop.all(uuid).expires_at).toBe(inSeconds(w, 360 * DAY))
    await shop.api(`payments/${renewal.id}/refunded`, { revoke: true })
    expect(shop.all(uuid).expires_at).toBe(inSeconds(w, 180 * DAY - 1))
  })

  test('the servers that a renewal brought stay when it is refunded after another change', async () => {
    const first = await shop.buy()
    await shop.paid(first)
    const uuid = shop.payment(first.id).subscription_uuid
    const renewal = await shop.ordered(uuid, '3m')
    await shop.paid(renewal)
    await shop.api('plans', {
      code: 'all2',
      label: 'All, slow',
      days: 30,
      price: 300,
      node_group: 'all',
      hwid_limit: 1,
    })
    await shop.change(uuid, { plan: 'all2' })
    await shop.api(`payments/${renewal.id}/refunded`, { revoke: true })
    expect(shop.rowOf(uuid)).toMatchObject({ node_group: 'all', plan: 'all2' })
  })
})

test('what there is to choose is said beside when it may be chosen', async () => {
  const uuid = await shop.basic()
  const { json, headers } = await shop.choices(uuid)
  expect(json).toEqual({
    nodes: [
      { node: 'nl1', label: 'Label of nl1' },
      { node: 'us1', label: 'Label of us1' },
    ],
    nodes_from: null,
    plans: [
      { plan: '3m', days: 15, expires_at: inSeconds(w, 15 * DAY), plan_label: 'All servers' },
    ],
    plans_from: null,
  })
  expect(headers.get('cache-control')).toBe('private, no-store')
  await shop.change(uuid, { node: 'nl1' })
  await shop.change(uuid, { plan: '3m' })
  const later = (await shop.choices(uuid)).json
  expect(later).toMatchObject({
    nodes: [],
    nodes_from: inSeconds(w, DAY),
    plans_from: inSeconds(w, DAY),
  })
  // Of those that give one server the one that is the dearest by the day.
  expect(later.plans.map(({ plan, days }: { plan: string; days: number }) => [plan, days])).toEqual(
    [['1m', 30]],
  )
  await shop.setPlan('6m', { price: 1800 })
  expect((await shop.choices(uuid)).json.plans).toMatchObject([{ plan: '1m', days: 30 }])
  await shop.setPlan('6m', { price: 3600 })
  expect((await shop.choices(uuid)).json.plans).toMatchObject([{ plan: '6m', days: 15 }])
  await shop.api('payments/plan-settings', { payments_enabled: false })
  expect((await shop.choices(uuid)).json.plans).toEqual([])
  w.change('update subscriptions set held_at = created_at')
  expect((await shop.choices(uuid)).json).toMatchObject({ nodes: [], plans: [] })
})
