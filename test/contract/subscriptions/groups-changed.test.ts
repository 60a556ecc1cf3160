/** Subscriptions with a group of nodes as they change and are shown: all its nodes at once. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addNode, addSubscription, addUser, inSeconds } from '#test/support/rows/records.ts'
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
const patch = (uuid: string, body: object) => shop.api(`subscriptions/${uuid}`, body, 'PATCH')

describe('a change', () => {
  test.each([
    ['hold', 'hold', 'resume'],
    ['ban', true, false],
  ])('%s clears all nodes at once, and its end brings all back', async (kind, begin, end) => {
    const { uuid } = (await grant({ plan: '3m' })).json
    const turn = (way: string | boolean) =>
      kind === 'ban'
        ? shop.api('users/7', { banned: way }, 'PATCH')
        : shop.api(`subscriptions/${uuid}/${way}`, {})
    await turn(begin)
    expect(shop.holders(uuid)).toEqual([])
    await turn(end)
    expect(shop.holders(uuid)).toEqual(['de1', 'nl1', 'us1'])
  })

  test('revoke, another expiry and another link act on all nodes', async () => {
    const { uuid } = (await grant({ plan: '3m' })).json
    await patch(uuid, { expires_at: inSeconds(w, -5) })
    expect(shop.holders(uuid)).toEqual([])
    await shop.api(`subscriptions/${uuid}/extend`, { days: 5 })
    expect(shop.holders(uuid)).toEqual(['de1', 'nl1', 'us1'])
    await shop.api('users/7/rotate-token', {})
    const [{ uuid: renamed }] = w.rows('select uuid from subscriptions')
    expect(renamed).not.toBe(uuid)
    expect([shop.holders(uuid), shop.holders(renamed)]).toEqual([[], ['de1', 'nl1', 'us1']])
    await shop.api(`subscriptions/${renamed}/revoke`, {})
    expect(shop.holders(renamed)).toEqual([])
  })

  test('of the group takes the client off the nodes that it leaves, and counts what they have moved', async () => {
    const { uuid } = (await grant({ plan: '3m' })).json
    shop.nodes.us1.counters.set(uuid, [1, 2])
    const { json } = await patch(uuid, { node_group: null })
    expect(json).toMatchObject({ node: 'de1', up: 1, down: 2 })
    expect(json).not.toHaveProperty('node_group')
    expect(shop.holders(uuid)).toEqual(['de1'])
    await patch(uuid, { node_group: 'all', node: 'nl1' })
    expect(shop.rowOf(uuid)).toMatchObject({ node: 'nl1', node_group: 'all' })
    expect(shop.holders(uuid)).toEqual(['de1', 'nl1', 'us1'])
    const details = w.rows("select detail from audit_log where action = 'subscription.edit'")
    expect(details.map(({ detail }) => detail)).toEqual([
      'tg_id=7 node_group=none',
      'tg_id=7 node=nl1 node_group=all',
    ])
  })

  test.each([
    [{ node_group: 'gone' }, 'unknown node group'],
    [{ node: 'de2' }, 'a subscription can be on one local node: its group has another'],
    [{ node_group: 5 }, 'node_group must be a string'],
  ])('%j is refused', async (body, error) => {
    addNode(w, 'de2', { kind: 'local' })
    const { uuid } = (await grant({ plan: '3m' })).json
    expect(await patch(uuid, body)).toMatchObject({ status: 400, json: { error } })
    expect(shop.rowOf(uuid)).toMatchObject({ node: 'de1', node_group: 'all' })
  })

  test('of the group of a revoked one is refused', async () => {
    addUser(w, 7)
    const uuid = addSubscription(w, 7, { active: 0 })
    expect(await patch(uuid, { node_group: 'all' })).toMatchObject({
      json: { error: 'subscription is revoked' },
    })
  })

  test('in bulk gives all that people have running or held another group', async () => {
    addUser(w, 7)
    addUser(w, 8)
    const own = [addSubscription(w, 7), addSubscription(w, 7, { held_at: '2026-03-01T00:00:00' })]
    const ended = addSubscription(w, 7, { expires_at: inSeconds(w, -5) })
    const bulk = (node_group: string | null) =>
      shop.api('users/bulk', { action: 'group', tg_ids: [7, 8], node_group })
    expect((await bulk('all')).json).toEqual([
      { tg_id: 7, ok: true },
      { tg_id: 8, ok: false, error: expect.any(String) },
    ])
    expect(own.map((uuid) => shop.rowOf(uuid).node_group)).toEqual(['all', 'all'])
    expect(shop.rowOf(ended).node_group).toBeNull()
    expect(shop.holders(own[0] as string)).toEqual(['de1', 'nl1', 'us1'])
    expect(await bulk('gone')).toMatchObject({ status: 400, json: { error: 'unknown node group' } })
    await bulk(null)
    expect(shop.holders(own[0] as string)).toEqual(['de1'])
  })

  test('moving all of a node to a second local one is refused where groups have another', async () => {
    addNode(w, 'de2', { kind: 'local' })
    addUser(w, 7)
    const uuid = addSubscription(w, 7, { node: 'nl1', node_group: 'all' })
    const move = (to: string) => shop.api('nodes/nl1/move', { to })
    expect((await move('de2')).json).toEqual({
      error: 'a subscription can be on one local node: its group has another',
    })
    expect((await move('us1')).json).toMatchObject({ moved: 1 })
    expect(shop.rowOf(uuid)).toMatchObject({ node: 'us1', node_group: 'all' })
  })

  test('of the traffic to zero takes the next reading of each node as its base', async () => {
    const { uuid } = (await grant({ plan: '3m' })).json
    for (const [i, node] of Object.values(shop.nodes).entries())
      node.counters.set(uuid, [10 ** i, 0])
    await w.s.nodeSync.syncAll({ force: false, remove: true })
    const up = () => w.rows('select up_bytes as up from subscriptions')[0].up
    expect(up()).toBe(111)
    expect((await shop.api(`subscriptions/${uuid}/reset-traffic`, {})).json).toEqual({ ok: true })
    expect(up()).toBe(0)
    shop.nodes.nl1.counters.set(uuid, [14, 0])
    await w.s.nodeSync.syncAll({ force: false, remove: true })
    expect(up()).toBe(4)
    shop.nodes.nl1.failure = 'timeout'
    expect((await shop.api(`subscriptions/${uuid}/reset-traffic`, {})).json).toEqual({ ok: false })
  })
})

describe('what is shown', () => {
  test('a listing by group, in all states, beside other filters', async () => {
    addUser(w, 7)
    const some = [
      addSubscription(w, 7, { node_group: 'all' }),
      addSubscription(w, 7, { node_group: 'all', held_at: '2026-03-01T00:00:00' }),
      addSubscription(w, 7, { node_group: 'all', active: 0 }),
      addSubscription(w, 7, { node: 'nl1', node_group: 'all', expires_at: inSeconds(w, -5) }),
    ]
    addSubscription(w, 7)
    const found = async (query: string) => {
      const { headers, json } = await shop.api(`subscriptions?node_group=all${query}`)
      expect(headers.get('x-total-count')).toBe(`${json.length}`)
      return json.map(({ uuid }: { uuid: string }) => some.indexOf(uuid)).sort()
    }
    expect(await found('')).toEqual([0, 1, 2, 3])
    expect(await found('&status=active')).toEqual([0])
    expect(await found('&status=held')).toEqual([1])
    expect(await found('&status=revoked')).toEqual([2])
    expect(await found('&status=expired')).toEqual([3])
    expect(await found('&node=nl1')).toEqual([3])
    expect(await found('&sort=expires_at&status=active')).toEqual([0])
    expect(await found('&q=7')).toEqual([0, 1, 2, 3])
    expect((await shop.api('subscriptions?node_group=none')).json).toEqual([])
  })

  test('the cabinet, the shop and the card have the group and all nodes', async () => {
    const uuid = addSubscription(w, 1, { node: 'nl1', node_group: 'all', plan: '3m' })
    const group = {
      node_group: 'all',
      node_group_label: 'Label of all',
      nodes: ['de1', 'nl1', 'us1'],
    }
    const { json: cabinet } = await w.call(`/api/cabinet/${shop.token}`)
    expect(cabinet.subscriptions).toEqual([expect.objectContaining({ node: 'nl1', ...group })])
    const { json: own } = await w.call(`/api/cabinet/${shop.token}/shop`)
    expect(own.subscriptions).toEqual([expect.objectContaining({ node: 'nl1', ...group })])
    expect(own.plans.find(({ code }: { code: string }) => code === '3m').node_group).toBe('all')
    expect(own.plans.find(({ code }: { code: string }) => code === '1m')).not.toHaveProperty(
      'node_group',
    )
    const { json: card } = await shop.api('users/1')
    expect(card.subscriptions).toEqual([expect.objectContaining({ uuid, ...group })])
  })
})
