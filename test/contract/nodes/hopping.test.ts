/** A range of UDP ports among which clients of Hysteria2 hop: given to a node, redirected by it, and in lists from then on. */
import { describe, expect, test } from 'vitest'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import { fetchAs, links } from '#test/support/calls/list-fetches.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addNode, addSubscription, addUser, auditOf } from '#test/support/rows/records.ts'
import { type Scenario, scenarios } from '#test/support/worlds/scenario.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const NODES = '/admin/api/nodes'
const RANGE = '20000-30000'
const patch = (body: unknown, code = 'nl') => ({ path: `${NODES}/${code}`, method: 'PATCH', body })

/** A node with Hysteria2, whose server is a stand-in. */
function addHysteria(w: World, more: object = {}): FakeNode {
  addNode(w, 'nl', {
    ...{ kind: 'managed', status: 'active', private_key: 'K'.repeat(43), hysteria_port: 443 },
    ...{ hysteria_password: 'abc', hysteria_obfs_password: 'obfs' },
    transports_json: JSON.stringify([{ type: 'hysteria2', port: 443, cert: CERT_PEM }]),
    ...more,
  })
  return w.remote('nl')
}

const view = async (w: World) => (await w.admin(NODES)).json.at(-1)
const mport = async (w: World, token: string) => {
  const { path, headers } = fetchAs(token, { 'user-agent': 'v2rayNG/2.3.5' })
  return links(await w.call(path, { headers }))
    .map((link) => /[?&]mport=([^&#]*)/.exec(link)?.[1])
    .find(Boolean)
}

const refuses = (value: unknown, error: string | RegExp, code = 'nl'): Scenario => ({
  name: `400 for ${JSON.stringify(value)} on ${code}`,
  given: (w) => {
    addHysteria(w)
    addNode(w, 'plain', { kind: 'managed', private_key: 'K'.repeat(43) })
    addNode(w, 'foreign')
  },
  request: patch({ hysteria_hop: value }, code),
  status: 400,
  error,
  effects: (w) => expect(auditOf(w)).toEqual([]),
})

const RULE = 'hysteria_hop must be a first and a last port, as 20000-30000'
const NEEDS = 'hysteria_hop needs Hysteria2 on the node'

scenarios('PATCH /admin/api/nodes/{code} with hysteria_hop', [
  ...[
    ...['', '20000', '-', '30000-20000', '0-1', '1-65536', '020-30', '20000-30000 ', '1-2,4-5'],
    ...['20000:30000', '1-2\n', '1e3-2e3', '٢-٣', '1-2-3'],
  ].map((value) => refuses(value, RULE)),
  refuses(20_000, 'hysteria_hop must be a string'),
  refuses(RANGE, NEEDS, 'plain'),
  refuses(RANGE, NEEDS, 'foreign'),
  {
    name: '200 for one port, and for the whole range of them',
    given: (w) => void addHysteria(w),
    request: patch({ hysteria_hop: '1-65535' }),
    status: 200,
    effects: async (w, _given, { json }) => {
      expect(json).toMatchObject({ hysteria_hop: '1-65535' })
      const { status } = await w.admin(`${NODES}/nl`, {
        method: 'PATCH',
        body: { hysteria_hop: '7-7' },
      })
      expect(status).toBe(200)
      expect(auditOf(w)).toEqual(['node.edit', 'node.edit'])
    },
  },
  {
    name: '200 and without a word of it when it is taken away, and where there never was one',
    given: (w) => void addHysteria(w, { hysteria_hop: RANGE, hysteria_hopping: 1 }),
    request: patch({ hysteria_hop: null }),
    status: 200,
    effects: (w, _given, { json }) => {
      expect(json).not.toHaveProperty('hysteria_hop')
      expect(json).not.toHaveProperty('hysteria_hopping')
      expect(
        w.rows('select hysteria_hop, hysteria_hopping from nodes where code = ?', 'nl'),
      ).toEqual([{ hysteria_hop: null, hysteria_hopping: 0 }])
    },
  },
  {
    name: '200 and nothing of it on the local node',
    request: patch({ hysteria_hop: RANGE }, 'de1'),
    status: 200,
    effects: (w, _given, { json }) => {
      expect(json).not.toHaveProperty('hysteria_hop')
      expect(auditOf(w)).toEqual([])
    },
  },
])

describe('a range of ports', () => {
  async function shop(more: object = {}) {
    const w = await createWorld()
    const remote = addHysteria(w, more)
    const token = addUser(w, 7)
    addSubscription(w, 7, { node: 'nl' })
    const sync = () => w.s.nodeSync.syncAll({ force: false, remove: true })
    const edit = async (hysteria_hop: string | null) => {
      const { json } = await w.admin(`${NODES}/nl`, { method: 'PATCH', body: { hysteria_hop } })
      await w.s.background.idle()
      return json
    }
    return { w, remote, token, sync, edit }
  }

  test('is in lists once the node redirects it, and again only once it redirects another one', async () => {
    const { w, remote, token, sync, edit } = await shop()
    await sync()
    expect(await mport(w, token)).toBe(undefined)
    remote.failure = 'unreachable'
    expect(await edit(RANGE)).toMatchObject({ hysteria_hop: RANGE, hysteria_hopping: false })
    expect(await mport(w, token)).toBe(undefined)
    remote.failure = null
    await sync()
    expect(remote.hysteria?.config).toContain(`\nhop ${RANGE}\n`)
    expect(await view(w)).toMatchObject({ hysteria_hopping: true, last_error: null })
    expect(await mport(w, token)).toBe(RANGE)
    remote.calls.length = 0
    await sync()
    expect(remote.calls.map(({ verb }) => verb)).toEqual(['status'])

    remote.failure = 'unreachable'
    expect(await edit('40000-40009')).toMatchObject({ hysteria_hopping: false })
    expect(await mport(w, token)).toBe(undefined)
    expect(await edit('40000-40009')).toMatchObject({ hysteria_hopping: false })
    remote.failure = null
    await sync()
    expect(await mport(w, token)).toBe('40000-40009')
    // The same again says nothing new.
    expect(await edit('40000-40009')).toMatchObject({ hysteria_hopping: true })
    await edit(null)
    expect(remote.hysteria?.config).not.toContain('hop')
    expect(await mport(w, token)).toBe(undefined)
    w.close()
  })

  test('that the node does not redirect is told, lists are without it, and the node counts as up', async () => {
    const { w, remote, token, sync, edit } = await shop()
    remote.redirects = false
    await edit(RANGE)
    const lost =
      'its range of UDP ports is not redirected to Hysteria: neither nft nor iptables does it there'
    expect(await view(w)).toMatchObject({ hysteria_hopping: false, last_error: lost })
    expect((await sync()).find(({ code }) => code === 'nl')).toMatchObject({
      ok: true,
      error: null,
    })
    expect(w.rows("select down_since from nodes where code = 'nl'")).toEqual([{ down_since: null }])
    expect(await mport(w, token)).toBe(undefined)
    remote.redirects = true
    await sync()
    expect(await view(w)).toMatchObject({ hysteria_hopping: true, last_error: null })
    expect(await mport(w, token)).toBe(RANGE)
    remote.redirects = false
    await sync()
    expect(await mport(w, token)).toBe(undefined)
    w.close()
  })

  test('is what the former node program lacks, of a node that is to have one', async () => {
    const { w, remote, token, sync, edit } = await shop()
    remote.version = 1
    await sync()
    expect((await view(w)).outdated).toEqual({ program: 1, lacks: ['own-configuration'] })
    const before = remote.hysteria?.config
    const { outdated } = await edit(RANGE)
    expect(outdated).toEqual({ program: 1, lacks: ['own-configuration', 'port-hopping'] })
    expect(remote.hysteria?.config).toBe(before)
    expect(await view(w)).toMatchObject({ hysteria_hopping: false, last_error: null })
    expect(await mport(w, token)).toBe(undefined)
    remote.upgrade()
    await sync()
    await sync()
    expect(await mport(w, token)).toBe(RANGE)
    w.close()
  })
})
