/** A subscription changed by an admin: how long it lasts, by days or to a time, on which node, and with which group. */

import type { Query, ReadBody, Reading, TxBody } from '#db/engine/database.ts'
import { readNodesOf } from '#db/node-groups.ts'
import { readNode } from '#db/nodes.ts'
import { putQuota, type Quota, quotaOf } from '#db/quotas.ts'
import type { Subscription } from '#db/schema/index.ts'
import {
  type ListedSubscription,
  moveExpiry,
  moveHomes,
  readSubscription,
  setGroup,
  setStart,
} from '#db/subscriptions.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import type { NodeClient } from '#src/domain/customers/users.ts'
import { countsFrom, isWaiting, stretchIn } from '#src/domain/delayed-start.ts'
import { tellLimited } from '#src/domain/notify/quota-notices.ts'
import {
  countedFrom,
  edited,
  type Moment,
  momentOf,
  type QuotaEdition,
} from '#src/domain/quotas.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { addDays, ENDLESS, formatTimestamp, LAST_MS, parseTimestamp } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { requireGroup, requireOneLocal } from './homes.ts'
import { readBeforeMove, TOUCH_MS } from './moves.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'nodeSync' | 'nudge'>

/** Until when a subscription lasts with so many days more: from its expiry on, or from now on where it has run out. Throws 400. */
export function extendedExpiry(row: Subscription, at: Date, days: number): string {
  if (!row.active) throw refusal('subscription-revoked')
  if (row.expiresAt === ENDLESS) throw refusal('has-no-end')
  const isOver = row.heldAt === null && row.expiresAt <= formatTimestamp(at)
  const end = addDays(isOver ? at : parseTimestamp(row.expiresAt), days)
  if (end.getTime() > LAST_MS) throw fieldRefusal('expires_at', 'too-late')
  return formatTimestamp(end)
}

/** Adds days to a subscription that is not revoked. Throws 400, before it writes. */
export function* extendIn(tx: Query, actor: Actor, at: Date, row: Subscription, days: number) {
  const until = extendedExpiry(row, at, days)
  yield* stretchIn(tx, row, at, days)
  const moved = yield* moveExpiry(tx, row.uuid, until)
  yield* audit(tx, actor, formatTimestamp(at), {
    action: 'subscription.extend',
    object: row.uuid,
    detail: `tg_id=${row.tgId} days=${days}`,
  })
  return moved as Subscription
}

/**
 * Lengthens a subscription: an active one and a held one (which stays held) from their expiry on, an expired one from now on, so
 * that its client returns to the node; one that is disabled stays so. Throws 404, or 400 when it is revoked or has no end.
 */
export async function extend(
  s: Deps,
  actor: Actor,
  uuid: string,
  days: number,
): Promise<ListedSubscription> {
  const at = s.clock.now()
  const extended = await s.db.tx(function* (tx) {
    const found = yield* readSubscription(tx, uuid)
    if (!found) throw refusal('subscription-not-found')
    return { ...found, row: yield* extendIn(tx, actor, at, found.row, days) }
  })
  await s.nodeSync.touch([extended.row])
  return extended
}

/** Throws 400 for an expiry that a subscription can't have in its state. */
function checkExpiry(row: Subscription, expiresAt: string): void {
  if (row.heldAt !== null && expiresAt <= row.heldAt) {
    throw fieldRefusal('expires_at', 'before-the-pause')
  }
}

interface Edition {
  expiresAt?: string | undefined
  node?: string | undefined
  /** Null: none. */
  nodeGroup?: string | null | undefined
  quota?: QuotaEdition | undefined
}

/** Throws 400 for a home or a group that there is not, or that can't be together. */
function* checkPlace(tx: Reading, row: Subscription, { node, nodeGroup }: Edition) {
  const home = yield* readNode(tx, node ?? row.node)
  if (node !== undefined && !home) throw refusal('unknown-node')
  const group = nodeGroup === undefined ? row.nodeGroup : nodeGroup
  if (nodeGroup !== undefined) yield* requireGroup(tx, nodeGroup)
  if (home) yield* requireOneLocal(tx, home, group)
}

/** The value of an edition that is another than the present one. */
const changed = <T>(value: T | undefined, present: T): T | undefined =>
  value === present ? undefined : value

/** What of an edition is another value than the present one. Throws 400 for what the subscription can't have. */
function* changesOf(tx: Reading, row: Subscription, edition: Edition) {
  const changes = omitUndefined({
    expiresAt: changed(edition.expiresAt, row.expiresAt),
    node: changed(edition.node, row.node),
    nodeGroup: changed(edition.nodeGroup, row.nodeGroup),
  })
  if (Object.keys(changes).length === 0) return changes
  if (!row.active) throw refusal('subscription-revoked')
  const { expiresAt, node, nodeGroup } = changes
  if (expiresAt !== undefined) checkExpiry(row, expiresAt)
  if (node !== undefined || nodeGroup !== undefined) yield* checkPlace(tx, row, changes)
  return changes
}

/** How a row's quota is to be; undefined where nothing of it changes. Throws 400 for what only goes with a quota. */
function quotaAfter(row: Subscription, edition: QuotaEdition, moment: Moment): Quota | undefined {
  const before = quotaOf(row)
  const next = edited(before, edition, countsFrom(row, moment))
  if (next.quotaBytes === null && (edition.quotaPeriod ?? 'none') !== 'none') {
    throw fieldRefusal('quota_gb', 'missing')
  }
  if (next.quotaBytes === null && edition.extraBytes) throw fieldRefusal('quota_gb', 'missing')
  const isSame = Object.entries(next).every(([key, value]) => before[key as keyof Quota] === value)
  if (isSame) return undefined
  if (!row.active) throw refusal('subscription-revoked')
  return next
}

const quotaDetails = ({ quotaBytes, quotaPeriod, extraBytes }: Quota): string[] => [
  `quota_bytes=${quotaBytes ?? 'none'}`,
  `quota_period=${quotaPeriod}`,
  `extra_bytes=${extraBytes}`,
]

/** Sets the end of a subscription: it ends then, whether it is used or not, and what waited has begun by that. */
function* setEnd(tx: Query, row: Subscription, expiresAt: string, moment: Moment) {
  const { uuid } = row
  if (isWaiting(row, formatTimestamp(moment.at))) {
    yield* putQuota(tx, uuid, countedFrom(quotaOf(row), moment))
  }
  if (row.startBy !== null) yield* setStart(tx, uuid, null, null)
  yield* moveExpiry(tx, uuid, expiresAt)
}

function* editIn(
  tx: Query,
  s: Deps,
  actor: Actor,
  moment: Moment,
  found: ListedSubscription,
  edition: Edition,
) {
  const { uuid, tgId } = found.row
  const quota = edition.quota && quotaAfter(found.row, edition.quota, moment)
  const { expiresAt, node, nodeGroup } = yield* changesOf(tx, found.row, edition)
  if (node !== undefined) yield* moveHomes(tx, [uuid], node)
  if (nodeGroup !== undefined) yield* setGroup(tx, uuid, nodeGroup)
  if (quota) yield* putQuota(tx, uuid, quota)
  if (expiresAt !== undefined) yield* setEnd(tx, { ...found.row, ...quota }, expiresAt, moment)
  if (quota) yield* tellLimited(tx, s, formatTimestamp(moment.at), found.row)
  const details = [
    ...(expiresAt === undefined ? [] : [`expires_at=${expiresAt}`]),
    ...(node === undefined ? [] : [`node=${node}`]),
    ...(nodeGroup === undefined ? [] : [`node_group=${nodeGroup ?? 'none'}`]),
    ...(quota ? quotaDetails(quota) : []),
  ]
  if (details.length === 0) return found
  yield* audit(tx, actor, formatTimestamp(moment.at), {
    action: 'subscription.edit',
    object: uuid,
    detail: [`tg_id=${tgId}`, ...details].join(' '),
  })
  return (yield* readSubscription(tx, uuid)) as ListedSubscription
}

/**
 * Gives an unrevoked subscription another group, or none: the clients whose nodes must be told, of those that it leaves too. Throws 400,
 * before it writes.
 */
export function* regroupIn(
  tx: Query,
  actor: Actor,
  at: Date,
  row: Subscription,
  nodeGroup: string | null,
): Generator<unknown, NodeClient[], unknown> {
  const { nodeGroup: next } = yield* changesOf(tx, row, { nodeGroup })
  if (next === undefined) return []
  yield* setGroup(tx, row.uuid, next)
  yield* audit(tx, actor, formatTimestamp(at), {
    action: 'subscription.edit',
    object: row.uuid,
    detail: `tg_id=${row.tgId} node_group=${next ?? 'none'}`,
  })
  return [row, { ...row, nodeGroup: next }]
}

/** The nodes that serve a subscription now and would no more. */
export function* nodesLeft(
  tx: Reading,
  row: Subscription,
  { node, nodeGroup }: Pick<Edition, 'node' | 'nodeGroup'>,
) {
  const after = {
    node: node ?? row.node,
    nodeGroup: nodeGroup === undefined ? row.nodeGroup : nodeGroup,
  }
  const still = new Set((yield* readNodesOf(tx, after)).map(({ code }) => code))
  const left = (yield* readNodesOf(tx, row)).filter(({ code }) => !still.has(code))
  return left.map(({ code }) => code)
}

function* readKnown(tx: Reading, uuid: string) {
  const found = yield* readSubscription(tx, uuid)
  if (!found) throw refusal('subscription-not-found')
  return found
}

interface Changed<T> {
  found: ListedSubscription
  /** The same as `found` where nothing was changed. */
  next: T
}

/**
 * Changes a subscription where it may go to other nodes. Those that `readLeft` says it leaves are read before, so that what they have
 * moved for it counts; all whom it concerns are told after.
 */
export async function changePlaced<T extends ListedSubscription>(
  s: Deps,
  readLeft: ReadBody<string[]> | null,
  change: TxBody<Changed<T>>,
): Promise<T> {
  const startedMs = s.clock.monotonicMs()
  if (readLeft) await readBeforeMove(s, await s.db.read(readLeft))
  const { found, next } = await s.db.tx(change)
  if (next === found) return next
  s.nudge('messages')
  s.nudge('events')
  const isPlaced = found.row.node === next.row.node && found.row.nodeGroup === next.row.nodeGroup
  const clients = isPlaced ? [next.row] : [found.row, next.row]
  await s.nodeSync.touch(clients, TOUCH_MS - (s.clock.monotonicMs() - startedMs))
  return next
}

/**
 * Changes a subscription. Another expiry counts at once: one in the past ends it, one in the future brings an expired one back; a
 * held one stays held. On another node it has the same client and time, and pending payments for its renewal follow. Without a
 * change it is left as it is. Throws 404, or 400 when it is revoked, node or group is unknown, or both can't be.
 */
export async function editSubscription(
  s: Deps,
  actor: Actor,
  uuid: string,
  edition: Edition,
): Promise<ListedSubscription> {
  const moment = momentOf(s)
  const mayMove = edition.node !== undefined || edition.nodeGroup !== undefined
  const readLeft = function* (q: Reading) {
    const { row } = yield* readKnown(q, uuid)
    return yield* nodesLeft(q, row, yield* changesOf(q, row, edition))
  }
  return changePlaced(s, mayMove ? readLeft : null, function* (tx) {
    const found = yield* readKnown(tx, uuid)
    return { found, next: yield* editIn(tx, s, actor, moment, found, edition) }
  })
}
