/** The clients of one core: what it should hold, what it holds, and how the one becomes the other. */
import type { Node } from '#db/schema.ts'
import { findAddOnlyNodes } from '#db/settings.ts'
import { listClientsOfNode, listServed } from '#db/subscriptions.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { ApplyRequest, ClientMap, Core, CoreStatus, Services } from '#src/services.ts'
import { brakeRemovals, diffClients, joinLines, splitLines } from './client-sets.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'instanceId'>

export const STATUS_TIMEOUT_MS = 10_000

/** The lines of all clients that the core must serve, sorted as the node program sorts them. */
function wantedLines(s: Deps, nodes: Node[], now: string): string[] {
  const lines = nodes.flatMap((node) =>
    listClientsOfNode(s.db, node.code, now).map((uuid) => `${uuid} ${node.code}`),
  )
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
}

export interface ClientChanges {
  add: [uuid: string, group: string][]
  /** The groups of the removed clients. */
  removedFrom: string[]
  /** Codes of nodes whose removals are held back. */
  blocked: Set<string>
}

const NO_CHANGES: ClientChanges = { add: [], removedFrom: [], blocked: new Set() }

/** Whether the core belongs to another instance of the panel, whose clients are not ours to remove. */
export const isForeign = (s: Deps, status: CoreStatus) =>
  status.owner !== '' && status.owner !== s.instanceId()

/** What a pass without force may remove, and the groups of which an admin must decide. */
function restrain(
  present: ClientMap,
  wanted: ClientMap,
  remove: string[],
  pass: { foreign: boolean; remove: boolean; held: Set<string> },
): { remove: string[]; blocked: Set<string> } {
  if (pass.held.size > 0) return { remove: [], blocked: pass.held }
  if (pass.foreign)
    return { remove: [], blocked: new Set(remove.map((id) => present.get(id) as string)) }
  const braked = brakeRemovals(present, wanted, remove)
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
  pass: Pass,
): Promise<ClientChanges> {
  const lines = wantedLines(s, nodes, pass.now)
  const text = lines.length === 0 ? '' : `${lines.join('\n')}\n`
  const revision = sha256Hex(text)
  const foreign = isForeign(s, status)
  // Read after the lines: of a restore that comes between, nothing is removed by rows that it brought.
  const held = pass.force ? new Set<string>() : heldNodes(s, nodes)
  if (status.clients === revision && !(pass.force && foreign))
    return { ...NO_CHANGES, blocked: held }
  const present = await presentClients(core, status.clients)
  const wanted = splitLines(lines)
  const difference = diffClients(present, wanted)
  const { remove, blocked } = pass.force
    ? { remove: difference.remove, blocked: new Set<string>() }
    : restrain(present, wanted, difference.remove, { foreign, remove: pass.remove, held })
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
  await core.program.apply(request)
  core.known = { revision: to, clients: after }
  const removedFrom = remove.map((uuid) => present.get(uuid) as string)
  return { add: difference.add, removedFrom, blocked }
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

/** What the database says of these clients now: those that must be served, with their groups. */
const served = (s: Deps, uuids: string[]) => listServed(s.db, uuids, formatTimestamp(s.clock.now()))

/** Notes in our picture of the core that these clients are as `now` has them; its revision is computed when needed. */
function noteClients(core: Core, uuids: string[], now: ClientMap): void {
  if (!core.known) return
  for (const uuid of uuids) core.known.clients.delete(uuid)
  for (const [uuid, group] of now) core.known.clients.set(uuid, group)
  core.known.revision = ''
}

/**
 * Puts single clients of a core right; true when the running core has them. What changed while the node was being told is told
 * again, so that the last word is the database's.
 */
export async function applyClients(s: Deps, core: Core, uuids: string[]): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = served(s, uuids)
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
    if (joinLines(before) === joinLines(served(s, uuids))) return result.live
  }
  return false
}
