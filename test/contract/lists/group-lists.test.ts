/** The list of a subscription with a group of nodes. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addNode, addSubscription, putSettings } from '#test/support/rows/records.ts'
import { createGroupShop, type GroupShop } from '#test/support/worlds/group-shop.ts'
import type { World } from '#test/support/worlds/world.ts'

let shop: GroupShop
let w: World
beforeEach(async () => {
  shop = await createGroupShop()
  w = shop.w
})
afterEach(() => {
  expect(w.fatal).toEqual([])
  w.close()
})

describe('a list', () => {
  const names = async () => {
    const { text } = await w.call(`/sub/${shop.token}`, {
      headers: { 'user-agent': 'v2rayNG/2.3.5' },
    })
    return atob(text)
      .split('\n')
      .filter(Boolean)
      .map((link) => decodeURIComponent(link.split('#')[1] ?? ''))
  }

  test('has an entry of each member in display order, the home first where it is none', async () => {
    addSubscription(w, 1, { node: 'nl1', node_group: 'all' })
    expect(await names()).toEqual(['Local', 'Label of nl1', 'Label of us1'])
    addNode(w, 'fi1')
    w.change("update subscriptions set node = 'fi1'")
    expect(await names()).toEqual(['Label of fi1', 'Local', 'Label of nl1', 'Label of us1'])
    w.change("update nodes set sort_order = 0 where code = 'us1'")
    expect(await names()).toEqual(['Label of fi1', 'Label of us1', 'Local', 'Label of nl1'])
    w.change("delete from node_group_nodes where node = 'de1'")
    expect(await names()).toEqual(['Label of fi1', 'Label of us1', 'Label of nl1'])
  })

  test('of a group and of one of its nodes has names with plans', async () => {
    addSubscription(w, 1, { node_group: 'all', plan: '3m' })
    addSubscription(w, 1, { node: 'us1', plan: '1m' })
    const found = await names()
    expect(new Set(found).size).toBe(4)
    expect(found.filter((name) => name.startsWith('Label of us1 · '))).toHaveLength(2)
  })

  test('leaves a member out that has been down for ten minutes, until two good checks', async () => {
    w.change('update node_groups set hide_down = 1')
    addSubscription(w, 1, { node_group: 'all' })
    const pass = async (seconds: number) => {
      w.clock.advance(seconds * 1000)
      await w.s.nodeSync.syncAll({ force: false, remove: true })
    }
    const all = ['Local', 'Label of nl1', 'Label of us1']
    const up = ['Local', 'Label of us1']
    shop.nodes.nl1.failure = 'unreachable'
    await pass(1)
    await pass(590)
    expect(await names()).toEqual(all)
    await pass(11)
    expect(await names()).toEqual(up)
    shop.nodes.nl1.failure = null
    await pass(90)
    expect(await names()).toEqual(up)
    shop.nodes.nl1.failure = 'timeout'
    await pass(90)
    shop.nodes.nl1.failure = null
    await pass(90)
    expect(await names()).toEqual(up)
    await pass(90)
    expect(await names()).toEqual(all)
    expect(w.rows('select code from nodes where down_since is not null')).toEqual([])
  })

  test('keeps all where all are down, where its group does not hide, and of one node', async () => {
    addSubscription(w, 1, { node_group: 'all' })
    w.change("update nodes set down_since = '2026-01-01T00:00:00' where code = 'nl1'")
    expect(await names()).toHaveLength(3)
    w.change('update node_groups set hide_down = 1')
    expect(await names()).toHaveLength(2)
    w.change("update nodes set down_since = '2026-01-01T00:00:00'")
    expect(await names()).toHaveLength(3)
    w.change('update subscriptions set node_group = null')
    expect(await names()).toEqual(['Local'])
  })

  test('says nothing else than before', async () => {
    putSettings(w, { BRAND_NAME: 'Brand' })
    addSubscription(w, 1, { node_group: 'all', up_bytes: 5 })
    const { headers } = await w.call(`/sub/${shop.token}`, {
      headers: { 'user-agent': 'v2rayNG/2.3.5' },
    })
    expect(headers.get('subscription-userinfo')).toMatch(/^upload=5; download=0; total=0; /)
  })
})
