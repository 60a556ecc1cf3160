/** Payments: lookups by either id, the conditional changes of their status, and what is due to be asked about. */

import { ask, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { numbersIn, textsIn } from './engine/dialect.ts'
import { isUniqueViolation } from './engine/failures.ts'
import {
  and,
  asc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNull,
  lte,
  ne,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from './engine/orm.ts'
import { built, field, input } from './engine/question.ts'
import { OF_UNPAID_GUEST } from './guests.ts'
import {
  nodes,
  type Payment,
  payments,
  plans,
  type Subscription,
  subscriptions,
} from './schema/index.ts'

const byId = built<{ id: string }, Payment[]>((q) =>
  q
    .select()
    .from(payments)
    .where(eq(payments.id, input('id'))),
)

const byExternalId = built<{ provider: string; externalId: string }, Payment[]>((q) =>
  q
    .select()
    .from(payments)
    .where(
      and(
        eq(payments.provider, field('provider')),
        eq(payments.externalId, field('externalId')),
        sql`${payments.externalId} <> ''`,
      ),
    ),
)

/** A provider's payment by the provider's id. */
export function* readByExternalId(_q: Reading, provider: string, externalId: string) {
  const [payment] = yield* ask(byExternalId, { provider, externalId })
  return payment
}

/** A provider's payment by our id, else by the provider's. Another provider's payment is not found. */
export function* readPaymentOf(q: Reading, provider: string, id: string) {
  const own = yield* readPayment(q, id)
  return own?.provider === provider ? own : yield* readByExternalId(q, provider, id)
}

/** A payment by our id. */
export function* readPayment(_q: Reading, id: string) {
  const [payment] = yield* ask(byId, { id })
  return payment
}

/** Inserts a payment and gives its row. */
export function* insertPayment(tx: Query, row: typeof payments.$inferInsert) {
  const [inserted] = yield* run(tx.insert(payments).values(row).returning())
  return inserted as Payment
}

type Changes = Partial<Omit<Payment, 'id' | 'status'>>

/** Changes what is no status; undefined when there is no such payment. */
export function* updatePayment(tx: Query, id: string, changes: Changes) {
  const [updated] = yield* run(
    tx.update(payments).set(changes).where(eq(payments.id, id)).returning(),
  )
  return updated as Payment | undefined
}

const claim = built<{ id: string; now: string; failedToo: number }, { id: string }[]>((q) =>
  q
    .update(payments)
    .set({
      status: 'paid',
      paidAt: sql`${field('now')}`,
      failedReason: null,
      reviewReason: null,
      nextCheckAt: null,
      deletedUser: false,
      // Of what it gave before a restore.
      givenSeconds: null,
    })
    .where(
      and(
        eq(payments.id, input('id')),
        sql`(${payments.status} = 'pending' or (${payments.status} = 'failed' and ${field('failedToo')} = 1))`,
      ),
    )
    .returning({ id: payments.id }),
)

/** Claims a pending payment, or also a failed one, for whoever grants it; false when another one was quicker. */
export function* claimPayment(_tx: Query, id: string, now: string, failedToo: boolean) {
  const claimed = yield* ask(claim, { id, now, failedToo: Number(failedToo) })
  return claimed.length > 0
}

const link = built<{ id: string; uuid: string; tgId: number }, unknown>((q) =>
  q
    .update(payments)
    .set({ subscriptionUuid: sql`${field('uuid')}`, tgId: sql`${field('tgId')}` })
    .where(eq(payments.id, input('id'))),
)

/** Notes which subscription a payment gave or lengthened, and whose it is: who bought it may have another number by now. */
export function* linkSubscription(
  _tx: Query,
  id: string,
  { uuid, tgId }: Pick<Subscription, 'uuid' | 'tgId'>,
) {
  yield* ask(link, { id, uuid, tgId })
}

/** Fails a pending payment; false when it is pending no more. */
export function* failPayment(tx: Query, id: string, reason: string) {
  const rows = yield* run(
    tx
      .update(payments)
      .set({ status: 'failed', failedReason: reason, nextCheckAt: null, order: null })
      .where(and(eq(payments.id, id), eq(payments.status, 'pending')))
      .returning({ id: payments.id }),
  )
  return rows.length > 0
}

/** Whose payment of this provider has this external id already. */
export class ExternalIdTaken extends Error {}

/** Stores what the provider calls a payment, once; undefined when it has an external id or is gone. Throws ExternalIdTaken. */
export function* storeExternalId(
  tx: Query,
  id: string,
  link: Pick<Payment, 'externalId' | 'nextCheckAt'> &
    Partial<Pick<Payment, 'payUrl' | 'payUrlExpiresAt'>>,
) {
  try {
    const [stored] = yield* run(
      tx
        .update(payments)
        .set({ ...link, order: null })
        .where(and(eq(payments.id, id), eq(payments.externalId, '')))
        .returning(),
    )
    return stored as Payment | undefined
  } catch (error) {
    if (isUniqueViolation(error)) throw new ExternalIdTaken()
    throw error
  }
}

/** Notes what the provider calls a payment by its own word; not where another payment is called so. */
export function* adoptExternalId(tx: Query, { id, provider }: Payment, externalId: string) {
  const taken = sql`exists (select 1 from payments as other where other.provider = ${provider}
    and other.external_id = ${externalId} and other.external_id <> '')`
  yield* run(
    tx
      .update(payments)
      .set({ externalId, order: null })
      .where(and(eq(payments.id, id), sql`not ${taken}`)),
  )
}

/**
 * Whether another payment, paid and not refunded, gave this subscription too; with a group: one that was sold with it. Of more traffic
 * for it none did.
 */
export function* isPaidForAgain(tx: Query, uuid: string, id: string, nodeGroup?: string) {
  const found = yield* run(
    tx
      .select({ id: payments.id })
      .from(payments)
      .where(
        and(
          eq(payments.subscriptionUuid, uuid),
          ne(payments.id, id),
          ne(payments.kind, 'traffic'),
          eq(payments.status, 'paid'),
          isNull(payments.refundedAt),
          nodeGroup === undefined ? undefined : eq(payments.nodeGroup, nodeGroup),
        ),
      )
      .limit(1),
  )
  return found.length > 0
}

/** When each payment of the user since then was made, oldest first. */
export function* readRecentPayments(tx: Query, tgId: number, since: string) {
  const rows = yield* run(
    tx
      .select({ createdAt: payments.createdAt })
      .from(payments)
      .where(and(eq(payments.tgId, tgId), gt(payments.createdAt, since)))
      .orderBy(asc(payments.createdAt)),
  )
  return rows.map((row) => row.createdAt)
}

/** What makes two orders one. */
export type SameOrder = Pick<
  Payment,
  | 'tgId'
  | 'node'
  | 'plan'
  | 'nodeGroup'
  | 'quotaBytes'
  | 'quotaPeriod'
  | 'kind'
  | 'pack'
  | 'extraBytes'
  | 'provider'
  | 'amount'
  | 'currency'
  | 'days'
  | 'shopId'
  | 'renewsUuid'
>

/** Whether a column holds a value, which may be null. */
const isValue = (column: SQLWrapper, value: string | number | null) =>
  sql`${column} is not distinct from ${value}`

/**
 * The newest pending payment of the same order that can be paid by its link until `linkUntil` at least, or whose creation at the
 * provider, begun after `begunSince`, is to be asked for again.
 */
export function* readReusable(
  tx: Query,
  order: SameOrder,
  linkUntil: string,
  begunSince: string | null,
) {
  const begun: SQL | undefined =
    begunSince === null
      ? undefined
      : and(
          eq(payments.externalId, ''),
          gt(payments.createdAt, begunSince),
          sql`${payments.order} is not null`,
        )
  const [found] = yield* run(
    tx
      .select()
      .from(payments)
      .where(
        and(
          eq(payments.tgId, order.tgId),
          eq(payments.node, order.node),
          eq(payments.plan, order.plan),
          isValue(payments.nodeGroup, order.nodeGroup),
          isValue(payments.quotaBytes, order.quotaBytes),
          eq(payments.quotaPeriod, order.quotaPeriod),
          eq(payments.kind, order.kind),
          isValue(payments.pack, order.pack),
          isValue(payments.extraBytes, order.extraBytes),
          eq(payments.provider, order.provider),
          eq(payments.amount, order.amount),
          eq(payments.currency, order.currency),
          eq(payments.days, order.days),
          isValue(payments.shopId, order.shopId),
          isValue(payments.renewsUuid, order.renewsUuid),
          eq(payments.status, 'pending'),
          eq(payments.deletedUser, false),
          isNull(payments.reviewReason),
          isNull(payments.refundedAt),
          or(and(ne(payments.externalId, ''), gt(payments.payUrlExpiresAt, linkUntil)), begun),
        ),
      )
      .orderBy(sql`${payments.createdAt} desc`, sql`${payments.seq} desc`)
      .limit(1),
  )
  return found as Payment | undefined
}

/**
 * Of more that are due, those that have waited longest are put in order, those of guests who have bought nothing behind all others. To
 * have so many takes one customer three days of buying.
 */
const MOST_ORDERED = 2000

const isNoneOf = (column: SQLWrapper, list: SQL) => sql`${column} not in (${list})`

interface Due {
  now: string
  limit: number
  resting: string
  served: string
  guests: number
}

/** A payment with whether it is of a guest who has bought nothing. */
export type DuePayment = Payment & { guest: boolean }

const due = built<Due, DuePayment[]>((q) => {
  const waiting = q
    .select({
      id: payments.id,
      tgId: payments.tgId,
      nextCheckAt: payments.nextCheckAt,
      guest: OF_UNPAID_GUEST.as('guest'),
    })
    .from(payments)
    .where(
      and(
        eq(payments.status, 'pending'),
        lte(payments.nextCheckAt, sql.placeholder('now')),
        isNoneOf(payments.provider, textsIn(field('resting'))),
        isNoneOf(payments.tgId, numbersIn(field('served'))),
        sql`(${field('guests')} = 1 or not ${OF_UNPAID_GUEST})`,
      ),
    )
    .orderBy(asc(OF_UNPAID_GUEST), asc(payments.nextCheckAt))
    .limit(MOST_ORDERED)
    .as('waiting')
  const turn = sql<number>`row_number() over (partition by ${waiting.tgId} order by ${waiting.nextCheckAt})`
  const ordered = q
    .select({ id: waiting.id, guest: waiting.guest, turn: turn.as('turn') })
    .from(waiting)
    .as('ordered')
  return q
    .select({
      ...getTableColumns(payments),
      guest: sql<boolean>`${ordered.guest}`.mapWith(Boolean),
    })
    .from(ordered)
    .innerJoin(payments, eq(payments.id, ordered.id))
    .orderBy(asc(ordered.guest), asc(ordered.turn), asc(payments.nextCheckAt))
    .limit(sql.placeholder('limit'))
})

/**
 * Pending payments whose next check is due: the one of each customer that waits longest, then everyone's second, and so on, so that
 * nobody's many stand before another's; then in the same order those of guests who have bought nothing. Not those of providers in
 * `resting`, of customers in `served`, and of such guests unless `guests`.
 */
export function* listDuePayments(
  _q: Reading,
  now: string,
  limit: number,
  { resting, served, guests }: { resting: string[]; served: number[]; guests: boolean },
): Steps<DuePayment[]> {
  const except = { resting: JSON.stringify(resting), served: JSON.stringify(served) }
  return yield* ask(due, { now, limit, ...except, guests: Number(guests) })
}

/** Where a payment's access can be given: its node and plan are there. */
const HAS_PLACE = sql`exists (select 1 from ${nodes} where ${nodes.code} = ${payments.node})
  and exists (select 1 from ${plans} where ${plans.code} = ${payments.plan})`

/** Where its traffic can be: its subscription is there, goes on and has a quota. */
const HAS_QUOTA = sql`exists (select 1 from ${subscriptions} where ${subscriptions.uuid} = ${payments.renewsUuid}
  and ${subscriptions.tgId} = ${payments.tgId} and ${subscriptions.active} = 1
  and ${subscriptions.quotaBytes} is not null)`

/** Pending payments in review for one of these reasons that can be granted by now, and that have been asked about. */
export function* listReturnedPayments(
  q: Reading,
  reasons: string[],
  limit: number,
): Steps<Payment[]> {
  return yield* run(
    q
      .select()
      .from(payments)
      .where(
        and(
          eq(payments.status, 'pending'),
          ne(payments.externalId, ''),
          inArray(payments.reviewReason, reasons),
          sql`case when ${payments.kind} = 'traffic' then ${HAS_QUOTA} else ${HAS_PLACE} end`,
        ),
      )
      .orderBy(asc(payments.checks), asc(payments.createdAt))
      .limit(limit),
  )
}

/**
 * Moves the next check of a payment that is still pending, unless somebody else has moved it since the payment was read. `asked`: how
 * often it was asked about since.
 */
export function* postponeCheck(
  tx: Query,
  { id, nextCheckAt: read }: Pick<Payment, 'id' | 'nextCheckAt'>,
  nextCheckAt: string | null,
  asked: 0 | 1,
) {
  yield* run(
    tx
      .update(payments)
      .set({ nextCheckAt, checks: sql`${payments.checks} + ${asked}` })
      .where(
        and(
          eq(payments.id, id),
          eq(payments.status, 'pending'),
          sql`${payments.nextCheckAt} is not distinct from ${read}`,
        ),
      ),
  )
}

/** Has a payment asked about at the next run, if it is still pending. */
export function* checkSoon(tx: Query, id: string, now: string) {
  yield* run(
    tx
      .update(payments)
      .set({ nextCheckAt: now })
      // One that is due now is not written once more: a stranger's notice should not cost a write.
      .where(
        and(
          eq(payments.id, id),
          eq(payments.status, 'pending'),
          sql`${payments.nextCheckAt} is distinct from ${now}`,
        ),
      ),
  )
}

/** Makes every pending payment due. */
export function* makeAllDue(tx: Query, now: string) {
  yield* run(tx.update(payments).set({ nextCheckAt: now }).where(eq(payments.status, 'pending')))
}
