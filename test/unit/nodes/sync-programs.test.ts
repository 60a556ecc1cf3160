/** Nodes of both programs: each is told in its own form, and one that is set up anew between two passes loses nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keptNodes } from '#db/nodes.ts'
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import { soundNode } from '#src/domain/nodes/sound.ts'
import { configurationsOf } from '#src/domain/nodes/sync/programs.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const PASSWORD = 'the-password-of-the-node'

let w: World
let remote: FakeNode
let uuids: string[]
beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7)
  addNode(w, 'n1', {
    ...{ kind: 'managed', status: 'active', private_key: 'K'.repeat(43) },
    ...{ hysteria_port: 443, hysteria_password: PASSWORD, hysteria_obfs_password: 'obfs' },
    transports_json: JSON.stringify([{ type: 'hysteria2', port: 443 }]),
  })
  remote = w.remote('n1')
  remote.version = 1
  uuids = Array.from({ length: 30 }, () => addSubscription(w, 7, { node: 'n1' }))
})
afterEach(() => w.close())

const sync = async () => {
  const results = await w.s.nodeSync.syncAll({ force: false, remove: true })
  return results.find(({ code }) => code === 'n1')
}
const verbs = () => remote.calls.splice(0).map(({ verb }) => verb)
const row = () => {
  const found = keptNodes(w.s.db).find(({ code }) => code === 'n1')
  if (!found) throw new Error('no node')
  return soundNode(found)
}
const textsOf = (program: number) => configurationsOf(program, [row()], (node) => `${node.sni}:443`)
const wanted = (form: (auth: string) => string) =>
  new Map(uuids.map((uuid) => [uuid, `n1 ${form(hysteriaAuth(PASSWORD, uuid))}`]))

test('a node is told in the form of its program, whose number is noted', async () => {
  expect(row().program).toBe(null)
  expect(await sync()).toMatchObject({ ok: true, added: 30, error: null })
  expect(row().program).toBe(1)
  expect(remote.clients).toEqual(wanted((auth) => auth))
  expect(remote.config).toBe(sha256Hex(textsOf(1).core))
  expect(remote.hysteria?.config).toBe(textsOf(1).hysteria)
  verbs()
  await sync()
  expect(verbs()).toEqual(['status'])
})

test('a change between two passes has the form that was noted', async () => {
  await sync()
  const late = addSubscription(w, 7, { node: 'n1' })
  expect(await w.s.nodeSync.touch([{ uuid: late, node: 'n1', nodeGroup: null }])).toBe(true)
  expect(remote.clients.get(late)).toBe(`n1 ${hysteriaAuth(PASSWORD, late)}`)
})

describe('after the program was brought up to date', () => {
  beforeEach(async () => {
    await sync()
    remote.counters.set(uuids[0] as string, [1, 2])
    await sync()
    verbs()
    remote.upgrade()
  })

  test('the next pass brings the parameters; no client comes, goes or is counted twice', async () => {
    expect(await sync()).toEqual({ code: 'n1', ok: true, added: 0, removed: 0, error: null })
    expect(verbs().filter((verb) => verb !== 'status')).toEqual(['configure', 'hysteria'])
    expect(row().program).toBe(2)
    expect(remote.config).toBe(sha256Hex(textsOf(2).core))
    expect(remote.hysteria?.config).toBe(textsOf(2).hysteria)
    expect(remote.clients).toEqual(wanted((auth) => `auth=${auth}`))
    const [sums] = w.rows('select sum(up_bytes) as up, sum(down_bytes) as down from subscriptions')
    expect(sums).toEqual({ up: 1, down: 2 })
    await sync()
    expect(verbs()).toEqual(['status'])
  })

  test('a change before the next pass is refused in the former form, and made by that pass', async () => {
    const late = addSubscription(w, 7, { node: 'n1' })
    expect(await w.s.nodeSync.touch([{ uuid: late, node: 'n1', nodeGroup: null }])).toBe(false)
    expect(row().behind).toBeGreaterThan(0)
    expect(await sync()).toMatchObject({ ok: true, added: 1, removed: 0 })
    expect(remote.clients.get(late)).toBe(`n1 auth=${hysteriaAuth(PASSWORD, late)}`)
  })
})
