/** A node that was never set up: switched on or not, it is nothing that is offered, sold or chosen until its server reports. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ACTIVE, guided, register } from '#test/support/calls/provisioning.ts'
import { addHost, addSubscription } from '#test/support/rows/records.ts'
import { type ChangeShop, createChangeShop } from '#test/support/worlds/change-shop.ts'
import type { World } from '#test/support/worlds/world.ts'

let shop: ChangeShop
let w: World
let token: string
const turn = (enabled: boolean) => shop.api('nodes/riga', { enabled }, 'PATCH')
beforeEach(async () => {
  shop = await createChangeShop()
  w = shop.w
  token = await guided(w, { label: 'Riga', address: 'riga.test' })
  const { status, json } = await turn(true)
  expect([status, json.enabled, json.status]).toEqual([200, true, 'pending'])
})
afterEach(() => shop.close())

interface Coded {
  code: string
}
const codes = (list: Coded[]) => list.map(({ code }) => code)

const order = (more: object) =>
  w.call(`/api/cabinet/${shop.token}/payments`, { body: { provider: 'provider_a', ...more } })
const offered = async () => (await w.call(`/api/cabinet/${shop.token}/shop`)).json
const landing = async () => (await w.call('/', { host: 'site.test' })).text
const listed = async () => {
  const { text } = await w.call(`/sub/${shop.token}?format=links`)
  return text
    .split('\n')
    .filter(Boolean)
    .map((link) => decodeURIComponent(link.split('#')[1] ?? ''))
}
const setUp = async () => {
  const { path, ...options } = register(token, ACTIVE)
  expect((await w.call(path, options)).status).toBe(200)
  await w.s.background.idle()
}
const setMembers = async (...nodes: string[]) =>
  expect((await shop.api('node-groups/all', { nodes }, 'PATCH')).status).toBe(200)

test('it is not offered, sold or a server to change to; once set up it is', async () => {
  const uuid = await shop.basic()
  const choices = async () =>
    (await shop.choices(uuid)).json.nodes.map((node: { node: string }) => node.node)
  expect(codes((await offered()).nodes)).toEqual(['de1', 'nl1', 'us1'])
  expect(await landing()).not.toContain('Riga')
  expect(await choices()).toEqual(['nl1', 'us1'])
  const before = w.dump('audit_log')
  for (const answer of [
    await order({ node: 'riga', plan: '1m' }),
    await shop.change(uuid, { node: 'riga', preview: true }),
    await shop.change(uuid, { node: 'riga' }),
  ]) {
    expect([answer.status, answer.json]).toEqual([400, { error: 'node is not for sale' }])
  }
  expect(w.dump('audit_log')).toBe(before)
  await setUp()
  expect(codes((await offered()).nodes)).toEqual(['de1', 'nl1', 'us1', 'riga'])
  expect(await landing()).toContain('Riga')
  expect(await choices()).toEqual(['nl1', 'us1', 'riga'])
  expect((await order({ node: 'riga', plan: '1m' })).status).toBe(200)
})

test('a group of it is not sold or planned for, and it is the home of nobody, until it is set up', async () => {
  await setMembers('riga', 'us1')
  w.change("update nodes set sort_order = 0 where code = 'riga'")
  const place = async () =>
    (await offered()).places?.find((one: { node_group: string | null }) => one.node_group === 'all')
      ?.servers
  const homeOf = async () => (await order({ plan: '3m' })).json.id
  expect(await place()).toBe(1)
  expect(shop.payment(await homeOf()).node).toBe('us1')
  await setMembers('riga')
  expect(await place()).toBeUndefined()
  for (const more of [{}, { node: 'riga' }]) {
    expect((await order({ plan: '3m', ...more })).status).toBe(400)
  }
  const plan = { code: 'more', label: 'More', days: 30, price: 5, node_group: 'all' }
  expect((await shop.api('plans', plan)).json).toEqual({
    error: 'the node group needs an enabled node',
  })
  await setUp()
  expect(await place()).toBe(1)
  expect((await shop.api('plans', plan)).status).toBe(200)
})

test('whose home leaves a group goes to a member that is set up', async () => {
  const uuid = addSubscription(w, 1, { node: 'nl1', node_group: 'all' })
  w.change("update nodes set sort_order = 0 where code = 'riga'")
  await setMembers('nl1', 'us1', 'riga')
  await setMembers('us1', 'riga')
  expect(shop.rowOf(uuid).node).toBe('us1')
})

test.each([true, false])(
  'lists of its group are without it and its hosts, switched on: %s; with them once it is set up',
  async (on) => {
    await turn(on)
    addHost(w, 'riga', { label: 'Front' })
    await setMembers('us1', 'riga')
    addSubscription(w, 1, { node: 'us1', node_group: 'all' })
    expect(await listed()).toEqual(['Label of us1'])
    await setUp()
    expect(await listed()).toEqual(['Label of us1', 'Front', 'Riga · WS', 'Riga · HY2'])
  },
)

test('a list of nothing else keeps it', async () => {
  addSubscription(w, 1, { node: 'riga' })
  expect(await listed()).toEqual(['Riga'])
  await setMembers('riga')
  w.change("update subscriptions set node_group = 'all'")
  expect(await listed()).toEqual(['Riga'])
})

test('one whose server became another node is as one that never had one', async () => {
  await setUp()
  token = await guided(w, { label: 'Oslo', address: 'riga.test' })
  await setUp()
  expect(codes((await offered()).nodes)).toEqual(['de1', 'nl1', 'us1', 'oslo'])
  await setMembers('us1', 'riga', 'oslo')
  addSubscription(w, 1, { node: 'us1', node_group: 'all' })
  expect(await listed()).toEqual(['Label of us1', 'Oslo', 'Oslo · WS', 'Oslo · HY2'])
})
