/** Lists of nodes with hosts. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addGroup } from '#test/support/rows/groups.ts'
import { addOffering, CDN } from '#test/support/rows/hosts.ts'
import { addHost, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

let w: World
let token: string
beforeEach(async () => {
  w = await createWorld()
  token = addUser(w, 1)
  addOffering(w)
  addSubscription(w, 1, { node: 'nl1' })
})
afterEach(() => {
  expect(w.fatal).toEqual([])
  w.close()
})

const listOf = async (format: string) => (await w.call(`/sub/${token}?format=${format}`)).text
const links = async () => (await listOf('links')).split('\n').filter(Boolean)
const nameOf = (link: string) => decodeURIComponent(link.split('#')[1] ?? '')
const names = async () => (await links()).map(nameOf)

const OWN = ['Label of nl1', 'Label of nl1 · WS', 'Label of nl1 · XHTTP', 'Label of nl1 · HY2']
const [REALITY, WS, XHTTP, HY2] = OWN as [string, string, string, string]

const FORMATS = ['base64', 'links', 'mihomo', 'singbox', 'xray']

describe('a list', () => {
  test('is as it was byte by byte while the hosts of its nodes are off or of other nodes', async () => {
    const all = () => Promise.all(FORMATS.map(listOf))
    const before = await all()
    addHost(w, 'nl1', { enabled: 0 })
    addHost(w, 'us1', { label: 'Elsewhere' })
    expect(await all()).toEqual(before)
    w.change('update node_hosts set enabled = 1')
    expect(await all()).not.toEqual(before)
    w.change('delete from node_hosts')
    expect(await all()).toEqual(before)
  })

  test('has each host in place of the own entry of its transport, by its label or by number', async () => {
    addHost(w, 'nl1')
    addHost(w, 'nl1', { address: 'relay.test' })
    addHost(w, 'nl1', CDN)
    expect(await names()).toEqual([REALITY, `${REALITY} 2`, 'CDN', XHTTP, HY2])
    const found = (await links()).map((link) => /@(.*?)[/?]/.exec(link)?.[1])
    const own = 'nl1.nodes.test'
    expect(found).toEqual([
      'host.test:443',
      'relay.test:443',
      'cdn.test:443',
      `${own}:443`,
      `${own}:8444`,
    ])
  })

  test('follows the order of the hosts; transports without any stay before those behind them', async () => {
    addHost(w, 'nl1', { transport: 'hysteria2', label: 'H' })
    addHost(w, 'nl1', { label: 'R' })
    expect(await names()).toEqual([WS, XHTTP, 'H', 'R'])
    await w.admin('/admin/api/nodes/nl1/hosts/order', { body: { ids: [2, 1] } })
    expect(await names()).toEqual(['R', WS, XHTTP, 'H'])
  })

  test('may call a host as its node, and never two alike', async () => {
    addHost(w, 'nl1', { label: REALITY })
    expect(await names()).toEqual(OWN)
    addHost(w, 'nl1', { label: REALITY })
    addHost(w, 'nl1', { transport: 'ws', label: 'Auto' })
    addHost(w, 'nl1', { transport: 'ws', label: '\u202e' })
    expect(await names()).toEqual([REALITY, `${REALITY} 2`, 'Auto 2', WS, XHTTP, HY2])
  })

  test('says the plan where a node is sold twice', async () => {
    addSubscription(w, 1, { node: 'nl1', plan: '3m' })
    addHost(w, 'nl1', { label: 'R' })
    const found = await names()
    expect(new Set(found).size).toBe(8)
    expect(found.filter((name) => name.startsWith('R · '))).toHaveLength(2)
    expect(found.filter((name) => name.includes(' · WS'))).toHaveLength(2)
  })

  test('has a host in the formats that it is for, and the own entry in no other', async () => {
    addHost(w, 'nl1', { label: 'For Xray', formats: '["xray"]' })
    const has = await Promise.all(
      FORMATS.map(async (format) => (await listOf(format)).includes('For Xray')),
    )
    expect(has).toEqual([false, false, false, false, true])
    expect(await names()).toEqual([WS, XHTTP, HY2])
  })

  test('has the hosts of all members of a group, and one Auto over them', async () => {
    addGroup(w, 'all', 'nl1', 'us1')
    w.change("update subscriptions set node_group = 'all'")
    addHost(w, 'nl1', CDN)
    addHost(w, 'nl1', { label: 'Second' })
    addHost(w, 'us1')
    const found = await names()
    expect(found).toEqual(['CDN', 'Second', XHTTP, HY2, 'Label of us1'])
    const { outbounds } = JSON.parse(await listOf('singbox'))
    const auto = outbounds.find(({ tag }: { tag: string }) => tag === 'Auto')
    expect(auto.outbounds).toEqual(['CDN', 'Second', HY2, 'Label of us1'])
  })

  test('is another one with the next fetch after each change', async () => {
    const id = addHost(w, 'nl1')
    expect((await links())[0]).toContain('@host.test:443')
    await w.admin(`/admin/api/nodes/nl1/hosts/${id}`, { method: 'PATCH', body: { port: 2053 } })
    expect((await links())[0]).toContain('@host.test:2053')
    await w.admin('/admin/api/nodes/nl1', { method: 'PATCH', body: { sni: 'other.test' } })
    expect((await links())[0]).toContain('sni=other.test')
    await w.admin(`/admin/api/nodes/nl1/hosts/${id}`, { method: 'DELETE' })
    expect((await links())[0]).toContain('@nl1.nodes.test:443')
  })

  test('passes over the hosts of a transport that the node has no more', async () => {
    addHost(w, 'nl1', CDN)
    w.change("update nodes set transports_json = '[]'")
    expect(await names()).toEqual([REALITY])
  })

  test('has a CDN before WebSocket for apps that take plain links alone, without a pin', async () => {
    addHost(w, 'nl1', CDN)
    const headers = { 'user-agent': 'Shadowrocket/2592 CFNetwork/1568.100.1 Darwin/24.1.0' }
    const plain = atob((await w.call(`/sub/${token}`, { headers })).text).split('\n')
    expect(plain.map(nameOf)).toEqual([REALITY, 'CDN', HY2])
    expect(plain[1]).not.toContain('pcs=')
  })
})
