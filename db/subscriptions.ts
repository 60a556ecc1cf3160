/** Subscriptions: the owner's list, the admin's listing, the clients of a node, and the conditional changes. */
import { field, hot } from './hot.ts'
import { type Database, type Query, run } from './open.ts'
import {
  and,
  desc,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  type SQL,
  sql,
} from './orm.ts'
import { afterCursor, COUNT_CAP, countCapped, type PageRequest, pageOrder } from './paging.ts'
import {
  counters,
  nodes,
  payments,
  plans,
  type Subscription,
  subscriptions,
  users,
} from './schema.ts'
import { isUuid, MANY_USERS, userSearch } from './users.ts'

/** What makes a subscription active at a time (interface, "States and transitions"). */
const isActive = (now: string) =>
  and(
    eq(subscriptions.active, true),
    isNull(subscriptions.heldAt),
    gt(subscriptions.expiresAt, now),
  )

const ofOwner = (q: Query) =>
  q
    .select({
      uuid: subscriptions.uuid,
      node: subscriptions.node,
      plan: subscriptions.plan,
      expiresAt: subscriptions.expiresAt,
      upBytes: subscriptions.upBytes,
      downBytes: subscriptions.downBytes,
    })
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.tgId, sql.placeholder('tgId')),
        eq(subscriptions.active, true),
        isNull(subscriptions.heldAt),
        gt(subscriptions.expiresAt, sql.placeholder('now')),
      ),
    )
    .orderBy(subscriptions.createdAt, sql`subscriptions.rowid`)
    .prepare()

/** The active subscriptions of a user, oldest first: the order of his list. */
export function listActiveOfUser(db: Database, tgId: number, now: string) {
  return db.prepared(ofOwner).all({ tgId, now })
}

const rowid = sql`subscriptions.rowid`

const listedColumns = {
  row: subscriptions,
  rowid: sql<number>`subscriptions.rowid`,
  username: users.username,
  nodeLabel: nodes.label,
  planLabel: plans.label,
}

const listed = (q: Query) =>
  q
    .select(listedColumns)
    .from(subscriptions)
    .leftJoin(users, eq(users.tgId, subscriptions.tgId))
    .leftJoin(nodes, eq(nodes.code, subscriptions.node))
    .leftJoin(plans, eq(plans.code, subscriptions.plan))
    .$dynamic()

/** A subscription with what its one view shows beside it. */
export interface ListedSubscription {
  row: Subscription
  rowid: number
  username: string | null
  nodeLabel: string | null
  planLabel: string | null
}

/** A subscription with its labels, inside a transaction. */
export function* readSubscription(tx: Query, uuid: string) {
  const [found] = yield* run(listed(tx).where(eq(subscriptions.uuid, uuid)))
  return found as ListedSubscription | undefined
}

/** What a gift code gave its redeemer, with its labels. */
export function* readGiftSubscription(tx: Query, tgId: number, code: string) {
  const own = and(eq(subscriptions.tgId, tgId), eq(subscriptions.giftCode, code))
  const [found] = yield* run(listed(tx).where(own))
  return found as ListedSubscription | undefined
}

const listedOfUser = (q: Query) =>
  listed(q)
    .where(eq(subscriptions.tgId, sql.placeholder('tgId')))
    .orderBy(desc(subscriptions.createdAt), desc(rowid))
    .prepare()

export function listOfUser(db: Database, tgId: number): ListedSubscription[] {
  return db.prepared(listedOfUser).all({ tgId })
}

export type SubscriptionState = 'active' | 'held' | 'expired' | 'revoked'

/** The rows of a state; precedence revoked, held, expired, active. */
function inState(state: SubscriptionState, now: string): SQL | undefined {
  if (state === 'revoked') return eq(subscriptions.active, false)
  const unrevoked = eq(subscriptions.active, true)
  if (state === 'held') return and(unrevoked, isNotNull(subscriptions.heldAt))
  if (state === 'expired')
    return and(unrevoked, isNull(subscriptions.heldAt), lte(subscriptions.expiresAt, now))
  return isActive(now)
}

export interface SubscriptionFilter {
  state?: SubscriptionState
  node?: string
  plan?: string
  tgId?: number
  text?: string
  expiresBefore?: string
}

/** The subscription with this id, and what the payment with this id paid for. */
const withId = (uuid: string) =>
  sql`${subscriptions.uuid} in (select ${uuid} union all
    select ${payments.subscriptionUuid} from ${payments} where ${payments.id} = ${uuid} union all
    select paid.uuid from ${subscriptions} as paid where paid.payment_id = ${uuid})`

/** The condition that an owner is found by `text`, in the form that is quick for as many users as it finds. */
async function ownedBy(q: Query, text: string): Promise<SQL> {
  const found = () => q.select({ id: users.tgId }).from(users).where(userSearch(text))
  const [row] = await q
    .select({ n: sql<number>`count(*)` })
    .from(found().limit(MANY_USERS).as('found'))
  if ((row?.n ?? 0) < MANY_USERS) return inArray(subscriptions.tgId, found())
  return sql`(select 1 from ${users} where ${users.tgId} = ${subscriptions.tgId} and ${userSearch(text)}) is not null`
}

async function matching(
  q: Query,
  filter: SubscriptionFilter,
  now: string,
): Promise<SQL | undefined> {
  const { text } = filter
  const search = async () => {
    if (!text) return undefined
    if (isUuid(text)) return withId(text.toLowerCase())
    return ownedBy(q, text)
  }
  return and(
    filter.state && inState(filter.state, now),
    filter.node === undefined ? undefined : eq(subscriptions.node, filter.node),
    filter.plan === undefined ? undefined : eq(subscriptions.plan, filter.plan),
    filter.tgId === undefined ? undefined : eq(subscriptions.tgId, filter.tgId),
    filter.expiresBefore === undefined
      ? undefined
      : lt(subscriptions.expiresAt, filter.expiresBefore),
    await search(),
  )
}

export const SUBSCRIPTION_SORTS = ['created_at', 'expires_at'] as const
export type SubscriptionSort = (typeof SUBSCRIPTION_SORTS)[number]

/** One page of the admin's listing, and the count of all matches (capped at COUNT_CAP + 1). */
export async function listSubscriptions(
  db: Database,
  filter: SubscriptionFilter,
  sort: SubscriptionSort,
  page: PageRequest,
  now: string,
): Promise<{ rows: ListedSubscription[]; total: number }> {
  const column =
    sort === 'created_at' ? sql`${subscriptions.createdAt}` : sql`${subscriptions.expiresAt}`
  const where = await matching(db.q, filter, now)
  const rows = await listed(db.q)
    .where(and(where, afterCursor(column, rowid, page)))
    .orderBy(...pageOrder(column, rowid, page))
    .limit(page.limit)
  const total = await countCapped(
    db.q,
    sql`select 1 from ${subscriptions} where ${where ?? sql`1 = 1`} limit ${COUNT_CAP + 1}`,
  )
  return { rows, total }
}

type NewSubscription = Pick<
  Subscription,
  'uuid' | 'tgId' | 'node' | 'plan' | 'expiresAt' | 'source' | 'createdAt'
> &
  Partial<Pick<Subscription, 'paymentId' | 'giftCode'>>

const add = hot<NewSubscription, Subscription[]>((q) =>
  q
    .insert(subscriptions)
    .values({
      uuid: field('uuid'),
      tgId: field('tgId'),
      node: field('node'),
      plan: field('plan'),
      expiresAt: field('expiresAt'),
      source: field('source'),
      paymentId: field('paymentId'),
      giftCode: field('giftCode'),
      createdAt: field('createdAt'),
    })
    .returning(),
)

export function* insertSubscription(
  tx: Query,
  { paymentId = null, giftCode = null, ...row }: NewSubscription,
) {
  const [inserted] = yield* add(tx, { ...row, paymentId, giftCode })
  return inserted as Subscription
}

/** Pauses an active, unheld, unexpired subscription; undefined when it is none. */
export function* holdSubscription(tx: Query, uuid: string, now: string) {
  const [held] = yield* run(
    tx
      .update(subscriptions)
      .set({ heldAt: now })
      .where(and(eq(subscriptions.uuid, uuid), isActive(now)))
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

/** Revokes an unrevoked subscription; undefined when it was revoked before or does not exist. */
export function* revokeSubscription(tx: Query, uuid: string, now: string) {
  const [revoked] = yield* run(
    tx
      .update(subscriptions)
      .set({ active: false, heldAt: null, revokedAt: now })
      .where(and(eq(subscriptions.uuid, uuid), eq(subscriptions.active, true)))
      .returning(),
  )
  return revoked as Subscription | undefined
}

// A client belongs on its node while its subscription is active and its owner is not banned. The two readers of this say it in two
// ways: a node's clients are many and banned users few, so those are read once; of single clients the owner is looked up.

const clientsOfNode = (_q: Query, raw: Database['raw']) =>
  raw
    .prepare<[node: string, now: string], string>(
      `select uuid from subscriptions
       where node = +? and active = 1 and held_at is null and expires_at > +?
         and tg_id not in (select tg_id from users where banned_at is not null)
       order by uuid`,
    )
    .pluck()

/** The client ids that a node must serve now, sorted. */
export function listClientsOfNode(db: Database, node: string, now: string): string[] {
  return db.prepared(clientsOfNode).all(node, now)
}

const served = (_q: Query, raw: Database['raw']) =>
  raw
    .prepare<[uuids: string, now: string], [uuid: string, node: string]>(
      `select s.uuid, s.node from subscriptions s join users u on u.tg_id = s.tg_id
       where s.uuid in (select value from json_each(+?))
         and s.active = 1 and s.held_at is null and s.expires_at > +? and u.banned_at is null`,
    )
    .raw()

/** Which of these subscriptions their node must serve now, by uuid. */
export function listServed(db: Database, uuids: string[], now: string): Map<string, string> {
  return new Map(db.prepared(served).all(JSON.stringify(uuids), now))
}

const onOtherNodes = (_q: Query, raw: Database['raw']) =>
  raw
    .prepare<[uuids: string, codes: string], string>(
      `select uuid from subscriptions
       where uuid in (select value from json_each(+?))
         and node in (select code from nodes where code not in (select value from json_each(+?)))`,
    )
    .pluck()

/** Which of these clients have their subscription on a node that is none of `codes`. */
export function listOnOtherNodes(db: Database, uuids: string[], codes: string[]): Set<string> {
  const found = db.prepared(onOtherNodes).all(JSON.stringify(uuids), JSON.stringify(codes))
  return new Set(found)
}

/** Unrevoked and still to be served: held subscriptions keep their time, so they never run out. */
const unexpired = (node: string, now: string) =>
  and(
    eq(subscriptions.node, node),
    eq(subscriptions.active, true),
    sql`(${subscriptions.heldAt} is not null or ${subscriptions.expiresAt} > ${now})`,
  )

const unexpiredOfUser = (tgId: number, now: string) =>
  and(
    eq(subscriptions.tgId, tgId),
    eq(subscriptions.active, true),
    sql`(${subscriptions.heldAt} is not null or ${subscriptions.expiresAt} > ${now})`,
  )

/** A user's subscriptions that may be served again or still, held ones included, oldest first. */
export function* readUnexpiredOfUser(tx: Query, tgId: number, now: string) {
  const rows = yield* run(
    tx
      .select()
      .from(subscriptions)
      .where(unexpiredOfUser(tgId, now))
      .orderBy(subscriptions.createdAt, rowid),
  )
  return rows as Subscription[]
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

/** Puts a subscription on another node; pending payments for its renewal follow. */
export function* moveSubscription(tx: Query, uuid: string, to: string) {
  yield* run(tx.update(subscriptions).set({ node: to }).where(eq(subscriptions.uuid, uuid)))
  yield* run(
    tx
      .update(payments)
      .set({ node: to })
      .where(and(eq(payments.renewsUuid, uuid), eq(payments.status, 'pending'))),
  )
}

/** Puts all unrevoked subscriptions of a node on another one, and pending payments for their renewal; those that were moved. */
export function* moveSubscriptions(tx: Query, from: string, to: string) {
  const moved = yield* run(
    tx
      .update(subscriptions)
      .set({ node: to })
      .where(and(eq(subscriptions.node, from), eq(subscriptions.active, true)))
      .returning(),
  )
  const renewed = tx
    .select({ uuid: subscriptions.uuid })
    .from(subscriptions)
    .where(and(eq(subscriptions.uuid, payments.renewsUuid), eq(subscriptions.node, to)))
  yield* run(
    tx
      .update(payments)
      .set({ node: to })
      .where(and(eq(payments.status, 'pending'), eq(payments.node, from), exists(renewed))),
  )
  return moved as Subscription[]
}

/**
 * Gives a subscription another client id. Payments follow by their references; the counters of the old client are forgotten,
 * because the new one counts from zero.
 */
export function* renameClient(tx: Query, uuid: string, next: string) {
  yield* run(tx.delete(counters).where(eq(counters.uuid, uuid)))
  yield* run(tx.update(subscriptions).set({ uuid: next }).where(eq(subscriptions.uuid, uuid)))
}

/** The number of subscriptions that still need this node, held ones included. */
export function* countUnexpired(tx: Query, node: string, now: string) {
  const [row] = yield* run(
    tx.select({ n: sql<number>`count(*)` }).from(subscriptions).where(unexpired(node, now)),
  )
  return row?.n ?? 0
}
