/** A pass over a node with more clients than are listed at once. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PORTION } from '#src/domain/nodes/sync/difference.ts'
import { NodeError } from '#src/lib/errors.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addClients, createClientWorld, newUuids } from '#test/support/rows/clients.ts'
import { addNode, markRestored } from '#test/support/rows/records.ts'
import type { World } from '#test/support/worlds/world.ts'

let w: World
let remote: FakeNode
beforeEach(async () => {
  ;({ w, remote } = await createClientWorld())
})
afterEach(() => w.close())

describe('a large node', () => {
  const COUNT = PORTION + 2000
  let uuids: string[]
  beforeEach(async () => {
    uuids = newUuids(COUNT).sort()
    addClients(w, uuids)
    await sync()
    await sync()
    remote.calls.length = 0
  })
  const sync = async (force = false) => {
    const results = await w.s.nodeSync.syncAll({ force, remove: true })
    return results.find(({ code }) => code === 'nl')
  }
  const verbs = () => remote.calls.splice(0).map(({ verb }) => verb)
  const strangers = (count: number) => {
    const added = newUuids(count)
    for (const uuid of added) remote.clients.set(uuid, 'nl')
    return added
  }

  test('is filled in portions, and costs one status when nothing changed', async () => {
    expect(remote.clients.size).toBe(COUNT)
    await sync()
    expect(verbs()).toEqual(['status'])
    remote.clients.clear()
    expect(await sync()).toMatchObject({ ok: true, added: COUNT })
    expect(verbs()).toEqual(['status', 'list', 'apply', 'apply'])
  })

  test('one client more and one less cost the list of their blocks', async () => {
    const [uuid] = strangers(1) as [string]
    remote.clients.delete(uuids[0] as string)
    let listed: string[] | undefined
    const { list } = remote.program
    remote.program.list = (blocks) => {
      listed = blocks
      return list(blocks)
    }
    expect(await sync()).toMatchObject({ added: 1, removed: 1 })
    expect(verbs()).toEqual(['status', 'blocks', 'list', 'apply'])
    expect(new Set(listed)).toEqual(new Set([uuid.slice(0, 2), (uuids[0] as string).slice(0, 2)]))
  })

  test('is told what to add before the rest of it is listed, and what to remove at the end', async () => {
    for (const uuid of remote.clients.keys()) remote.clients.set(uuid, 'nl other')
    strangers(4000)
    expect(await sync()).toMatchObject({ ok: true, added: COUNT, removed: 4000 })
    // A list has some 3170 of those to add, and the last one some 660.
    const listing = ['list', 'list', 'apply', 'list']
    expect(verbs()).toEqual(['status', 'blocks', ...listing, 'apply', 'apply'])
    expect([...remote.clients.keys()].sort()).toEqual(uuids)
  })

  test('gets a portion of what it lacks although the brake holds removals back', async () => {
    remote.clients.clear()
    strangers(COUNT)
    expect(await sync()).toMatchObject({ added: COUNT, removed: 0, error: 'removals held back' })
    expect(remote.clients.size).toBe(2 * COUNT)
  })

  test('keeps whoever comes to be wanted again while it is told what to add', async () => {
    const [first = '', ...others] = uuids
    w.change('update subscriptions set held_at = created_at where uuid = ?', first)
    for (const uuid of others) remote.clients.set(uuid, 'another value')
    remote.beforeApply = async () => {
      remote.beforeApply = null
      w.change('update subscriptions set held_at = null where uuid = ?', first)
    }
    expect(await sync()).toMatchObject({ ok: true, added: COUNT - 1, removed: 0 })
    expect(remote.clients.has(first)).toBe(true)
  })

  test('loses no more than the brake allows, counted over all blocks', async () => {
    w.change('delete from subscriptions where uuid >= ?', uuids[COUNT / 2 - 1])
    expect(await sync()).toMatchObject({ removed: 0, error: 'removals held back' })
    expect(remote.clients.size).toBe(COUNT)
    w.change('update subscriptions set held_at = created_at where uuid < ?', 'x')
    expect(await sync()).toMatchObject({ removed: 0, error: 'removals held back' })
    expect(await sync(true)).toMatchObject({ removed: COUNT, error: null })
    expect(remote.clients.size).toBe(0)
  })

  test('lets half of them go', async () => {
    w.change('delete from subscriptions where uuid >= ?', uuids[COUNT / 2])
    expect(await sync()).toMatchObject({ removed: COUNT / 2, error: null })
  })

  test('lets go whoever was moved, and only adds on a foreign node or after a restore', async () => {
    addNode(w, 'other')
    w.change("update subscriptions set node = 'other' where uuid >= ?", uuids[100])
    strangers(30)
    remote.clients.delete(uuids[0] as string)
    remote.owner = 'another instance'
    expect(await sync()).toMatchObject({ added: 1, removed: 0, error: 'removals held back' })
    remote.owner = w.s.instanceId()
    markRestored(w, 'restored', 'nl')
    remote.clients.delete(uuids[1] as string)
    expect(await sync()).toMatchObject({ added: 1, removed: 0, error: 'removals held back' })
    w.change('delete from add_only_nodes')
    expect(await sync()).toMatchObject({ removed: COUNT - 100 + 30, error: null })
    expect([...remote.clients.keys()].sort()).toEqual(uuids.slice(0, 100))
  })

  test('is looked at again when another process changes it between two calls', async () => {
    strangers(3)
    const { list } = remote.program
    let late = 2
    remote.program.list = async (names) => {
      if (late-- > 0) remote.clients.delete(uuids[late] as string)
      return list(names)
    }
    remote.beforeApply = async () => {
      remote.beforeApply = null
      strangers(1)
    }
    // Two lists and an apply come too late: that is more looks in vain than a pass has.
    expect(await sync()).toMatchObject({ ok: false, error: 'stale' })
    expect(await sync()).toMatchObject({ ok: true, added: 2, removed: 4 })
    expect([...remote.clients.keys()].sort()).toEqual(uuids)
  })

  test('goes on after a change that comes between two portions, as often as it gets on', async () => {
    remote.clients.clear()
    strangers(PORTION + 1)
    const before = remote.calls.length
    let changes = 0
    remote.beforeApply = async () => {
      // Behind each portion somebody adds a client, as often as there are portions.
      if (++changes % 2 === 0) strangers(1)
    }
    const result = await sync(true)
    expect(result).toMatchObject({ ok: true, error: null })
    expect(remote.calls.length - before).toBeGreaterThan(8)
    expect([...remote.clients.keys()].sort()).toEqual(uuids)
  })

  test('that changes at every look is given up, though every look gets something done', async () => {
    remote.clients.clear()
    const { list, apply } = remote.program
    let asked = 0
    // Whatever is put there is gone again, and each portion but the first comes too late.
    remote.program.list = (names) => {
      remote.clients.clear()
      return list(names)
    }
    remote.program.apply = (request) => {
      if (asked++ % 2 === 1) strangers(1)
      return apply(request)
    }
    remote.program.blocks = undefined as never
    remote.version = 1
    expect(await sync(true)).toMatchObject({ ok: false, error: 'stale' })
    // Three looks and one for each of the two portions, with two calls each.
    expect(asked).toBe(2 * (3 + 2))
  })

  test('that tells its clients in a form of its own is given all of them by force, and only by force', async () => {
    const { blocks } = remote.program
    remote.program.blocks = async () => {
      throw new NodeError('garbage', 'not understood')
    }
    strangers(4)
    expect(await sync()).toMatchObject({ ok: false, error: 'not understood' })
    expect(await sync(true)).toMatchObject({ ok: true, error: null, added: COUNT })
    expect([...remote.clients.keys()].sort()).toEqual(uuids)
    remote.program.blocks = blocks
    expect(await sync()).toMatchObject({ ok: true, added: 0, removed: 0 })
  })

  test('of program 1 is listed as a whole', async () => {
    remote.version = 1
    for (const [uuid, value] of remote.clients) {
      remote.clients.set(uuid, value.replace('auth=', ''))
    }
    strangers(1)
    expect(await sync()).toMatchObject({ added: 0, removed: 1 })
    expect(verbs().slice(0, 3)).toEqual(['status', 'list', 'apply'])
  })

  test('that lists more clients than can be is given up', async () => {
    const endless = Array.from({ length: 200_000 }, (): [string, string] => [uuids[0] ?? '', 'nl'])
    const { blocks } = remote.program
    remote.program.blocks = async () => {
      const told = await blocks()
      return { ...told, count: 1_000_000, blocks: told.blocks.map(() => 'f'.repeat(64)) }
    }
    remote.program.list = async () => ({
      clients: (await blocks()).clients,
      lines: endless,
    })
    w.change('delete from subscriptions where uuid = ?', uuids[0])
    expect(await sync()).toMatchObject({ ok: false, error: 'the node lists too many clients' })
    expect(remote.clients.size).toBe(COUNT)
  })
})

test('many clients of a core are put right in portions', async () => {
  await w.s.nodeSync.syncAll({ force: false, remove: true })
  const uuids = newUuids(PORTION + 500)
  addClients(w, uuids)
  remote.calls.length = 0
  expect(
    await w.s.nodeSync.touch(uuids.map((uuid) => ({ uuid, node: 'nl', nodeGroup: null }))),
  ).toBe(true)
  expect(remote.calls.map(({ verb }) => verb)).toEqual(['apply', 'apply'])
  expect(remote.clients.size).toBe(PORTION + 500)
})
