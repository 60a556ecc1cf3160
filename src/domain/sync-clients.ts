/** The clients of one core: what it should hold, what it holds, and how the one becomes the other. */
import { listNodes } from '#db/nodes.ts'
import type { Node } from '#db/schema.ts'
import { type AddOnlyNodes, findAddOnlyNodes } from '#db/settings.ts'
import { listClientsOfNode, listOnOtherNodes, listServed } from '#db/subscriptions.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { ApplyRequest, ClientMap, Core, CoreStatus, Services } from '#src/services.ts'
import { brakeRemovals, diffClients, groupOf, joinLines, splitLines } from './client-sets.ts'
import { valuesOf } from './client-values.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'instanceId'>

type ApplyDeps = Deps & Pick<Services, 'cores'>

export const STATUS_TIMEOUT_MS = 10_000

/** The lines of all clients that the core must serve, sorted as the node program sorts them. */
function wantedLines(s: Deps, nodes: Node[], now: string): string[] {
  const lines = nodes.flatMap((node) => {
    const valueFor = valuesOf(node)
    return listClientsOfNode(s.db, node.code, now).map((uuid) => `${uuid} ${valueFor(uuid)}`)
  })
  return nodes.length > 1 ? lines.sort() : lines
}

/** What the core holds now: from memory when that still has the reported revision, else asked for. */
async function presentClients(core: Core, revision: string): Promise<ClientMap> {
  if (core.known && core.known.revision === '') {
    core.known.revision = sha256Hex(joinLines(core.known.clients))
  }
  if (core.known?.revision === revision) return core.known.clients
  const { clients, lines } = await core.program.list()
  core.known = { revision: clients, clients: lines }
  return lines
}

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
  add: [uuid: string, value: string][]
  /** The groups of the removed clients. */
  removedFrom: string[]
  /** Codes of nodes whose removals are held back. */
  blocked: Set<string>
  /** Whether the running core took the changes; null where there were none. */
  live: boolean | null
}

const NO_CHANGES: ClientChanges = { add: [], removedFrom: [], blocked: new Set(), live: null }

/** Whether the core belongs to another instance of the panel, whose clients are not ours to remove. */
export const isForeign = (s: Deps, status: CoreStatus) =>
  status.owner !== '' && status.owner !== s.instanceId()

/**
 * What the removal brake lets go. Who is on another node by his subscription is no loss: an admin has moved him, and a wrong or
 * empty database does not know him.
 */
function brake(s: Deps, nodes: Node[], present: ClientMap, remove: string[]) {
  const braked = brakeRemovals(present, remove, new Set())
  if (braked.blocked.size === 0) return braked
  const codes = nodes.map((node) => node.code)
  return brakeRemovals(present, remove, listOnOtherNodes(s.db, remove, codes))
}

/** What a pass without force may remove, and the groups of which an admin must decide. */
function restrain(
  s: Deps,
  nodes: Node[],
  present: ClientMap,
  remove: string[],
  pass: { foreign: boolean; remove: boolean; held: Set<string> },
): { remove: string[]; blocked: Set<string> } {
  if (pass.held.size > 0) return { remove: [], blocked: pass.held }
  if (pass.foreign) {
    return { remove: [], blocked: new Set(remove.map((id) => groupOf(present.get(id) as string))) }
  }
  const braked = brake(s, nodes, present, remove)
  return pass.remove ? braked : { ...braked, remove: [] }
}

/** Which of a core's nodes only get clients added since a restore. One of them is enough to spare them all. */
function heldNodes(s: Deps, nodes: Node[]): Set<string> {
  const held = findAddOnlyNodes(s.db)?.codes ?? []
  return new Set(nodes.map((node) => node.code).filter((code) => held.includes(code)))
}

/** One try at putting the clients of a core right, from the state that `status` reported. */
async function trySync(
  s: Deps,
  core: Core,
  nodes: Node[],
  status: CoreStatus,
  asked: Pass,
): Promise<ClientChanges> {
  const lines = wantedLines(s, nodes, asked.now)
  const text = lines.length === 0 ? '' : `${lines.join('\n')}\n`
  const revision = sha256Hex(text)
  const foreign = isForeign(s, status)
  // Read after the lines: of a restore that comes between, nothing is removed by rows that it brought. Nor by force that an admin
  // asked for before it came.
  const since = findAddOnlyNodes(s.db)
  const force = asked.force && (!since || since.generation === asked.held?.generation)
  const pass = { ...asked, force }
  const held = pass.force ? new Set<string>() : heldNodes(s, nodes)
  if (status.clients === revision && !(pass.force && foreign))
    return { ...NO_CHANGES, blocked: held }
  const present = await presentClients(core, status.clients)
  const wanted = splitLines(lines)
  const difference = diffClients(present, wanted)
  const { remove, blocked } = pass.force
    ? { remove: difference.remove, blocked: new Set<string>() }
    : restrain(s, nodes, present, difference.remove, { foreign, remove: pass.remove, held })
  if (difference.add.length + remove.length === 0 && !pass.force) return { ...NO_CHANGES, blocked }
  const after = new Map(present)
  for (const uuid of remove) after.delete(uuid)
  for (const [uuid, group] of difference.add) after.set(uuid, group)
  const to = sha256Hex(joinLines(after))
  const request: ApplyRequest = {
    owner: s.instanceId(),
    from: status.clients,
    to,
    force: pass.force,
    add: difference.add,
    remove,
  }
  const { live } = await core.program.apply(request)
  core.known = { revision: to, clients: after }
  const removedFrom = remove.map((uuid) => groupOf(present.get(uuid) as string))
  return { add: difference.add, removedFrom, blocked, live }
}

/** Puts the clients right, looking again when another process changed the node between our look and our change. */
export async function syncClients(
  s: Deps,
  core: Core,
  nodes: Node[],
  first: CoreStatus,
  pass: Pass,
): Promise<ClientChanges> {
  for (let attempt = 1; ; attempt++) {
    try {
      const status = attempt === 1 ? first : await core.program.status('', STATUS_TIMEOUT_MS)
      return await trySync(s, core, nodes, status, pass)
    } catch (error) {
      core.known = null
      const raced =
        error instanceof NodeError && (error.failure === 'stale' || error.failure === 'bad-input')
      if (!raced || attempt === 3) throw error
    }
  }
}

/** What the database says of these clients now: those that this core must serve. */
function servedBy(s: ApplyDeps, core: Core, uuids: string[]): ClientMap {
  const now = formatTimestamp(s.clock.now())
  const nodes = listNodes(s.db).filter((node) => s.cores.of(node)?.name === core.name)
  const values = new Map(nodes.map((node) => [node.code, valuesOf(node)]))
  const served: ClientMap = new Map()
  for (const [uuid, code] of listServed(s.db, uuids, now)) {
    const valueFor = values.get(code)
    if (valueFor) served.set(uuid, valueFor(uuid))
  }
  return served
}

/** Notes in our picture of the core that these clients are as `now` has them; its revision is computed when needed. */
function noteClients(core: Core, uuids: string[], now: ClientMap): void {
  if (!core.known) return
  for (const uuid of uuids) core.known.clients.delete(uuid)
  for (const [uuid, value] of now) core.known.clients.set(uuid, value)
  core.known.revision = ''
}

/**
 * Puts single clients of a core right; true when the running core has them. What changed while the node was being told is told
 * again, so that the last word is the database's.
 */
export async function applyClients(s: ApplyDeps, core: Core, uuids: string[]): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = servedBy(s, core, uuids)
    const remove = uuids.filter((uuid) => !before.has(uuid))
    const request = {
      owner: s.instanceId(),
      from: 'any',
      to: '',
      force: false,
      add: [...before],
      remove,
    }
    const result = await core.program.apply(request)
    noteClients(core, uuids, before)
    if (joinLines(before) === joinLines(servedBy(s, core, uuids))) return result.live
  }
  return false
}
