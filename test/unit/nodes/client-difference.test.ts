/** The clients of a core compared block by block with those of the database, against a comparison of the whole. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keptNodes } from '#db/nodes.ts'
import { soundNode } from '#src/domain/nodes/sound.ts'
import {
  type Differing,
  findDifferences,
  type Look,
  PORTION,
} from '#src/domain/nodes/sync/difference.ts'
import { groupOf, joinLines } from '#src/domain/nodes/sync/sets.ts'
import { valuesOf } from '#src/domain/nodes/sync/values.ts'
import { wantedClients } from '#src/domain/nodes/sync/wanted.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import { TextMap } from '#src/lib/text-map.ts'
import type { Core } from '#src/ports/cores.ts'
import type { ClientMap } from '#src/ports/node-program.ts'
import { seeded } from '#test/support/drivers/torture.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addNode, addUser, inSeconds, nowOf } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

/** A user whose subscriptions open nothing. */
const BANNED = 8

let w: World
let remote: FakeNode
beforeEach(async () => {
  w = await createWorld()
  addUser(w, BANNED, { banned_at: nowOf(w) })
  addNode(w, 'nl', {
    ...{ kind: 'managed', private_key: 'K'.repeat(43), hysteria_port: 443 },
    ...{ hysteria_password: 'a-password', hysteria_obfs_password: 'obfs' },
    transports_json: JSON.stringify([{ type: 'hysteria2', port: 443 }]),
  })
  remote = w.remote('nl')
})
afterEach(() => w.close())

/** Subscriptions of a user each, with these differences; their uuids are spread over all blocks. */
function addMany(uuids: string[], change: (index: number) => Record<string, unknown>): void {
  const insert = w.s.db.raw.prepare(
    `insert into subscriptions (uuid, tg_id, node, plan, expires_at, active, held_at, source, created_at)
     values (?, ?, ?, '1m', ?, ?, ?, 'admin', ?)`,
  )
  const user = w.s.db.raw.prepare('insert into users (tg_id, token, created_at) values (?, ?, ?)')
  const insertAll = w.s.db.raw.transaction(() => {
    for (const [i, uuid] of uuids.entries()) {
      user.run(1000 + i, uuid, nowOf(w))
      const row = { tg: 1000 + i, node: 'nl', expires: inSeconds(w, 60), active: 1, held: null }
      const { tg, node, expires, active, held } = { ...row, ...change(i) }
      insert.run(uuid, tg, node, expires, active, held, nowOf(w))
    }
  })
  insertAll()
}

const newUuids = (count: number) => Array.from({ length: count }, () => crypto.randomUUID())
const nodeOf = (code: string) => {
  const found = keptNodes(w.s.db).find((node) => node.code === code)
  if (!found) throw new Error(`no node ${code}`)
  return soundNode(found)
}
const wantedOf = (codes: string[], program = 2) =>
  wantedClients(w.s, codes.map(nodeOf), program, nowOf(w))
const coreOf = (node: FakeNode): Core => ({ name: 'core', program: node.program, known: null })
const byFirst = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : 1)

/** What a comparison of the whole finds. */
function compareWhole(present: ClientMap, wanted: ClientMap) {
  const held: Record<string, number> = {}
  for (const value of present.values()) held[groupOf(value)] = (held[groupOf(value)] ?? 0) + 1
  return {
    add: [...wanted].filter(([uuid, value]) => present.get(uuid) !== value).sort(byFirst),
    remove: [...present]
      .filter(([uuid]) => !wanted.has(uuid))
      .map(([uuid, value]): [string, string] => [uuid, groupOf(value)])
      .sort(byFirst),
    held,
  }
}

async function collect(differing: AsyncIterable<Differing>): Promise<Differing> {
  const all: Differing = { add: [], remove: [] }
  for await (const { add, remove } of differing) {
    all.add.push(...add)
    all.remove.push(...remove)
  }
  return all
}

const asSets = ({ add, remove }: Differing, { held }: Look) => ({
  add: add.toSorted(byFirst),
  remove: remove.toSorted(byFirst),
  held: Object.fromEntries(held),
})

const STATES = [
  { served: true, change: {} },
  { served: true, change: {} },
  { served: false, change: { active: 0 } },
  { served: false, change: { held: '2026-01-01T00:00:00' } },
  { served: false, change: { expires: '2026-03-01T12:00:00' } },
  { served: false, change: { tg: BANNED } },
  { served: false, change: { node: 'elsewhere' } },
]

describe.each([1, 2, 3, 4, 5, 6])('random clients, seed %i', (seed) => {
  test.each([
    { version: 2, portion: 1 },
    { version: 2, portion: 40 },
    { version: 2, portion: 700 },
    { version: 1, portion: 40 },
  ])('program $version, $portion at a time', async ({ version, portion }) => {
    const random = seeded(seed)
    const pick = <T>(items: T[]) => items[Math.floor(random() * items.length)] as T
    const codes = seed % 2 === 0 ? ['nl'] : ['de1', 'b', 'c']
    for (const code of ['b', 'c']) addNode(w, code, { kind: 'local' })
    remote.version = version
    const uuids = newUuids(600)
    const wanted: ClientMap = new Map()
    addMany(uuids, (i) => {
      const code = pick(codes)
      const { served, change } = pick(STATES)
      const uuid = uuids[i] as string
      if (served) wanted.set(uuid, valuesOf(nodeOf(code), version)(uuid))
      return { node: code, ...change }
    })
    const rest = seed === 5 ? 0 : random()
    for (const uuid of uuids.filter(() => random() >= rest)) {
      // As they should be or, now and then, with another value; some should not be there at all.
      const value = wanted.get(uuid) ?? pick(codes)
      remote.clients.set(uuid, pick([value, value, value, `${value}x`]))
    }
    for (const uuid of newUuids(seed * 10)) remote.clients.set(uuid, pick(codes))
    const { clients, count } = await remote.program.status('', 1000)
    const look: Look = { revision: '', held: new TextMap() }
    const told = { program: version, count }
    const found = await collect(
      findDifferences(remote.program, told, wantedOf(codes, version), look, portion),
    )
    expect(asSets(found, look)).toEqual(compareWhole(remote.clients, wanted))
    expect(look.revision).toBe(clients)
    expect(await wantedOf(codes, version).summary(coreOf(remote))).toMatchObject({
      revision: sha256Hex(joinLines(wanted)),
      count: wanted.size,
    })
    await remote.program.apply({
      ...{ owner: 'p', program: 2, from: clients, to: '', force: true, add: found.add },
      remove: found.remove.map(([uuid]) => uuid),
    })
    expect(joinLines(remote.clients)).toBe(joinLines(wanted))
  })
})

describe('the wanted revision', () => {
  const core = () => coreOf(remote)
  const revision = async (of: Core) => (await wantedOf(['nl']).summary(of)).revision

  test('of nobody is that of an empty list', async () => {
    expect(await revision(core())).toBe(sha256Hex(''))
  })

  test('is worked out again for each change, whoever made it', async () => {
    const uuids = newUuids(30)
    addMany(uuids, () => ({}))
    const kept = core()
    const seen = new Set<string>()
    const changes = [
      'update subscriptions set held_at = created_at where uuid = ?',
      'update subscriptions set held_at = null, active = 0 where uuid = ?',
      "update subscriptions set active = 1, node = 'elsewhere' where uuid = ?",
      "update subscriptions set node = 'nl', tg_id = 8 where uuid = ?",
      'delete from subscriptions where uuid = ?',
    ]
    for (const [i, sql] of changes.entries()) {
      w.change(sql, uuids[i])
      seen.add(await revision(kept))
      expect(await revision(kept)).toBe(await revision(core()))
    }
    w.change("update nodes set hysteria_password = 'another' where code = 'nl'")
    seen.add(await revision(kept))
    w.change("update nodes set transports_json = '[]' where code = 'nl'")
    seen.add(await revision(kept))
    w.clock.advance(60_000)
    seen.add(await revision(kept))
    w.clock.jump(-60_000)
    seen.add(await revision(kept))
    expect(await revision(kept)).toBe(await revision(core()))
    // Set back, it is the one before again; all others are different.
    expect(seen.size).toBe(changes.length + 3)
  })

  test.each([[['nl']], [['de1', 'b', 'c']]])(
    'of %j is kept while nothing changes',
    async (codes) => {
      for (const code of ['b', 'c']) addNode(w, code, { kind: 'local' })
      addMany(newUuids(3000), (i) => ({ node: codes[i % codes.length] }))
      const kept = core()
      const of = () => wantedOf(codes)
      await of().summary(kept)
      const { known } = kept
      await of().summary(kept)
      expect(kept.known).toBe(known)
      w.change('delete from subscriptions where uuid = (select max(uuid) from subscriptions)')
      await of().summary(kept)
      expect(kept.known).not.toEqual(known)
    },
  )

  test('does not hold the event loop', async () => {
    addMany(newUuids(20_000), () => ({}))
    let turns = 0
    let over = false
    const count = () => {
      turns++
      if (!over) setImmediate(count)
    }
    setImmediate(count)
    await revision(core())
    over = true
    expect(turns).toBeGreaterThan(10)
  })
})

/** A pass over a node with more clients than are listed at once. */
describe('a large node', () => {
  const COUNT = PORTION + 2000
  let uuids: string[]
  beforeEach(async () => {
    uuids = newUuids(COUNT).sort()
    addMany(uuids, () => ({}))
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
    w.change("insert into settings (key, value) values ('ADD_ONLY_NODES', 'restored nl')")
    remote.clients.delete(uuids[1] as string)
    expect(await sync()).toMatchObject({ added: 1, removed: 0, error: 'removals held back' })
    w.change("delete from settings where key = 'ADD_ONLY_NODES'")
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
  addMany(uuids, () => ({}))
  remote.calls.length = 0
  expect(await w.s.nodeSync.touch(uuids.map((uuid) => ({ uuid, node: 'nl' })))).toBe(true)
  expect(remote.calls.map(({ verb }) => verb)).toEqual(['apply', 'apply'])
  expect(remote.clients.size).toBe(PORTION + 500)
})
