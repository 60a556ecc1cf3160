/** The clients of a core compared block by block with those of the database, against a comparison of the whole. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keptNodes } from '#db/nodes.ts'
import { soundNode } from '#src/domain/nodes/sound.ts'
import { type Differing, findDifferences, type Look } from '#src/domain/nodes/sync/difference.ts'
import { groupOf, joinLines } from '#src/domain/nodes/sync/sets.ts'
import { valuesOf } from '#src/domain/nodes/sync/values.ts'
import { wantedClients } from '#src/domain/nodes/sync/wanted.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { TextMap } from '#src/lib/text-map.ts'
import type { Core } from '#src/ports/cores.ts'
import type { ClientMap } from '#src/ports/node-program.ts'
import { seeded } from '#test/support/drivers/torture.ts'
import type { FakeNode } from '#test/support/fakes/node.ts'
import { addClients, BANNED, createClientWorld, newUuids } from '#test/support/rows/clients.ts'
import { addNode, nowOf } from '#test/support/rows/records.ts'
import type { World } from '#test/support/worlds/world.ts'

let w: World
let remote: FakeNode
beforeEach(async () => {
  ;({ w, remote } = await createClientWorld())
})
afterEach(() => w.close())

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
    addClients(w, uuids, (i) => {
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
    addClients(w, uuids)
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
      addClients(w, newUuids(3000), (i) => ({ node: codes[i % codes.length] }))
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
    addClients(w, newUuids(20_000))
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
