/** Nodes that have Hysteria beside Xray: what a pass brings there, and what it counts. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keptNodes } from '#db/nodes.ts'
import { hysteriaAuth } from '#src/domain/nodes/hysteria-auth.ts'
import { hysteriaParameters } from '#src/domain/nodes/hysteria-config.ts'
import { soundNode } from '#src/domain/nodes/sound.ts'
import { NodeError } from '#src/lib/errors.ts'
import type { Caller } from '#src/ports/node-program.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addNode, addSubscription, addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const PASSWORD = 'the-password-of-the-node'

let w: World
let remote: FakeNode
let uuid: string
beforeEach(async () => {
  w = await createWorld()
  addUser(w, 7)
  addNode(w, 'n1', {
    ...{ kind: 'managed', status: 'active', private_key: 'K'.repeat(43) },
    ...{ hysteria_port: 443, hysteria_password: PASSWORD, hysteria_obfs_password: 'obfs' },
    transports_json: JSON.stringify([{ type: 'hysteria2', port: 443 }]),
  })
  remote = w.remote('n1')
  uuid = addSubscription(w, 7, { node: 'n1' })
})
afterEach(() => w.close())

const sync = async () => {
  const results = await w.s.nodeSync.syncAll({ force: false, remove: true })
  return results.find(({ code }) => code === 'n1')
}
const verbs = () => remote.calls.splice(0).map(({ verb }) => verb)
const value = () => `n1 auth=${hysteriaAuth(PASSWORD, uuid)}`
const total = () =>
  w.rows('select up_bytes as up, down_bytes as down from subscriptions where uuid = ?', uuid)[0]
const has = () => remote.hysteria as NonNullable<FakeNode['hysteria']>

test('the first pass brings clients with passwords and both configurations, the next costs one status', async () => {
  await sync()
  expect([...remote.clients]).toEqual([[uuid, value()]])
  const row = keptNodes(w.s.db).find(({ code }) => code === 'n1')
  expect(has().config).toBe(row && hysteriaParameters(soundNode(row)))
  verbs()
  expect(await sync()).toEqual({ code: 'n1', ok: true, added: 0, removed: 0, error: null })
  expect(verbs()).toEqual(['status'])
})

test('a client that is put in place at once has a password too, and leaves with one call', async () => {
  await sync()
  const late = addSubscription(w, 7, { node: 'n1' })
  expect(await w.s.nodeSync.touch([{ uuid: late, node: 'n1', nodeGroup: null }])).toBe(true)
  expect(remote.clients.get(late)).toBe(`n1 auth=${hysteriaAuth(PASSWORD, late)}`)
  verbs()
  await sync()
  expect(verbs()).toEqual(['status'])
})

test('a new password of the node is a change of every client and no loss of one', async () => {
  for (let i = 0; i < 30; i++) addSubscription(w, 7, { node: 'n1' })
  await sync()
  w.change("update nodes set hysteria_password = 'another'")
  expect(await sync()).toMatchObject({ ok: true, added: 31, removed: 0, error: null })
  expect(remote.clients.get(uuid)).toBe(`n1 auth=${hysteriaAuth('another', uuid)}`)
})

test('the numbers of both are counted once, and a restart of one changes nothing of the other', async () => {
  await sync()
  remote.counters.set(uuid, [10, 100])
  has().counters.set(uuid, [1, 2])
  await sync()
  await sync()
  expect(total()).toEqual({ up: 11, down: 102 })
  has().epoch = 'started anew'
  has().counters.set(uuid, [5, 5])
  await sync()
  expect(total()).toEqual({ up: 16, down: 107 })
  remote.restart()
  remote.counters.set(uuid, [1, 1])
  has().counters.set(uuid, [6, 7])
  await sync()
  expect(total()).toEqual({ up: 18, down: 110 })
})

test('before a new configuration starts Hysteria anew, its counters are read', async () => {
  await sync()
  remote.program.hysteria = ((give) => async (caller: Caller, text: string) => {
    expect(total().down).toBe(50)
    return give(caller, text)
  })(remote.program.hysteria)
  w.change("update nodes set hysteria_obfs_password = 'another'")
  const { status } = remote.program
  let asked = 0
  remote.program.status = async (...args) => {
    // Moved between the pass's first look and the restart.
    if (++asked === 2) has().counters.set(uuid, [0, 50])
    return status(...args)
  }
  await sync()
  expect(has().config).toContain('another')
  expect(asked).toBe(2)
})

test('a node whose Hysteria is gone from the settings is told so, its clients lose the passwords', async () => {
  await sync()
  w.change("update nodes set transports_json = '[]'")
  await sync()
  expect(remote.hysteria).toBe(null)
  expect([...remote.clients]).toEqual([[uuid, 'n1']])
  verbs()
  await sync()
  expect(verbs()).toEqual(['status'])
})

test('a node without the program, or whose Hysteria does not run, says so; Xray serves on', async () => {
  const { hysteria, status } = remote.program
  remote.program.hysteria = async () => {
    throw new NodeError('no-core', 'there is no Hysteria')
  }
  expect(await sync()).toMatchObject({ ok: false, error: 'there is no Hysteria on the node' })
  expect(remote.config).not.toBe('')
  expect(remote.clients.size).toBe(1)
  remote.program.hysteria = hysteria
  await sync()
  remote.program.status = async (...args) => {
    const answer = await status(...args)
    return { ...answer, hysteria: answer.hysteria && { ...answer.hysteria, up: false } }
  }
  expect(await sync()).toMatchObject({ ok: false, error: 'Hysteria is not running' })
})
