/** Keeps every core equal to the database: configuration, clients, counters. Desired state, never a queue of changes. */
import { listNodes, recordHealth, setSyncBlocked } from '#db/nodes.ts'
import type { Node } from '#db/schema.ts'
import { listClientsOfNode, listServed } from '#db/subscriptions.ts'
import { findReading } from '#db/traffic.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type {
  ApplyRequest,
  ClientMap,
  Core,
  CoreStatus,
  NodeSync,
  NodeSyncResult,
  Services,
} from '#src/services.ts'
import { createClientQueue } from './client-queue.ts'
import { brakeRemovals, diffClients, joinLines, splitLines } from './client-sets.ts'
import { coreConfig, servedNodes } from './core-config.ts'
import { countReading } from './traffic.ts'

type Deps = Pick<
  Services,
  'db' | 'clock' | 'log' | 'config' | 'cores' | 'instanceId' | 'background'
>

const STATUS_TIMEOUT_MS = 10_000
const APPLY_TIMEOUT_MS = 60_000
const CORE_DOWN = 'the proxy core is not running'

/** REALITY's target: the setting for the seeded node, else the site whose name it borrows. */
function targetOf(s: Pick<Deps, 'config'>, node: Node): string {
  const own = node.code === 'de1' ? s.config.localNode.target : ''
  return own === '' ? `${node.sni}:443` : own
}

/** The lines of all clients that the core must serve now, sorted as the node program sorts them. */
function wantedLines(s: Deps, nodes: Node[]): string[] {
  const now = formatTimestamp(s.clock.now())
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

interface Pass {
  force: boolean
  remove: boolean
}

interface ClientChanges {
  add: [uuid: string, group: string][]
  /** The groups of the removed clients. */
  removedFrom: string[]
  /** Codes of nodes whose removals are held back. */
  blocked: Set<string>
}

const NO_CHANGES: ClientChanges = { add: [], removedFrom: [], blocked: new Set() }

type CorePass = ClientChanges & { status: CoreStatus }

/** Whether the core belongs to another instance of the panel, whose clients are not ours to remove. */
const isForeign = (s: Deps, status: CoreStatus) =>
  status.owner !== '' && status.owner !== s.instanceId

/** One try at putting the clients of a core right, from the state that `status` reported. */
async function syncClients(
  s: Deps,
  core: Core,
  nodes: Node[],
  status: CoreStatus,
  pass: Pass,
): Promise<ClientChanges> {
  const lines = wantedLines(s, nodes)
  const text = lines.length === 0 ? '' : `${lines.join('\n')}\n`
  const revision = sha256Hex(text)
  const foreign = isForeign(s, status)
  if (status.clients === revision && !(pass.force && foreign)) return NO_CHANGES
  const present = await presentClients(core, status.clients)
  const wanted = splitLines(lines)
  const difference = diffClients(present, wanted)
  const mayRemove = pass.force || (pass.remove && !foreign)
  const { remove, blocked } = pass.force
    ? { remove: difference.remove, blocked: new Set<string>() }
    : brakeRemovals(present, wanted, difference.remove, mayRemove)
  const after = new Map(present)
  for (const uuid of remove) after.delete(uuid)
  for (const [uuid, group] of difference.add) after.set(uuid, group)
  const to = sha256Hex(joinLines(after))
  const request: ApplyRequest = {
    owner: s.instanceId,
    from: status.clients,
    to,
    force: pass.force,
    add: difference.add,
    remove,
  }
  await core.program.apply(request, APPLY_TIMEOUT_MS)
  core.known = { revision: to, clients: after }
  const removedFrom = remove.map((uuid) => present.get(uuid) as string)
  return { add: difference.add, removedFrom, blocked }
}

async function syncCore(s: Deps, core: Core, nodes: Node[], pass: Pass): Promise<CorePass> {
  const { served } = servedNodes(nodes)
  const status = await core.program.status(await findReading(s.db, core.name), STATUS_TIMEOUT_MS)
  await countReading(s, core.name, status)
  const base = coreConfig(served, (node) => targetOf(s, node))
  if (status.config !== sha256Hex(base) && (pass.force || !isForeign(s, status))) {
    await core.program.configure(s.instanceId, base)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      const now = attempt === 1 ? status : await core.program.status('', STATUS_TIMEOUT_MS)
      return { status, ...(await syncClients(s, core, served, now, pass)) }
    } catch (error) {
      // Another process changed the node between our look and our change: look again.
      const raced =
        error instanceof NodeError && (error.failure === 'stale' || error.failure === 'bad-input')
      core.known = null
      if (!raced || attempt === 3) throw error
    }
  }
}

/** Notes on the node rows what a pass learned; alarms only where something changed. */
async function recordPass(s: Deps, nodes: Node[], pass: CorePass): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  const { conflicts } = servedNodes(nodes)
  const { up, version } = pass.status.core
  const lastError = up ? null : CORE_DOWN
  await recordHealth(
    s.db,
    nodes.map((node) => node.code),
    { lastSeenAt: now, lastError, ...(version === null ? {} : { coreVersion: version }) },
  )
  if (conflicts.length > 0) {
    const codes = conflicts.map((node) => node.code)
    await recordHealth(s.db, codes, { lastError: 'port or keys are in use by another local node' })
  }
  for (const node of nodes) {
    const blocked = pass.blocked.has(node.code)
    if (!(await setSyncBlocked(s.db, node.code, blocked))) continue
    if (blocked) s.log.warn('removals held back: send force to go on', { node: node.code })
    else s.log.info('removals go on', { node: node.code })
  }
}

function groupByCore(s: Deps): Map<Core, Node[]> {
  const groups = new Map<Core, Node[]>()
  for (const node of listNodes(s.db)) {
    const core = s.cores.of(node)
    if (core) groups.set(core, [...(groups.get(core) ?? []), node])
  }
  return groups
}

async function syncGroup(
  s: Deps,
  core: Core,
  nodes: Node[],
  pass: Pass,
): Promise<NodeSyncResult[]> {
  const codes = nodes.map((node) => node.code)
  try {
    const done = await syncCore(s, core, nodes, pass)
    await recordPass(s, nodes, done)
    const { up } = done.status.core
    return codes.map((code) => ({
      code,
      ok: up,
      added: done.add.filter(([, group]) => group === code).length,
      removed: done.removedFrom.filter((group) => group === code).length,
      error: done.blocked.has(code) ? 'removals held back' : up ? null : CORE_DOWN,
    }))
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    s.log.warn('node sync failed', {
      core: core.name,
      failure: error.failure,
      reason: error.message,
    })
    await recordHealth(s.db, codes, { lastError: error.message })
    return codes.map((code) => ({ code, ok: false, added: 0, removed: 0, error: error.message }))
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
async function applyClients(s: Deps, core: Core, uuids: string[]): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = await served(s, uuids)
    const remove = uuids.filter((uuid) => !before.has(uuid))
    const request = {
      owner: s.instanceId,
      from: 'any',
      to: '',
      force: false,
      add: [...before],
      remove,
    }
    const result = await core.program.apply(request, STATUS_TIMEOUT_MS)
    noteClients(core, uuids, before)
    if (joinLines(before) === joinLines(await served(s, uuids))) return result.live
  }
  return false
}

/** Reads and counts a core's counters; false when it gave none in time. */
async function readCounters(s: Deps, core: Core, timeoutMs: number): Promise<boolean> {
  try {
    const status = await core.program.status(await findReading(s.db, core.name), timeoutMs)
    await countReading(s, core.name, status)
    return status.core.up
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return false
  }
}

/** The NodeSync of a process. */
export function createNodeSync(s: Deps): NodeSync {
  const queue = createClientQueue(s, (core, uuids) => applyClients(s, core, uuids))
  return {
    touch: (subscriptions, timeoutMs = 5000) => queue.touch(subscriptions, timeoutMs),
    async syncAll(pass) {
      const groups = [...groupByCore(s)]
      const results = await Promise.all(
        groups.map(([core, nodes]) => syncGroup(s, core, nodes, pass)),
      )
      return results.flat()
    },
    async readTraffic(timeoutMs) {
      await Promise.all([...groupByCore(s).keys()].map((core) => readCounters(s, core, timeoutMs)))
    },
    async readNode(code, timeoutMs) {
      for (const [core, nodes] of groupByCore(s)) {
        if (nodes.some((node) => node.code === code)) return readCounters(s, core, timeoutMs)
      }
      return false
    },
  }
}
