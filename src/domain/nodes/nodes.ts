/** Nodes as an admin manages them. The node `de1` belongs to this machine: only its label and what of its traffic counts are editable, and it stays. */

import { isUniqueViolation } from '#db/engine/failures.ts'
import { deleteHostsOf } from '#db/node-hosts.ts'
import { forgetSeen } from '#db/node-live.ts'
import {
  countPendingPayments,
  deleteNode,
  insertNode,
  noteChecked,
  readNode,
  readNodeCodes,
  reorderNodes,
  updateNode,
} from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import { hasUnexpired } from '#db/subscriptions.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { generateRealityKeys } from '#src/domain/nodes/install/keys.ts'
import { stoppedCore } from '#src/domain/nodes/sync/core-pass.ts'
import { forgetStates } from '#src/domain/notify/alerts.ts'
import { emit, nodeData } from '#src/domain/notify/events.ts'
import { checkOrder } from '#src/domain/ordering.ts'
import { PENDING_PAYMENT_MS } from '#src/domain/pending-payments.ts'
import { requireRoom } from '#src/domain/room.ts'
import { readSettings } from '#src/domain/settings.ts'
import { NodeError } from '#src/lib/errors.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { randomHex } from '#src/lib/random.ts'
import { formatTimestamp, timestampBefore } from '#src/lib/time.ts'
import type { HostMetrics } from '#src/ports/node-program.ts'
import type { NodeSyncResult } from '#src/ports/node-sync.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { nodeStates } from './alerts.ts'
import { coreRefusal } from './core-config.ts'
import { leaveGroups } from './groups.ts'
import { hasHysteria } from './hysteria-config.ts'
import { LOCAL_NODE } from './local-node.ts'
import { retireIn } from './retired.ts'

type Deps = Pick<
  Services,
  | 'db'
  | 'config'
  | 'clock'
  | 'background'
  | 'nodeSync'
  | 'cores'
  | 'dial'
  | 'nudge'
  | 'writeKnownHosts'
>

const DIAL_MS = 5000
const METRICS_MS = 5000
const SYNC_ANSWER_MS = 5000

type NodeFields = Pick<
  Node,
  | 'code'
  | 'label'
  | 'kind'
  | 'address'
  | 'port'
  | 'publicKey'
  | 'shortId'
  | 'sni'
  | 'flow'
  | 'sharedUuid'
>

const notFoundNode = () => refusal('node-not-found')

type Served = Pick<Node, 'kind' | 'shortId' | 'flow' | 'sni'> & Partial<Pick<Node, 'privateKey'>>

/** Throws 400 for a node of ours whose fields its core would refuse: it would serve nobody. */
function checkServed(node: Served): void {
  const hasKeys = node.kind === 'managed' && Boolean(node.privateKey)
  if (node.kind !== 'local' && !hasKeys) return
  const refused = coreRefusal(node)
  if (refused) throw refused
  if (hasKeys && node.sni === '') throw fieldRefusal('sni', 'empty-on-managed-node')
}

/** Puts the configuration and clients of changed nodes right, without holding the answer up. */
function syncSoon(s: Deps, { code, kind }: Pick<Node, 'code' | 'kind'>): void {
  if (kind === 'external') return
  const only = [kind === 'local' ? LOCAL_NODE : code]
  s.background.run('sync after a node change', () =>
    s.nodeSync.syncAll({ force: false, remove: false, only }),
  )
}

/**
 * Creates a node that is active and enabled. A local one gets a key pair and short id of its own, since its inbound runs here.
 * Throws 400 when the code is taken, or the core would refuse the fields of a local node.
 */
export async function createNode(s: Deps, actor: Actor, fields: NodeFields): Promise<Node> {
  checkServed(fields)
  const now = formatTimestamp(s.clock.now())
  const settings = readSettings(s)
  const own =
    fields.kind === 'local'
      ? { ...(await generateRealityKeys()), shortId: fields.shortId || randomHex(8) }
      : {}
  try {
    const node = await s.db.tx(function* (tx) {
      yield* requireRoom(tx, 'nodes')
      const inserted = yield* insertNode(tx, { ...fields, ...own, createdAt: now })
      yield* emit(tx, settings, now, 'node.added', nodeData(inserted))
      yield* audit(tx, actor, now, { action: 'node.create', object: inserted.code })
      return inserted
    })
    s.nudge('events')
    syncSoon(s, node)
    return node
  } catch (error) {
    if (isUniqueViolation(error)) throw refusal('node-code-taken')
    throw error
  }
}

type NodeChanges = {
  [K in keyof Omit<NodeFields, 'code' | 'kind'>]?: NodeFields[K] | undefined
} & {
  enabled?: boolean | undefined
  trafficRatio?: number | undefined
  hysteriaHop?: string | null | undefined
}

/** What the apps of customers connect to, and know it by. */
const PLACE = ['address', 'port', 'publicKey', 'sni'] as const

const isMoved = (node: Node, fields: NodeChanges): boolean =>
  PLACE.some((key) => fields[key] !== undefined && fields[key] !== node[key])

/** Lists are without another range of ports until the node redirects it. */
const leftHops = (node: Node, { hysteriaHop }: NodeChanges): Partial<Node> =>
  hysteriaHop === undefined || hysteriaHop === node.hysteriaHop ? {} : { hysteriaHopping: false }

/**
 * Changes the editable fields of a node; without any it stays as it is. `confirmed` throws where another place may not be given to it:
 * customers are sent there, or will be once it is set up. Throws 404, or 400 for what the core would refuse, and for ports of a Hysteria that is not there.
 */
export async function editNode(
  s: Deps,
  actor: Actor,
  code: string,
  changes: NodeChanges,
  confirmed: () => void,
): Promise<Node> {
  const now = formatTimestamp(s.clock.now())
  const fields =
    code === LOCAL_NODE
      ? omitUndefined({ label: changes.label, trafficRatio: changes.trafficRatio })
      : omitUndefined(changes)
  const node = await s.db.tx(function* (tx) {
    const present = yield* readNode(tx, code)
    if (!present) throw notFoundNode()
    const keys = Object.keys(fields)
    if (keys.length === 0) return present
    checkServed({ ...present, ...fields })
    if ('hysteriaHop' in fields && fields.hysteriaHop !== null && !hasHysteria(present)) {
      throw fieldRefusal('hysteria_hop', 'without-hysteria')
    }
    if (isMoved(present, fields)) confirmed()
    const updated = yield* updateNode(tx, code, { ...fields, ...leftHops(present, fields) })
    yield* audit(tx, actor, now, { action: 'node.edit', object: code, detail: keys.join(' ') })
    return updated as Node
  })
  syncSoon(s, node)
  // The key stays pinned: it is the node's, wherever that is.
  if (node.hostKey !== null && changes.address !== undefined) await s.writeKnownHosts()
  return node
}

/** Gives the nodes a new order. Throws 400 unless `codes` names every node exactly once. */
export async function orderNodes(s: Deps, actor: Actor, codes: string[]): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    checkOrder(codes, yield* readNodeCodes(tx), 'node')
    yield* reorderNodes(tx, codes)
    yield* audit(tx, actor, now, { action: 'node.reorder' })
  })
}

/**
 * Deletes a node that nobody needs any more; the server of a managed one is cleaned as soon as it answers. Throws 404, or 400 with
 * the reason.
 */
export async function removeNode(s: Deps, actor: Actor, code: string): Promise<void> {
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const kind = await s.db.tx(function* (tx) {
    const node = yield* readNode(tx, code)
    if (!node) throw notFoundNode()
    if (code === LOCAL_NODE) throw refusal('local-node')
    if (yield* hasUnexpired(tx, code, now)) throw refusal('node-has-subscriptions')
    const since = timestampBefore(at, PENDING_PAYMENT_MS)
    if ((yield* countPendingPayments(tx, code, since)) > 0) {
      throw refusal('node-has-pending-payments')
    }
    yield* leaveGroups(tx, code, now)
    yield* deleteHostsOf(tx, code)
    yield* forgetSeen(tx, code)
    yield* deleteNode(tx, code)
    yield* retireIn(tx, node, now)
    yield* forgetStates(tx, Object.values(nodeStates(code)))
    yield* audit(tx, actor, now, { action: 'node.delete', object: code })
    return node.kind
  })
  if (kind === 'local') syncSoon(s, { code, kind })
  if (kind === 'managed') {
    s.cores.forget(code)
    await s.writeKnownHosts()
  }
}

/** Whether the node's port accepts a connection within 5 s; false where its address is not allowed. Throws 404. */
export async function checkNode(s: Deps, actor: Actor, code: string): Promise<boolean> {
  const now = formatTimestamp(s.clock.now())
  const node = await s.db.tx(function* (tx) {
    const node = yield* readNode(tx, code)
    if (!node) throw notFoundNode()
    const detail = `${node.address} port ${node.port}`
    yield* audit(tx, actor, now, { action: 'node.check', object: code, detail })
    return node
  })
  const isUp = await s.dial(node.address, node.port, DIAL_MS)
  await noteChecked(s.db, [node], isUp, now)
  return isUp
}

export interface NodeMetrics {
  ok: boolean
  error: string | null
  metrics: HostMetrics | null
}

function measuredTrouble(
  kind: string,
  { coreUp, coreVersion, hysteriaUp }: HostMetrics,
): string | null {
  if (coreUp) return hysteriaUp === false ? 'Hysteria is not running' : null
  return stoppedCore(kind, coreVersion)
}

/** The state of a node's machine; an unreachable one is reported, never thrown. Throws 404 for an unknown node. */
export async function nodeMetrics(s: Deps, code: string): Promise<NodeMetrics> {
  const node = await s.db.read((q) => readNode(q, code))
  if (!node) throw notFoundNode()
  const core = s.cores.of(node)
  if (!core) {
    const error =
      node.kind === 'external'
        ? null
        : node.kind === 'managed'
          ? 'the node has not been set up yet'
          : 'the node is not managed by this machine'
    return { ok: false, error, metrics: null }
  }
  try {
    const metrics = await core.program.metrics(METRICS_MS)
    return { ok: true, error: measuredTrouble(node.kind, metrics), metrics }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return { ok: false, error: error.message, metrics: null }
  }
}

/**
 * Syncs all nodes now; `force` passes the removal brake. What takes longer than `timeoutMs` goes on, and its nodes are told as
 * not done.
 */
export async function syncNow(
  s: Deps,
  actor: Actor,
  force: boolean,
  timeoutMs = SYNC_ANSWER_MS,
): Promise<NodeSyncResult[]> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx((tx) =>
    audit(tx, actor, now, { action: 'nodes.sync', detail: force ? 'force' : '' }),
  )
  return s.nodeSync.syncAll({ force, remove: true, timeoutMs })
}
