/** Grant, hold, resume, revoke: each one transaction with its event and audit row, then the node. */

import type { Query, Reading, Steps } from '#db/engine/database.ts'
import { readNodesOf } from '#db/node-groups.ts'
import { readNode } from '#db/nodes.ts'
import { readPlan } from '#db/plans.ts'
import { putQuota, quotaOf } from '#db/quotas.ts'
import type { Node, Plan, Subscription, User } from '#db/schema/index.ts'
import type { SubscriptionState } from '#db/subscription-listing.ts'
import {
  disableSubscription,
  enableSubscription,
  holdSubscription,
  insertSubscription,
  type ListedSubscription,
  listOfUser,
  readSubscription,
  resumeSubscription,
  revokeSubscription,
} from '#db/subscriptions.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { ensureCustomer } from '#src/domain/customers/users.ts'
import {
  countsFrom,
  type DelayedStart,
  isWaiting,
  readStart,
  resumeWaiting,
  type StartOrder,
  waitingRow,
} from '#src/domain/delayed-start.ts'
import { resetTrafficIn } from '#src/domain/nodes/traffic.ts'
import { type EventName, emit, isWanted, subscriptionData } from '#src/domain/notify/events.ts'
import {
  begun,
  countedFrom,
  type Moment,
  momentOf,
  quotaOfPlan,
  resumed,
  type SoldQuota,
  unused,
} from '#src/domain/quotas.ts'
import { ownIdOf } from '#src/domain/secret.ts'
import { readSettings, type Settings } from '#src/domain/settings.ts'
import { LOCAL_CORE, managedCoreName } from '#src/lib/core-name.ts'
import { randomUuid } from '#src/lib/random.ts'
import { DAY_MS, ENDLESS, formatTimestamp, later, parseTimestamp } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { chooseHome, settledHome } from './homes.ts'

type Deps = Pick<
  Services,
  'db' | 'config' | 'clock' | 'background' | 'nodeSync' | 'cores' | 'nudge'
>

/** The state of a subscription; precedence revoked, disabled, held, expired, limited, active. */
export function subscriptionState(
  row: Pick<Subscription, 'active' | 'disabledAt' | 'heldAt' | 'expiresAt' | 'limitedAt'>,
  now: string,
): SubscriptionState {
  if (!row.active) return 'revoked'
  if (row.disabledAt !== null) return 'disabled'
  if (row.heldAt !== null) return 'held'
  if (row.expiresAt <= now) return 'expired'
  return row.limitedAt === null ? 'active' : 'limited'
}

/** The states in which a subscription runs: who has used up all is served where nothing counts. */
export const RUNNING: ReadonlySet<SubscriptionState> = new Set(['active', 'limited'])

export type ShownSubscription = ListedSubscription & {
  state: Exclude<SubscriptionState, 'revoked'>
}

/** What a user is shown of their subscriptions, newest first, with its state: all but revoked ones; nothing during a ban. */
export function* listShownOfUser(
  q: Reading,
  user: Pick<User, 'tgId' | 'bannedAt'>,
  now: string,
): Steps<ShownSubscription[]> {
  if (user.bannedAt !== null) return []
  return (yield* listOfUser(q, user.tgId)).flatMap((found) => {
    const state = subscriptionState(found.row, now)
    return state === 'revoked' ? [] : [{ ...found, state }]
  })
}

/** One of them by the id that its owner knows, or by the uuid, which messages from before that id carry. */
export async function findShownOfUser(
  s: Pick<Services, 'db'>,
  user: Pick<User, 'tgId' | 'bannedAt'>,
  id: string,
  now: string,
) {
  const shown = await s.db.read((q) => listShownOfUser(q, user, now))
  return shown.find(({ row }) => row.uuid === id || ownIdOf(s, row.uuid) === id)
}

export interface Offer {
  /** The home. */
  node: Node
  plan: Plan
  nodeGroup: string | null
  quota: SoldQuota
  /** How long it lasts; 0: without end. */
  days: number
  /** Null: it begins at once. */
  start: DelayedStart | null
}

/** A grant as it is asked for: without a node where the plan has a group, for the plan's days unless it names others. */
export interface GrantOrder extends StartOrder {
  node?: string | undefined
  plan: string
  days?: number | undefined
}

/** What may be granted: a node that exists and a plan that is not archived. Throws 400. */
export function* readOffer(tx: Reading, order: GrantOrder, at: Date) {
  const asked = order.node === undefined ? undefined : yield* readNode(tx, order.node)
  if (order.node !== undefined && !asked) throw refusal('unknown-node')
  const plan = yield* readPlan(tx, order.plan)
  if (!asked && !plan?.nodeGroup) throw fieldRefusal('node', 'missing')
  if (!plan) throw refusal('unknown-plan')
  if (plan.archived) throw refusal('plan-archived')
  const { nodeGroup } = plan
  const node = yield* chooseHome(tx, nodeGroup, asked)
  const days = order.days ?? plan.days
  const start = readStart(order, days, at)
  return { node, plan, nodeGroup, days, quota: quotaOfPlan(plan), start } as Offer
}

/** The timestamp `days` after a moment, 0 being without end; what is granted never fails for its date. */
export const expiryAfter = (from: Date, days: number): string =>
  days === 0 ? ENDLESS : formatTimestamp(later(from, days * DAY_MS))

/** Gives a user a subscription that begins now or with its first use, with its labels. */
export function* giveSubscription(
  tx: Query,
  moment: Moment,
  { tgId, username, name }: Pick<User, 'tgId' | 'username' | 'name'>,
  { node, plan, nodeGroup: wanted, days, quota, start }: Offer,
  origin: { source: Subscription['source']; paymentId?: string; giftCode?: string },
) {
  const { at } = moment
  const term = start ? waitingRow(start, at) : { expiresAt: expiryAfter(at, days), startBy: null }
  const { quotaBytes, quotaPeriod, quotaAnchor, resetsAt } = begun(quota, countsFrom(term, moment))
  const { home, group } = yield* settledHome(tx, node, wanted)
  const row = yield* insertSubscription(tx, {
    uuid: randomUuid(),
    tgId,
    node: home.code,
    nodeGroup: group?.code ?? null,
    plan: plan.code,
    ...term,
    createdAt: formatTimestamp(at),
    ...{ quotaBytes, quotaPeriod, quotaAnchor, resetsAt },
    ...origin,
  })
  const labels = {
    ...{ username, name, nodeLabel: home.label, planLabel: plan.label },
    groupLabel: group?.label ?? null,
  }
  return { row, ...labels } as ListedSubscription
}

/** Grants what was read in the same transaction. */
export function* grantIn(tx: Query, actor: Actor, moment: Moment, number: number, offer: Offer) {
  const now = formatTimestamp(moment.at)
  const user = yield* ensureCustomer(tx, number, now)
  const { node, plan, days, start } = offer
  const listed = yield* giveSubscription(tx, moment, user, offer, { source: 'admin' })
  const term = days === plan.days ? '' : ` days=${days}`
  yield* audit(tx, actor, now, {
    action: 'subscription.grant',
    object: listed.row.uuid,
    detail: `tg_id=${user.tgId} node=${node.code} plan=${plan.code}${term}${start ? ` start=first_use seconds=${start.seconds}` : ''}`,
  })
  return listed
}

/**
 * Grants a user `plan` on `node`, creating the user if missing. The client is added to the node in the background.
 * Throws 400 when node or plan is unknown or the plan is archived, 404 for a number below 0 that is nobody's.
 */
export async function grant(
  s: Deps,
  actor: Actor,
  number: number,
  order: GrantOrder,
): Promise<ListedSubscription> {
  const moment = momentOf(s)
  const settings = readSettings(s)
  const granted = await s.db.tx(function* (tx) {
    const offer = yield* readOffer(tx, order, moment.at)
    const listed = yield* grantIn(tx, actor, moment, number, offer)
    const data = subscriptionData(listed, formatTimestamp(moment.at))
    yield* emit(tx, settings, formatTimestamp(moment.at), 'subscription.granted_by_admin', data)
    return listed
  })
  s.nudge('events')
  s.background.run('add client', () => s.nodeSync.touch([granted.row]))
  return granted
}

/** What a change of one subscription does, and what it is called. */
interface Change {
  event: EventName
  action: string
  /** The row as it is then; null where nothing is to be changed. */
  apply(
    tx: Query,
    found: ListedSubscription,
    at: Date,
  ): Generator<unknown, ListedSubscription['row'] | null, unknown>
}

/** What a change of one subscription has in common within its transaction: find it, change it, tell of it. Throws 404. */
function* changeIn(
  tx: Query,
  { settings, actor, at }: { settings: Settings; actor: Actor; at: Date },
  uuid: string,
  { event, action, apply }: Change,
) {
  const now = formatTimestamp(at)
  const found = yield* readSubscription(tx, uuid)
  if (!found) throw refusal('subscription-not-found')
  const next = yield* apply(tx, found, at)
  if (!next) return { row: found.row, changed: false }
  if (isWanted(settings, event)) {
    yield* emit(tx, settings, now, event, subscriptionData({ ...found, row: next }, now))
  }
  yield* audit(tx, actor, now, {
    action,
    object: uuid,
    detail: `tg_id=${next.tgId} node=${next.node}`,
  })
  return { row: next, changed: true }
}

/** A change in a transaction of its own, after which its node is put right. */
async function change(
  s: Deps,
  actor: Actor,
  uuid: string,
  what: Change,
): Promise<ListedSubscription['row']> {
  const by = { settings: readSettings(s), actor, at: s.clock.now() }
  const { row, changed } = await s.db.tx((tx) => changeIn(tx, by, uuid, what))
  if (!changed) return row
  s.nudge('events')
  await s.nodeSync.touch([row])
  return row
}

/** Why a subscription in this state is not paused. */
const NOT_HELD: Partial<
  Record<string, 'subscription-disabled' | 'already-held' | 'subscription-expired'>
> = {
  disabled: 'subscription-disabled',
  held: 'already-held',
  expired: 'subscription-expired',
}

/** Pauses a subscription and removes its client from the node. Throws 404, or 400 when it is not active, disabled, held or expired. */
export function hold(s: Deps, actor: Actor, uuid: string) {
  return change(s, actor, uuid, {
    event: 'subscription.held',
    action: 'subscription.hold',
    *apply(tx, found, at) {
      const now = formatTimestamp(at)
      const held = yield* holdSubscription(tx, uuid, now)
      if (held) return held
      const state = subscriptionState(found.row, now)
      throw refusal(NOT_HELD[state] ?? 'subscription-not-active')
    },
  })
}

/** Ends a pause: the expiry moves by the time it lasted, the client returns. Throws 404, or 400 when it is not held. */
export function resume(s: Deps, actor: Actor, uuid: string) {
  return change(s, actor, uuid, {
    event: 'subscription.resumed',
    action: 'subscription.resume',
    *apply(tx, found, at) {
      const { heldAt, expiresAt } = found.row
      if (heldAt === null || !found.row.active) throw refusal('subscription-not-held')
      // A clock that jumped back must not take time away.
      const pausedMs = Math.max(0, at.getTime() - parseTimestamp(heldAt).getTime())
      const moved = formatTimestamp(later(parseTimestamp(expiresAt), pausedMs))
      yield* resumeWaiting(tx, found.row, pausedMs)
      const row = yield* resumeSubscription(tx, uuid, heldAt, moved)
      if (!row) return null
      const before = quotaOf(row)
      const waits = isWaiting(row, formatTimestamp(at))
      const quota = waits
        ? countedFrom(before, countsFrom(row, { ...momentOf(s), at }))
        : resumed(before, heldAt, pausedMs)
      if (quota !== before) yield* putQuota(tx, uuid, quota)
      return { ...row, ...quota }
    },
  })
}

/** Switches a subscription off: its client leaves the node, its days run on, a pause stays one. Throws 404, or 400 when it is revoked or off. */
export function disable(s: Deps, actor: Actor, uuid: string) {
  return change(s, actor, uuid, {
    event: 'subscription.disabled',
    action: 'subscription.disable',
    *apply(tx, { row }, at) {
      const disabled = yield* disableSubscription(tx, uuid, formatTimestamp(at))
      if (disabled) return disabled
      throw refusal(row.active ? 'already-disabled' : 'subscription-revoked')
    },
  })
}

/** Switches a subscription on again: its client returns if it is active then. Throws 404, or 400 when it is not off. */
export function enable(s: Deps, actor: Actor, uuid: string) {
  return change(s, actor, uuid, {
    event: 'subscription.enabled',
    action: 'subscription.enable',
    *apply(tx) {
      const enabled = yield* enableSubscription(tx, uuid)
      if (!enabled) throw refusal('subscription-not-disabled')
      return enabled
    },
  })
}

const REVOCATION: Change = {
  event: 'subscription.revoked',
  action: 'subscription.revoke',
  *apply(tx, { row }, at) {
    return (yield* revokeSubscription(tx, row.uuid, formatTimestamp(at))) ?? null
  },
}

/** Ends a subscription and removes its client. A revoked one stays as it is, without an event. Throws 404. */
export function revoke(s: Deps, actor: Actor, uuid: string) {
  return change(s, actor, uuid, REVOCATION)
}

/** The same within a transaction; the row whose node is to be told after the commit, undefined when it was revoked before. */
export function* revokeIn(
  tx: Query,
  by: { settings: Settings; actor: Actor; at: Date },
  uuid: string,
) {
  const { row, changed } = yield* changeIn(tx, by, uuid, REVOCATION)
  return changed ? row : undefined
}

/**
 * Sets a subscription's traffic to zero, and what it has used of a quota; the next reading of each of its nodes becomes the base. True when all of them answered now.
 * Throws 404 when the subscription or its nodes are missing.
 */
export async function resetSubscriptionTraffic(
  s: Deps,
  actor: Actor,
  uuid: string,
): Promise<boolean> {
  const now = formatTimestamp(s.clock.now())
  const { row, nodes } = await s.db.tx(function* (tx) {
    const found = yield* readSubscription(tx, uuid)
    if (!found) throw refusal('subscription-not-found')
    const own = yield* readNodesOf(tx, found.row)
    if (own.length === 0) throw refusal('node-not-found')
    for (const { kind, code } of own) {
      yield* resetTrafficIn(tx, uuid, kind === 'local' ? LOCAL_CORE : managedCoreName(code))
    }
    if (found.row.quotaBytes !== null) yield* putQuota(tx, uuid, unused(quotaOf(found.row)))
    yield* audit(tx, actor, now, { action: 'subscription.reset-traffic', object: uuid })
    return { row: found.row, nodes: own }
  })
  if (row.limitedAt !== null) s.background.run('serve again', () => s.nodeSync.touch([row]))
  const read = await Promise.all(nodes.map(({ code }) => s.nodeSync.readNode(code, 5000)))
  return read.every(Boolean)
}
