/** Keeps every core equal to the database: configuration, clients, counters. Desired state, never a queue of changes. */
import { listNodes, recordHealth, setSyncBlocked } from '#db/nodes.ts'
import type { Node } from '#db/schema.ts'
import { findAddOnlyNodes, releaseAddOnlyNodes } from '#db/settings.ts'
import { findReading } from '#db/traffic.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { NodeError } from '#src/lib/errors.ts'
import { createLimiter, type Limiter } from '#src/lib/limiter.ts'
import type { LogFields } from '#src/lib/log.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Core, CoreStatus, NodeSync, NodeSyncResult, Services } from '#src/services.ts'
import { createClientQueue } from './client-queue.ts'
import { coreConfig, servedNodes } from './core-config.ts'
import { createNodeAlerts, type NodeAlerts } from './node-alerts.ts'
import {
  applyClients,
  type ClientChanges,
  isForeign,
  type Pass,
  STATUS_TIMEOUT_MS,
  syncClients,
} from './sync-clients.ts'
import { countReading } from './traffic.ts'

type ProcessDeps = Pick<
  Services,
  'db' | 'clock' | 'log' | 'config' | 'cores' | 'instanceId' | 'background'
>

/** `counting` lets one reading be counted at a time, so that readings of one process never overtake each other. */
type Deps = ProcessDeps & { counting: Limiter; alerts: NodeAlerts }

const NOT_SERVED =
  'not served: its port is in use by another local node, or the core takes no such short id, SNI or flow'

/** A core that is just being started, or started again, is no trouble. */
const PATIENCE_MS = 10_000

/** What is wrong with a core that answered, or null. */
function troubleOf({ core, live }: CoreStatus): string | null {
  if (!core.up) return 'the proxy core is not running'
  return live ? null : 'the running core does not hold the wanted clients'
}

/** REALITY's target: the setting for the seeded node, else the site whose name it borrows. */
function targetOf(s: Pick<Deps, 'config'>, node: Node): string {
  const own = node.code === 'de1' ? s.config.localNode.target : ''
  return own === '' ? `${node.sni}:443` : own
}

type CorePass = ClientChanges & { status: CoreStatus }

/** Gives the core its configuration. A machine without a core binary goes on: its clients are kept for the day it has one. */
async function configure(s: Deps, core: Core, base: string): Promise<void> {
  try {
    await core.program.configure(s.instanceId(), base)
  } catch (error) {
    if (!(error instanceof NodeError && error.failure === 'no-core')) throw error
  }
}

/** Reads a core and counts its counters. Throws NodeError. */
async function readStatus(s: Deps, core: Core, timeoutMs: number): Promise<CoreStatus> {
  const acknowledged = await findReading(s.db, core.name)
  const status = await core.program.status(acknowledged, timeoutMs)
  await s.counting(() => countReading(s, core.name, acknowledged, status))
  return status
}

/** One pass over a core: counters, clients, configuration. Clients first, because with `force` they take the node over. */
async function syncCore(s: Deps, core: Core, nodes: Node[], pass: Pass): Promise<CorePass> {
  const { served } = servedNodes(nodes)
  const status = await readStatus(s, core, STATUS_TIMEOUT_MS)
  const changes = await syncClients(s, core, served, status, pass)
  const base = coreConfig(served, (node) => targetOf(s, node))
  if (status.config !== sha256Hex(base) && (pass.force || !isForeign(s, status))) {
    await configure(s, core, base)
  }
  return { status, ...changes }
}

/** Notes on the node rows what a pass learned; alarms only where something changed. */
async function recordPass(s: Deps, nodes: Node[], pass: CorePass): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  const { conflicts } = servedNodes(nodes)
  const { version } = pass.status.core
  // Left out when it is the same, because lists depend on it: writing it would have them all read anew (db/triggers.ts).
  const changed = version !== null && nodes.some((node) => node.coreVersion !== version)
  const lastError = troubleOf(pass.status)
  await recordHealth(
    s.db,
    nodes.map((node) => node.code),
    { lastSeenAt: now, lastError, ...(changed ? { coreVersion: version } : {}) },
  )
  if (conflicts.length > 0) {
    const codes = conflicts.map((node) => node.code)
    await recordHealth(s.db, codes, { lastError: NOT_SERVED })
  }
  for (const node of nodes) {
    const blocked = pass.blocked.has(node.code)
    if (!(await setSyncBlocked(s.db, node.code, blocked))) continue
    await s.alerts.noteBrake(node, blocked)
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
  tell: Tell,
  release: (codes: string[]) => Promise<void>,
): Promise<NodeSyncResult[]> {
  const codes = nodes.map((node) => node.code)
  try {
    const done = await syncCore(s, core, nodes, pass)
    await release(codes)
    await recordPass(s, nodes, done)
    const trouble = troubleOf(done.status)
    tell(core, trouble)
    await s.alerts.note(nodes, trouble)
    return codes.map((code) => ({
      code,
      ok: trouble === null,
      added: done.add.filter(([, group]) => group === code).length,
      removed: done.removedFrom.filter((group) => group === code).length,
      error: done.blocked.has(code) ? 'removals held back' : trouble,
    }))
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    tell(core, 'node sync failed', { failure: error.failure, reason: error.message })
    await recordHealth(s.db, codes, { lastError: error.message })
    await s.alerts.note(nodes, error.message)
    return codes.map((code) => ({ code, ok: false, added: 0, removed: 0, error: error.message }))
  }
}

/** Reads and counts a core's counters; false when it gave none in time. */
async function readCounters(s: Deps, core: Core, timeoutMs: number): Promise<boolean> {
  try {
    return (await readStatus(s, core, timeoutMs)).core.up
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return false
  }
}

/** Tells the operator once of a core's trouble that lasts, and of its end (null). */
type Tell = (core: Core, alarm: string | null, fields?: LogFields) => void

/** The NodeSync of a process. */
export function createNodeSync(deps: ProcessDeps): NodeSync {
  const s: Deps = { ...deps, counting: createLimiter(1), alerts: createNodeAlerts(deps) }
  const queue = createClientQueue(s, (core, uuids) => applyClients(s, core, uuids))
  const troubles = new Map<Core, { text: string; sinceMs: number; told: boolean }>()
  const tell: Tell = (core, alarm, fields = {}) => {
    const last = troubles.get(core)
    if (alarm === null) {
      troubles.delete(core)
      if (last?.told) s.log.info('node is in step again', { core: core.name })
      return
    }
    const text = `${alarm} ${fields.reason ?? ''}`
    const trouble =
      last?.text === text ? last : { text, sinceMs: s.clock.monotonicMs(), told: false }
    troubles.set(core, trouble)
    if (trouble.told || s.clock.monotonicMs() - trouble.sinceMs < PATIENCE_MS) return
    trouble.told = true
    s.log.warn(alarm, { core: core.name, ...fields })
  }
  return {
    touch: (subscriptions, timeoutMs = 5000) => queue.touch(subscriptions, timeoutMs),
    async syncAll(options) {
      const pass = { ...options, now: formatTimestamp(s.clock.now()) }
      // Before the nodes are: a restore that comes meanwhile is not what the admin forced.
      const held = options.force ? findAddOnlyNodes(s.db) : undefined
      const groups = [...groupByCore(s)]
      const release = async (codes: string[]) => {
        if (held) await releaseAddOnlyNodes(s.db, held, codes)
      }
      const results = await Promise.all(
        groups.map(([core, nodes]) => syncGroup(s, core, nodes, pass, tell, release)),
      )
      // Whose core is not here any more has nothing to remove either.
      const here = groups.flatMap(([, nodes]) => nodes.map((node) => node.code))
      await release((held?.codes ?? []).filter((code) => !here.includes(code)))
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
