/** The clients of one core: what it should hold, what it holds, and how the one becomes the other. */

import { type AddOnlyNodes, findAddOnlyNodes } from '#db/add-only-nodes.ts'
import { listNodes, readNodeCodes } from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import { listOnOtherNodes, listServed } from '#db/subscriptions.ts'
import { type SoundNode, soundNode } from '#src/domain/nodes/sound.ts'
import { NodeError } from '#src/lib/errors.ts'
import { slices } from '#src/lib/event-loop.ts'
import type { Limiter } from '#src/lib/limiter.ts'
import { TextMap, TextSet } from '#src/lib/text-map.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Core } from '#src/ports/cores.ts'
import type { Caller, ClientMap, CoreStatus } from '#src/ports/node-program.ts'
import type { Services } from '#src/services.ts'
import { type Differing, findDifferences, type Look, MOST_CLIENTS, PORTION } from './difference.ts'
import { PRESENT_PROGRAM, programOf } from './programs.ts'
import {
  brakeRemovals,
  type ClientLine,
  type Counts,
  countIn,
  type Groups,
  groupOf,
  joinLines,
  type Removal,
} from './sets.ts'
import { valuesOf } from './values.ts'
import { type WantedClients, wantedClients } from './wanted.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'instanceId'>

type SyncDeps = Deps & {
  /** Lets one core's wanted revision be worked out at a time: what is read for it is soon garbage, unless many wait for each other. */
  hashing: Limiter
}

type ApplyDeps = Deps & Pick<Services, 'cores'>

export const STATUS_TIMEOUT_MS = 10_000

/** How far a pass may go: past the removal brake, or not even to removals. */
export interface Pass {
  force: boolean
  remove: boolean
  /** One time for the whole pass: whoever let it remove knew no later one, and the clock may be set while it runs. */
  now: string
  /** The add-only nodes as they were when an admin forced this. */
  held: AddOnlyNodes | undefined
}

export interface ClientChanges {
  /** How many clients came to each node, or got another value. */
  added: Counts
  removed: Counts
  /** Codes of nodes whose removals are held back. */
  blocked: Set<string>
  /** Whether the running core took the changes; null where there were none. */
  live: boolean | null
  /** The most portions in which what could differ at the first look is changed; null before it. */
  portions: number | null
}

/** Whether the core belongs to another instance of the panel, whose clients are not ours to remove. */
export const isForeign = (s: Deps, status: CoreStatus) =>
  status.owner !== '' && status.owner !== s.instanceId()

/** So many clients are looked up at once. */
const LOOKED_UP = 1000

interface Removals {
  remove: Removal[]
  /** The groups of which an admin must decide. */
  blocked: Groups
}

/**
 * What the removal brake lets go. Who is on other nodes alone by their subscription, or has it disabled, is no loss: an admin has done
 * that, and a wrong or empty database does not know them. But not who was another node's already: those clients have come with the wrong
 * server.
 */
async function brake(s: Deps, nodes: Node[], held: Counts, remove: Removal[]): Promise<Removals> {
  const braked = brakeRemovals(held, remove, new Set())
  if (braked.blocked.size === 0) return braked
  const codes = nodes.map((node) => node.code)
  const others = new Set(await s.db.read(readNodeCodes))
  for (const code of codes) others.delete(code)
  const ours = remove.filter(([, group]) => !others.has(group))
  const elsewhere = new Set<string>()
  for await (const some of slices(ours, LOOKED_UP)) {
    const uuids = some.map(([uuid]) => uuid)
    const found = await s.db.read((q) => listOnOtherNodes(q, uuids, codes))
    for (const uuid of found) elsewhere.add(uuid)
  }
  return brakeRemovals(held, remove, elsewhere)
}

/** What of all removals a pass without force may do, of which the brake lets some go. */
function restrain(
  all: Removal[],
  braked: Removals,
  pass: { foreign: boolean; remove: boolean; held: Set<string> },
): Removals {
  if (pass.held.size > 0) return { remove: [], blocked: pass.held }
  if (pass.foreign) return { remove: [], blocked: new TextSet(all.map(([, group]) => group)) }
  return pass.remove ? braked : { ...braked, remove: [] }
}

/** Which of a core's nodes only get clients added since a restore. One of them is enough to spare them all. */
async function heldNodes(s: Deps, nodes: Node[]): Promise<Set<string>> {
  const held = (await s.db.scan(findAddOnlyNodes))?.codes ?? []
  return new Set(nodes.map((node) => node.code).filter((code) => held.includes(code)))
}

/**
 * Changes a core, a portion at a time, each from what the one before made: a change that comes between is noticed. Without anything to
 * change it is one call, which takes the node over by force. Throws NodeError, `stale` too.
 */
async function applyPortions(
  core: Core,
  caller: Caller,
  look: Look,
  { add, remove }: Differing,
  force: boolean,
  changes: ClientChanges,
): Promise<void> {
  for (let done = 0; done === 0 || done < remove.length + add.length; done += PORTION) {
    const request = {
      ...caller,
      from: look.revision,
      to: '',
      force,
      remove: remove.slice(done, done + PORTION),
      add: add.slice(
        Math.max(0, done - remove.length),
        Math.max(0, done + PORTION - remove.length),
      ),
    }
    const uuids = request.remove.map(([uuid]) => uuid)
    const result = await core.program.apply({ ...request, remove: uuids })
    look.revision = result.clients
    changes.live = result.live
    for (const [, group] of request.remove) countIn(changes.removed, group)
    for (const [, value] of request.add) countIn(changes.added, groupOf(value))
  }
}

/** All clients that are wanted, to take the place of whatever the core holds. */
async function* replacement(look: Look, wanted: WantedClients): AsyncGenerator<Differing> {
  look.revision = 'none'
  look.held.clear()
  for await (const { clients } of wanted.pieces()) yield { add: clients, remove: [] }
}

/** Leaves those out who are served again: looking at a large node and adding to it take their time. */
async function stillUnserved(
  s: Deps,
  nodes: Node[],
  removals: Removal[],
  now: string,
): Promise<Removal[]> {
  const codes = nodes.map((node) => node.code)
  const still: Removal[] = []
  for await (const some of slices(removals, LOOKED_UP)) {
    const uuids = some.map(([uuid]) => uuid)
    const served = await s.db.read((q) => listServed(q, uuids, codes, now))
    for (const removal of some) if (!served.has(removal[0])) still.push(removal)
  }
  return still
}

/**
 * What differs, but what `addPortion` has taken: whenever there is a portion of clients to add, it is given it, so that nobody keeps
 * them all. Removals are kept, for the brake counts them.
 */
async function collect(
  differing: AsyncIterable<Differing>,
  addPortion: (add: ClientLine[]) => Promise<void>,
): Promise<Differing> {
  const left: Differing = { add: [], remove: [] }
  for await (const { add, remove } of differing) {
    for (const removal of remove) left.remove.push(removal)
    for (const client of add) left.add.push(client)
    if (left.add.length >= PORTION) await addPortion(left.add.splice(0, PORTION))
  }
  return left
}

/**
 * Whether a pass may do by force what an admin asked for: not after a restore that they did not know. Asked after the clients were
 * read, so that of a restore that comes between nothing is removed by rows that it brought.
 */
async function isForced(s: Deps, { force, held }: Pass): Promise<boolean> {
  const since = await s.db.scan(findAddOnlyNodes)
  return force && (!since || since.generation === held?.generation)
}

/** The nodes of a core whose removals are held back: all of them where the group is another node's, or no node's any more. */
function blockedNodes(nodes: Node[], groups: Groups): Set<string> {
  const codes = new Set(nodes.map((node) => node.code))
  return [...groups].every((group) => codes.has(group)) ? new Set(groups) : codes
}

/** One try at putting the clients of a core right, from the state that `status` reported; adds to `changes` what it did. */
async function trySync(
  s: SyncDeps,
  core: Core,
  nodes: SoundNode[],
  status: CoreStatus,
  asked: Pass,
  changes: ClientChanges,
): Promise<void> {
  const wanted = wantedClients(s, nodes, status.program, asked.now)
  const { revision, count } = await s.hashing(() => wanted.summary(core))
  const most = count + Math.min(status.count, MOST_CLIENTS)
  changes.portions ??= Math.ceil(most / PORTION)
  const isInStep = status.clients === revision
  const look: Look = { revision: status.clients, held: new TextMap() }
  const foreign = isForeign(s, status)
  const caller = { owner: s.instanceId(), program: status.program }
  let unlisted: NodeError | null = null
  const apply = (differing: Differing, force: boolean) => {
    if (unlisted && !force) throw unlisted
    return applyPortions(core, caller, look, differing, force, changes)
  }
  const addPortion = async (add: ClientLine[]) =>
    apply({ add, remove: [] }, await isForced(s, asked))
  const collectAll = async (): Promise<Differing> => {
    if (isInStep) return { add: [], remove: [] }
    try {
      return await collect(findDifferences(core.program, status, wanted, look), addPortion)
    } catch (error) {
      if (!(asked.force && error instanceof NodeError && error.failure === 'garbage')) throw error
      unlisted = error
      return collect(replacement(look, wanted), addPortion)
    }
  }
  const left = await collectAll()
  left.remove = await stillUnserved(s, nodes, left.remove, asked.now)
  const braked = await brake(s, nodes, look.held, left.remove)
  const force = await isForced(s, asked)
  const held = force ? new Set<string>() : await heldNodes(s, nodes)
  const { remove, blocked } = force
    ? { remove: left.remove, blocked: new Set<string>() }
    : restrain(left.remove, braked, { foreign, remove: asked.remove, held })
  changes.blocked = blockedNodes(nodes, blocked)
  const isTakenOver = force && (foreign || !isInStep)
  if (left.add.length + remove.length === 0 && !isTakenOver && !unlisted) return
  await apply({ add: left.add, remove }, force)
}

const countAll = ({ added, removed }: ClientChanges): number =>
  [...added, ...removed].reduce((sum, [, count]) => sum + count, 0)

/**
 * So many looks in vain at a node that others change as well, and so many in all beside one for each portion of what there was to do:
 * one that changes at every look keeps no pass going for ever.
 */
const MOST_LOOKS = 3

/** Puts the clients right, looking again when another process changed the node between our look and our change. */
export async function syncClients(
  s: SyncDeps,
  core: Core,
  nodes: SoundNode[],
  first: CoreStatus,
  pass: Pass,
): Promise<ClientChanges> {
  const changes: ClientChanges = {
    added: new TextMap(),
    removed: new TextMap(),
    blocked: new Set(),
    live: null,
    portions: null,
  }
  let status = first
  for (let looks = 1, all = 1; ; looks++, all++) {
    const before = countAll(changes)
    try {
      await trySync(s, core, nodes, status, pass, changes)
      return changes
    } catch (error) {
      if (!(error instanceof NodeError && error.failure === 'stale')) throw error
      if (countAll(changes) > before) looks = 0
      if (looks === MOST_LOOKS || all >= MOST_LOOKS + (changes.portions ?? 0)) throw error
    }
    status = await core.program.status('', STATUS_TIMEOUT_MS)
  }
}

/** What the database says of these clients now: those that this core must serve, as its program takes them. */
async function servedBy(
  s: ApplyDeps,
  core: Core,
  uuids: string[],
): Promise<{ program: number; served: ClientMap }> {
  const now = formatTimestamp(s.clock.now())
  const all = await s.db.read(listNodes)
  const nodes = all.filter((node) => s.cores.of(node)?.name === core.name)
  const values = new Map(
    nodes.map((node) => [node.code, valuesOf(soundNode(node), programOf(node))]),
  )
  const served: ClientMap = new Map()
  for await (const some of slices(uuids, LOOKED_UP)) {
    const codes = [...values.keys()]
    for (const [uuid, code] of await s.db.read((q) => listServed(q, some, codes, now))) {
      const valueFor = values.get(code)
      if (valueFor) served.set(uuid, valueFor(uuid))
    }
  }
  return { program: nodes[0] ? programOf(nodes[0]) : PRESENT_PROGRAM, served }
}

/** Puts some clients of a core right. What changed while the node was being told is told again. */
async function applySome(s: ApplyDeps, core: Core, uuids: string[]): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const { program, served } = await servedBy(s, core, uuids)
    const add: ClientLine[] = [...served]
    const remove = uuids.filter((uuid) => !served.has(uuid))
    const caller = { owner: s.instanceId(), program }
    const request = { ...caller, from: 'any', to: '', force: false, add, remove }
    const { live } = await core.program.apply(request)
    const after = await servedBy(s, core, uuids)
    if (joinLines(served) === joinLines(after.served)) return live
  }
  return false
}

/** Puts single clients of a core right, so that the last word is the database's; true when the running core has them. */
export async function applyClients(s: ApplyDeps, core: Core, uuids: string[]): Promise<boolean> {
  let inPlace = true
  for await (const some of slices(uuids, PORTION)) {
    if (!(await applySome(s, core, some))) inPlace = false
  }
  return inPlace
}
