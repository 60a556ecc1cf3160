/** Subscriptions with a group of nodes as they are granted, given away and sold: served on all its nodes. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { redeemGift } from '#src/domain/subscriptions/gifts.ts'
import { addGroup } from '#test/support/rows/groups.ts'
import { addNode, addSubscription, DAY, inSeconds } from '#test/support/rows/records.ts'
import { createGroupShop, type GroupShop } from '#test/support/worlds/group-shop.ts'
import type { World } from '#test/support/worlds/world.ts'

let shop: GroupShop
let w: World
beforeEach(async () => {
  shop = await createGroupShop()
  w = shop.w
})
afterEach(() => shop.close())

const grant = (body: object, tgId = 7) => shop.api(`users/${tgId}/grant`, body)

async function pay({ id, externalId }: { id: string; externalId: string }): Promise<string> {
  shop.a.pay(externalId)
  await shop.noticeA(id, { externalId })
  await w.s.background.idle()
  return id
}

describe('a grant', () => {
  test('without a node has its home on the first enabled member, and its client on all', async () => {
    w.change("update nodes set sort_order = 0 where code = 'us1'")
    const { status, json } = await grant({ plan: '3m' })
    expect([status, json]).toMatchObject([
      200,
      { node: 'us1', node_group: 'all', node_group_label: 'Label of all', plan: '3m' },
    ])
    expect(json.nodes).toEqual(['us1', 'de1', 'nl1'])
    expect(shop.holders(json.uuid)).toEqual(['de1', 'nl1', 'us1'])
    expect(shop.nodes.nl1.clients.get(json.uuid)).toBe('nl1')
  })

  test('on a node outside the group is served there as well', async () => {
    addNode(w, 'fi1')
    const { json } = await grant({ node: 'fi1', plan: '3m' })
    expect(json).toMatchObject({ node: 'fi1', nodes: ['fi1', 'de1', 'nl1', 'us1'] })
    expect(shop.holders(json.uuid)).toEqual(['de1', 'nl1', 'us1'])
  })

  test('of a plan without a group says nothing of groups, and needs a node', async () => {
    const { json } = await grant({ node: 'nl1', plan: '1m' })
    for (const key of ['node_group', 'node_group_label', 'nodes']) {
      expect(json).not.toHaveProperty(key)
    }
    expect(shop.holders(json.uuid)).toEqual(['nl1'])
    const missing = { error: 'node is missing or of the wrong type' }
    expect(await grant({ plan: '1m' })).toMatchObject({ status: 400, json: missing })
    expect(await grant({})).toMatchObject({ status: 400, json: missing })
    expect(await grant({ node: 'nl1' })).toMatchObject({
      json: { error: 'plan is missing or of the wrong type' },
    })
    expect((await shop.api('gift-codes', { count: 2 })).json).toEqual(missing)
    const bulk = await shop.api('users/bulk', { action: 'grant', tg_ids: [7] })
    expect(bulk.json).toEqual(missing)
  })

  test('is refused on a second local node, and where no member is enabled', async () => {
    addNode(w, 'de2', { kind: 'local' })
    expect((await grant({ node: 'de2', plan: '3m' })).json).toEqual({
      error: 'a subscription can be on one local node: its group has another',
    })
    w.change('update nodes set enabled = 0')
    expect((await grant({ plan: '3m' })).json).toEqual({
      error: 'the node group needs an enabled node',
    })
    expect(w.rows('select * from subscriptions')).toEqual([])
  })

  test('in bulk needs no node either', async () => {
    const { json } = await shop.api('users/bulk', { action: 'grant', tg_ids: [7, 8], plan: '3m' })
    expect(json).toEqual([
      { tg_id: 7, ok: true },
      { tg_id: 8, ok: true },
    ])
    const uuids = w.rows('select uuid from subscriptions').map(({ uuid }) => uuid)
    for (const uuid of uuids) expect(shop.holders(uuid)).toEqual(['de1', 'nl1', 'us1'])
  })
})

describe('what is sold and given away', () => {
  test('keeps the group that its plan had then, whatever becomes of the plan', async () => {
    const { id, externalId } = await shop.buy({ node: undefined, plan: '3m' })
    const { json: gift } = await shop.api('gift-codes', { plan: '3m' })
    w.change('update plans set node_group = null')
    expect(shop.payment(id)).toMatchObject({ node: 'de1', node_group: 'all' })
    shop.a.pay(externalId)
    await shop.noticeA(id, { externalId })
    await w.s.background.idle()
    await redeemGift(w.s, 8, gift.code)
    await w.s.background.idle()
    const rows = w.rows('select uuid, node, node_group from subscriptions')
    expect(rows.map(({ node, node_group }) => [node, node_group])).toEqual([
      ['de1', 'all'],
      ['de1', 'all'],
    ])
    for (const { uuid } of rows) expect(shop.holders(uuid)).toEqual(['de1', 'nl1', 'us1'])
    const codes = await shop.api('gift-codes?status=used')
    expect(codes.json[0]).toMatchObject({ node: 'de1', node_group: 'all' })
    expect((await shop.api('payments')).json[0]).toMatchObject({ id, node_group: 'all' })
  })

  test('is granted on its home where its group is gone', async () => {
    const { id, externalId } = await shop.buy({ node: 'nl1', plan: '3m' })
    w.change('update plans set node_group = null')
    w.change('delete from node_groups')
    w.change('delete from node_group_nodes')
    shop.a.pay(externalId)
    await shop.noticeA(id, { externalId })
    await w.s.background.idle()
    const [{ uuid }] = w.rows('select uuid from subscriptions')
    expect(shop.rowOf(uuid)).toMatchObject({ node: 'nl1', node_group: null })
    expect(shop.holders(uuid)).toEqual(['nl1'])
  })

  test('moves home where its group has another local node by then', async () => {
    addNode(w, 'de2', { kind: 'local' })
    w.change("delete from node_group_nodes where node = 'de1'")
    const order = { tg_id: 1, node: 'de2', plan: '3m', provider: 'provider_a' }
    const { id } = (await shop.api('payments', order)).json
    const { external_id: externalId } = shop.payment(id)
    w.change("insert into node_group_nodes (group_code, node) values ('all', 'de1')")
    shop.a.pay(externalId)
    await shop.noticeA(id, { externalId })
    await w.s.background.idle()
    const [{ uuid }] = w.rows('select uuid from subscriptions')
    expect(shop.rowOf(uuid)).toMatchObject({ node: 'de1', node_group: 'all' })
    expect(w.node.clients.get(uuid)).toBe('de1')
  })

  test('is to buyers a server of the group, to admins any', async () => {
    addNode(w, 'fi2')
    const order = { plan: '3m', provider: 'provider_a' }
    const buy = (node: string) =>
      w.call(`/api/cabinet/${shop.token}/payments`, { body: { ...order, node } })
    const { status, json } = await buy('fi2')
    expect([status, json]).toEqual([400, { error: 'node is not for sale' }])
    expect(w.rows('select id from payments')).toEqual([])
    expect((await buy('us1')).status).toBe(200)
    const { json: given } = await shop.api('payments', { ...order, tg_id: 1, node: 'fi2' })
    expect(shop.payment(given.id)).toMatchObject({ node: 'fi2', node_group: 'all' })
  })

  test('is no renewal at the price of one server, and brings the group to who has none', async () => {
    const uuid = addSubscription(w, 1, { node_group: 'all', plan: '3m' })
    const own = (id: string) =>
      w.rows('select expires_at, node_group from subscriptions where uuid = ?', id)[0]
    const order = (renews: string, plan: string) =>
      w.admin('/admin/api/payments', { body: { tg_id: 1, plan, provider: 'provider_a', renews } })
    expect(await order(uuid, '1m')).toMatchObject({
      status: 400,
      json: { error: 'plan is not for sale' },
    })
    const single = addSubscription(w, 1, { node: 'nl1' })
    const { json } = await order(single, '3m')
    const { external_id: externalId } = shop.payment(json.id)
    shop.a.pay(externalId)
    await shop.noticeA(json.id, { externalId })
    await w.s.background.idle()
    expect(own(single)).toEqual({ expires_at: inSeconds(w, 120 * DAY), node_group: 'all' })
    // Its plan too: by that of one server all of them could be renewed.
    expect(shop.rowOf(single)).toMatchObject({ node: 'nl1', plan: '3m' })
    expect(shop.holders(single)).toEqual(['de1', 'nl1', 'us1'])
    expect(await order(single, '1m')).toMatchObject({ status: 400 })
  })

  test('a bill at the price of one server is no renewal of what has got a group since', async () => {
    const uuid = addSubscription(w, 1, { node: 'nl1' })
    const cheap = await shop.buy({ renews: uuid, plan: '1m' })
    await pay(await shop.buy({ renews: uuid, plan: '3m' }))
    await pay(cheap)
    const rows = w.rows('select node, node_group, plan, expires_at from subscriptions order by seq')
    expect(rows).toEqual([
      { node: 'nl1', node_group: 'all', plan: '3m', expires_at: inSeconds(w, 120 * DAY) },
      { node: 'nl1', node_group: null, plan: '1m', expires_at: inSeconds(w, 30 * DAY) },
    ])
  })

  test('an order of the same plan with another group is another order', async () => {
    addGroup(w, 'two', 'de1', 'nl1')
    const first = await shop.buy({ node: 'de1', plan: '3m' })
    expect((await shop.buy({ node: 'de1', plan: '3m' })).id).toBe(first.id)
    w.change("update plans set node_group = 'two' where code = '3m'")
    expect((await shop.buy({ node: 'de1', plan: '3m' })).id).not.toBe(first.id)
  })
})

describe('money that goes back', () => {
  const refund = (id: string) => shop.api(`payments/${id}/refunded`, { revoke: true })

  test('takes back the group that a renewal alone brought, with its days', async () => {
    await pay(await shop.buy({ node: 'nl1', plan: '1m' }))
    const [{ uuid, expires_at }] = w.rows('select uuid, expires_at from subscriptions')
    const first = await pay(await shop.buy({ renews: uuid, plan: '3m' }))
    w.clock.advance(61_000)
    const second = await pay(await shop.buy({ renews: uuid, plan: '3m' }))
    await refund(first)
    expect(shop.holders(uuid)).toEqual(['de1', 'nl1', 'us1'])
    await refund(second)
    await refund(second)
    expect(shop.rowOf(uuid)).toMatchObject({ node: 'nl1', node_group: null })
    expect(w.rows('select expires_at from subscriptions')).toEqual([{ expires_at }])
    expect(shop.holders(uuid)).toEqual(['nl1'])
  })

  test.each([['admin'], ['gift']])('leaves that of what came as %s with it', async (source) => {
    const { json: gift } = await shop.api('gift-codes', { plan: '3m' })
    if (source === 'gift') await redeemGift(w.s, 1, gift.code)
    const uuid =
      source === 'gift'
        ? w.rows('select uuid from subscriptions')[0].uuid
        : addSubscription(w, 1, { node_group: 'all', plan: '3m' })
    await refund(await pay(await shop.buy({ renews: uuid, plan: '3m' })))
    expect(shop.rowOf(uuid)).toMatchObject({ node_group: 'all' })
  })
})

describe('the shop', () => {
  const places = async () => (await w.call(`/api/cabinet/${shop.token}/shop`)).json.places

  test('offers groups first, then the single servers, where a plan is sold with a group', async () => {
    expect(await places()).toEqual([
      { node_group: 'all', label: 'Label of all', servers: 3 },
      { node: 'de1', label: 'Local' },
      { node: 'nl1', label: 'Label of nl1' },
      { node: 'us1', label: 'Label of us1' },
    ])
    w.change("update nodes set enabled = 0 where code = 'nl1'")
    w.change('update plans set archived = 1 where node_group is null')
    expect(await places()).toEqual([{ node_group: 'all', label: 'Label of all', servers: 2 }])
    w.change('update plans set node_group = null, archived = 0')
    expect(await places()).toBeUndefined()
  })

  test('sells no plan of a group without an enabled server', async () => {
    w.change('update nodes set enabled = 0')
    const { json } = await w.call(`/api/cabinet/${shop.token}/shop`)
    expect(json.plans.map(({ code }: { code: string }) => code)).not.toContain('3m')
    const body = { plan: '3m', provider: 'provider_a' }
    const order = await w.call(`/api/cabinet/${shop.token}/payments`, { body })
    expect(order).toMatchObject({
      status: 400,
      json: { error: 'the node group needs an enabled node' },
    })
  })
})
