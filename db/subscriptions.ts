/** Subscriptions: the owner's list, the clients of a node, and the conditional changes. */

import { ask, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { byIndex, indexed, joinedBytes, param, textsOf } from './engine/dialect.ts'
import { and, desc, eq, inArray, isNotNull, isNull, type SQL, sql } from './engine/orm.ts'
import { built, field, writtenArrays, writtenValues } from './engine/question.ts'
import { MOST_OF_CUSTOMER } from './listing.ts'
import {
  counters,
  nodeGroups,
  nodes,
  payments,
  plans,
  type Subscription,
  subscriptions,
  users,
} from './schema/index.ts'
import { freeOf, isFree, nodeAmong, onEachNode } from './served-nodes.ts'
import {
  isActive,
  isDisabled,
  isHeld,
  isServed,
  where,
  whereActive,
  whereDisabledUnexpired,
  whereUnexpired,
} from './states.ts'
import type { ActiveOfUser } from './users.ts'

const ofOwner = built<{ tgId: number; now: string }, ActiveOfUser[]>((q) =>
  q
    .select({
      uuid: subscriptions.uuid,
      node: subscriptions.node,
      nodeGroup: subscriptions.nodeGroup,
      plan: subscriptions.plan,
      expiresAt: subscriptions.expiresAt,
      upBytes: subscriptions.upBytes,
      downBytes: subscriptions.downBytes,
      quotaBytes: subscriptions.quotaBytes,
      usedBytes: subscriptions.usedBytes,
      extraBytes: subscriptions.extraBytes,
      resetsAt: subscriptions.resetsAt,
      limitedAt: subscriptions.limitedAt,
      startBy: subscriptions.startBy,
      startSeconds: subscriptions.startSeconds,
    })
    .from(subscriptions)
    .where(and(eq(subscriptions.tgId, field('tgId')), whereActive(field('now'))))
    .orderBy(subscriptions.createdAt, subscriptions.seq)
    .limit(MOST_OF_CUSTOMER),
)

/** The active subscriptions of a user, oldest first: the order of the user's list; `MOST_OF_CUSTOMER` of them. */
export function* listActiveOfUser(_q: Reading, tgId: number, now: string) {
  return yield* ask(ofOwner, { tgId, now })
}

const { seq } = subscriptions

const listedColumns = {
  row: subscriptions,
  username: users.username,
  name: users.name,
  nodeLabel: nodes.label,
  planLabel: plans.label,
  groupLabel: nodeGroups.label,
}

/** Subscriptions with what their views show beside them. */
export const listed = (q: Reading) =>
  q
    .select(listedColumns)
    .from(subscriptions)
    .leftJoin(users, eq(users.tgId, subscriptions.tgId))
    .leftJoin(nodes, eq(nodes.code, subscriptions.node))
    .leftJoin(plans, eq(plans.code, subscriptions.plan))
    .leftJoin(nodeGroups, eq(nodeGroups.code, subscriptions.nodeGroup))
    .$dynamic()

/** A subscription with what its one view shows beside it. */
export interface ListedSubscription {
  row: Subscription
  username: string | null
  /** Of the owner, as their username is. */
  name: string | null
  nodeLabel: string | null
  planLabel: string | null
  groupLabel: string | null
}

/** A subscription with its labels, inside a transaction. */
export function* readSubscription(tx: Reading, uuid: string) {
  const [found] = yield* run(listed(tx).where(eq(subscriptions.uuid, uuid)))
  return found as ListedSubscription | undefined
}

/** What a gift code gave its redeemer, with its labels. */
export function* readGiftSubscription(tx: Reading, tgId: number, code: string) {
  const own = and(eq(subscriptions.tgId, tgId), eq(subscriptions.giftCode, code))
  const [found] = yield* run(listed(tx).where(own))
  return found as ListedSubscription | undefined
}

/** Found by their index first, so that nothing is looked up beside those that are given. */
const listedOfUser = built<{ tgId: number }, ListedSubscription[]>((q) => {
  const newestFirst = [desc(subscriptions.createdAt), desc(seq)]
  const newest = q
    .select({ seq })
    .from(subscriptions)
    .where(eq(subscriptions.tgId, field('tgId')))
    .orderBy(...newestFirst)
    .limit(MOST_OF_CUSTOMER)
  return listed(q)
    .where(inArray(seq, newest))
    .orderBy(...newestFirst)
})

/** A customer's subscriptions with their labels, newest first; `MOST_OF_CUSTOMER` of them. */
export function* listOfUser(_q: Reading, tgId: number) {
  return yield* ask(listedOfUser, { tgId })
}

type NewSubscription = Pick<
  Subscription,
  'uuid' | 'tgId' | 'node' | 'plan' | 'expiresAt' | 'source' | 'createdAt'
> &
  Partial<
    Pick<
      Subscription,
      'nodeGroup' | 'paymentId' | 'giftCode' | 'startSeconds' | 'startBy' | 'startedAt'
    >
  > &
  Partial<Pick<Subscription, 'quotaBytes' | 'quotaPeriod' | 'quotaAnchor' | 'resetsAt'>>

const add = built<NewSubscription, Subscription[]>((q) =>
  q
    .insert(subscriptions)
    .values({
      uuid: field('uuid'),
      tgId: field('tgId'),
      node: field('node'),
      nodeGroup: field('nodeGroup'),
      plan: field('plan'),
      expiresAt: field('expiresAt'),
      source: field('source'),
      paymentId: field('paymentId'),
      giftCode: field('giftCode'),
      createdAt: field('createdAt'),
      quotaBytes: field('quotaBytes'),
      quotaPeriod: field('quotaPeriod'),
      quotaAnchor: field('quotaAnchor'),
      resetsAt: field('resetsAt'),
      startSeconds: field('startSeconds'),
      startBy: field('startBy'),
      startedAt: field('startedAt'),
    })
    .returning(),
)

export function* insertSubscription(
  _tx: Query,
  { nodeGroup = null, paymentId = null, giftCode = null, ...row }: NewSubscription,
) {
  const { quotaBytes = null, quotaPeriod = 'none', quotaAnchor = null, resetsAt = null } = row
  const { startSeconds = null, startBy = null, startedAt = null } = row
  const quota = { quotaBytes, quotaPeriod, quotaAnchor, resetsAt }
  const start = { startSeconds, startBy, startedAt }
  const from = { nodeGroup, paymentId, giftCode }
  const [inserted] = yield* ask(add, { ...row, ...from, ...quota, ...start })
  return inserted as Subscription
}

/** Pauses an active, unheld, unexpired subscription; undefined when it is none. */
export function* holdSubscription(tx: Query, uuid: string, now: string) {
  const [held] = yield* run(
    tx
      .update(subscriptions)
      .set({ heldAt: now })
      .where(and(eq(subscriptions.uuid, uuid), whereActive(now)))
      .returning(),
  )
  return held as Subscription | undefined
}

/** Ends a pause with the given expiry; undefined when the subscription is not held since `heldAt`. */
export function* resumeSubscription(tx: Query, uuid: string, heldAt: string, expiresAt: string) {
  const [resumed] = yield* run(
    tx
      .update(subscriptions)
      .set({ heldAt: null, expiresAt, reminded: 0 })
      .where(
        and(
          eq(subscriptions.uuid, uuid),
          eq(subscriptions.active, true),
          eq(subscriptions.heldAt, heldAt),
        ),
      )
      .returning(),
  )
  return resumed as Subscription | undefined
}

/** Begins an unrevoked subscription that waits for its first use; of what has begun by another one meanwhile nothing changes. */
export function* beginSubscription(tx: Query, uuid: string, startedAt: string, expiresAt: string) {
  const waits = and(eq(subscriptions.active, true), isNotNull(subscriptions.startBy))
  yield* run(
    tx
      .update(subscriptions)
      .set({ startedAt, expiresAt, startBy: null, reminded: 0 })
      .where(and(eq(subscriptions.uuid, uuid), waits)),
  )
}

/** Sets for how long a subscription lasts from its first use on, and when it begins at the latest; both null: it waits for none. */
export function* setStart(
  tx: Query,
  uuid: string,
  startSeconds: number | null,
  startBy: string | null,
) {
  const start = { startSeconds, startBy }
  yield* run(tx.update(subscriptions).set(start).where(eq(subscriptions.uuid, uuid)))
}

/** Subscriptions by their ids. */
export function* readSubscriptions(tx: Query, uuids: string[]) {
  const rows = yield* run(tx.select().from(subscriptions).where(inArray(subscriptions.uuid, uuids)))
  return rows as Subscription[]
}

/** Switches an unrevoked subscription off; undefined when it is off already. */
export function* disableSubscription(tx: Query, uuid: string, now: string) {
  const on = and(eq(subscriptions.active, true), isNull(subscriptions.disabledAt))
  const [disabled] = yield* run(
    tx
      .update(subscriptions)
      .set({ disabledAt: now })
      .where(and(eq(subscriptions.uuid, uuid), on))
      .returning(),
  )
  return disabled as Subscription | undefined
}

/** Switches it on again; undefined when it is not off. */
export function* enableSubscription(tx: Query, uuid: string) {
  const [enabled] = yield* run(
    tx
      .update(subscriptions)
      .set({ disabledAt: null })
      .where(and(eq(subscriptions.uuid, uuid), where(isDisabled)))
      .returning(),
  )
  return enabled as Subscription | undefined
}

/** Revokes an unrevoked subscription; undefined when it was revoked before or does not exist. */
export function* revokeSubscription(tx: Query, uuid: string, now: string) {
  const [revoked] = yield* run(
    tx
      .update(subscriptions)
      .set({ active: false, heldAt: null, disabledAt: null, revokedAt: now })
      .where(and(eq(subscriptions.uuid, uuid), eq(subscriptions.active, true)))
      .returning(),
  )
  return revoked as Subscription | undefined
}

// A client belongs on its nodes while its subscription is active and its owner is not banned. The two readers of this say it in two
// ways: a node's clients are many and banned users few, so those are read once; of single clients the owner is looked up.

const CLIENTS_OF_NODE = onEachNode(
  (node, from) => `select s.uuid ${from} ${node} = ${param('node')}
    and s.uuid >= ${param('from')} and s.uuid < ${param('to')} and ${isActive(param('now'), 's.')}
    and (s.limited_at is null or ${isFree(param('node'))})
    and s.tg_id not in (select tg_id from users ${byIndex('users_banned')} where banned_at is not null)`,
)

type ClientsOfNode = ClientIds & { node: string; now: string }

const clientsOfNode = writtenValues<ClientsOfNode, string>(`${CLIENTS_OF_NODE} order by uuid`)

const textOfClients = writtenValues<ClientsOfNode, Uint8Array>(
  `select ${joinedBytes('uuid')} from (${CLIENTS_OF_NODE} order by uuid) as clients`,
)

/** Client ids from `from` to below `to`. */
export interface ClientIds {
  from: string
  to: string
}

/** The client ids that a node must serve now, sorted. To be scanned. */
export function* listClientsOfNode(
  _q: Reading,
  node: string,
  { from, to }: ClientIds,
  now: string,
): Steps<string[]> {
  return yield* ask(clientsOfNode, { node, from, to, now })
}

/**
 * The same as the bytes of one text, in the order of the index, which is theirs: to be hashed, at a third of the work, and without the
 * strings of each, nor one of all that would be encoded again.
 */
export function* joinClientsOfNode(
  _q: Reading,
  node: string,
  { from, to }: ClientIds,
  now: string,
): Steps<Uint8Array> {
  const [text] = yield* ask(textOfClients, { node, from, to, now })
  return text as Uint8Array
}

type Asked = { uuids: string; codes: string; now: string }

const served = writtenArrays<Asked, [uuid: string, node: string | null]>(
  `select s.uuid, case when s.limited_at is null then ${nodeAmong(textsOf('codes'), 's.')}
     else ${nodeAmong(freeOf(textsOf('codes')), 's.')} end
   from subscriptions s join users u on u.tg_id = s.tg_id
   where s.uuid in (${textsOf('uuids')}) and ${isServed(param('now'), 's.', 'u.')}`,
)

/** By uuid, which of the nodes `codes` must serve these subscriptions now; of those that none of them serves nothing is said. */
export function* listServed(_q: Reading, uuids: string[], codes: string[], now: string) {
  const params = { uuids: JSON.stringify(uuids), codes: JSON.stringify(codes), now }
  const rows = yield* ask(served, params)
  return new Map(rows.flatMap(([uuid, node]) => (node === null ? [] : [[uuid, node] as const])))
}

const onOtherNodes = writtenValues<{ uuids: string; codes: string }, string>(
  `select uuid from subscriptions
   where uuid in (${textsOf('uuids')})
     and case when ${isDisabled()} then 1 = 1
         when limited_at is null then node in (select code from nodes) and ${nodeAmong(textsOf('codes'))} is null
         else ${nodeAmong(freeOf(textsOf('codes')))} is null end`,
)

/**
 * Which of these clients the database knows not to be served by `codes`: their subscription is on nodes of which none is one of them, has
 * used up its traffic, or is disabled.
 */
export function* listOnOtherNodes(_q: Reading, uuids: string[], codes: string[]) {
  const params = { uuids: JSON.stringify(uuids), codes: JSON.stringify(codes) }
  return new Set(yield* ask(onOtherNodes, params))
}

const unexpiredOfUser = (tgId: number, now: string) =>
  and(eq(subscriptions.tgId, tgId), whereUnexpired(now))

/** A user's subscriptions that may be served again or still, held ones included, oldest first. */
export function* readUnexpiredOfUser(tx: Query, tgId: number, now: string) {
  const rows = yield* run(
    tx
      .select()
      .from(subscriptions)
      .where(unexpiredOfUser(tgId, now))
      .orderBy(subscriptions.createdAt, seq),
  )
  return rows as Subscription[]
}

/** A user's subscriptions that are not revoked: expired ones too, which come back when they are lengthened. */
export function* readUnrevokedOfUser(tx: Query, tgId: number) {
  const own = and(eq(subscriptions.tgId, tgId), eq(subscriptions.active, true))
  return (yield* run(tx.select().from(subscriptions).where(own))) as Subscription[]
}

/**
 * Gives an unrevoked subscription another expiry, of whose reminders `reminded` are over; undefined when it is revoked or does not
 * exist.
 */
export function* moveExpiry(tx: Query, uuid: string, expiresAt: string, reminded = 0) {
  const [moved] = yield* run(
    tx
      .update(subscriptions)
      .set({ expiresAt, reminded })
      .where(and(eq(subscriptions.uuid, uuid), eq(subscriptions.active, true)))
      .returning(),
  )
  return moved as Subscription | undefined
}

/** Puts subscriptions on another node; pending payments for their renewal follow. */
export function* moveHomes(tx: Query, uuids: string[], to: string) {
  yield* run(tx.update(subscriptions).set({ node: to }).where(inArray(subscriptions.uuid, uuids)))
  yield* run(
    tx
      .update(payments)
      .set({ node: to })
      .where(and(inArray(payments.renewsUuid, uuids), eq(payments.status, 'pending'))),
  )
}

/** Gives a subscription another group, or none; pending payments for its renewal keep theirs. */
export function* setGroup(tx: Query, uuid: string, nodeGroup: string | null) {
  yield* run(tx.update(subscriptions).set({ nodeGroup }).where(eq(subscriptions.uuid, uuid)))
}

/** The same of a plan. */
export function* setPlan(tx: Query, uuid: string, plan: string) {
  yield* run(tx.update(subscriptions).set({ plan }).where(eq(subscriptions.uuid, uuid)))
}

/** Where these subscriptions are served. */
export function* readPlaced(q: Reading, uuids: string[]) {
  const { uuid, node, nodeGroup } = subscriptions
  return yield* run(
    q.select({ uuid, node, nodeGroup }).from(subscriptions).where(inArray(uuid, uuids)),
  )
}

/** Where a walk over the subscriptions of a node has got to. */
export type Place = Pick<Subscription, 'createdAt' | 'seq'>

const walked = {
  seq,
  createdAt: subscriptions.createdAt,
  uuid: subscriptions.uuid,
  active: subscriptions.active,
  heldAt: subscriptions.heldAt,
  disabledAt: subscriptions.disabledAt,
  expiresAt: subscriptions.expiresAt,
  limitedAt: subscriptions.limitedAt,
}

type Walked = Place &
  Pick<Subscription, 'uuid' | 'active' | 'heldAt' | 'disabledAt' | 'expiresAt' | 'limitedAt'>

/**
 * Puts subscriptions of a node on another one, and pending payments for their renewal: those that are not revoked among the next
 * `limit`, oldest first. `next` is where the rest begins; null when there is none.
 */
export function* moveSubscriptions(
  tx: Query,
  { from, to }: { from: string; to: string },
  after: Place | null,
  limit: number,
) {
  const rows = (yield* run(
    tx
      .select(walked)
      .from(subscriptions)
      .where(
        and(
          eq(subscriptions.node, from),
          after
            ? sql`(${walked.createdAt}, ${seq}) > (${after.createdAt}, ${after.seq})`
            : undefined,
        ),
      )
      .orderBy(walked.createdAt, seq)
      .limit(limit),
  )) as Walked[]
  const moved = rows.filter((row) => row.active)
  const uuids = moved.map((row) => row.uuid)
  yield* run(tx.update(subscriptions).set({ node: to }).where(inArray(subscriptions.uuid, uuids)))
  yield* run(
    tx
      .update(payments)
      .set({ node: to })
      .where(
        and(
          inArray(payments.renewsUuid, uuids),
          eq(payments.status, 'pending'),
          eq(payments.node, from),
        ),
      ),
  )
  const last = rows.at(-1)
  return { moved, next: rows.length === limit && last ? last : null }
}

/**
 * Gives a subscription another client id. Payments follow by their references; the counters of the old client are forgotten,
 * because the new one counts from zero.
 */
export function* renameClient(tx: Query, uuid: string, next: string) {
  yield* run(tx.delete(counters).where(eq(counters.uuid, uuid)))
  yield* run(tx.update(subscriptions).set({ uuid: next }).where(eq(subscriptions.uuid, uuid)))
}

/** Whether subscriptions still need this node, held and disabled ones included: by indexes that cover it, for a node can have very many. */
export function* hasUnexpired(tx: Query, node: string, now: string) {
  const by = (index: string, condition: SQL) =>
    run(
      tx
        .select({ n: sql`1` })
        .from(indexed(subscriptions, index))
        .where(and(condition, eq(subscriptions.node, node)))
        .limit(1),
    )
  const found = [
    yield* by('subscriptions_clients', whereActive(now)),
    yield* by('subscriptions_held', where(isHeld)),
    yield* by('subscriptions_disabled', whereDisabledUnexpired(now)),
  ]
  return found.some((rows) => rows.length > 0)
}
