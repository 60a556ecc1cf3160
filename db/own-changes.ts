/** What is read and written where the server or the plan of a subscription is changed by who has it (domain/subscriptions/change.ts). */
import { type Query, type Reading, run } from './engine/database.ts'
import { and, desc, eq, gt, ne, or } from './engine/orm.ts'
import {
  type Payment,
  type Plan,
  payments,
  plans,
  type Subscription,
  subscriptions,
} from './schema/index.ts'

/** What gave a subscription days. */
export type PaidDays = Pick<Payment, 'id' | 'amount' | 'currency' | 'days' | 'givenSeconds'>

/** The payments that gave a subscription the days that it has, newest first: not those whose days were taken back. */
export function* readPaidDays(
  q: Reading,
  { uuid, paymentId }: Pick<Subscription, 'uuid' | 'paymentId'>,
) {
  const { id, amount, currency, days, givenSeconds } = payments
  const { subscriptionUuid, status, kind } = payments
  const first = paymentId === null ? undefined : eq(id, paymentId)
  const gaveIt = and(
    eq(subscriptionUuid, uuid),
    eq(status, 'paid'),
    ne(kind, 'traffic'),
    or(eq(payments.renewsUuid, uuid), first),
  )
  const rows = yield* run(
    q
      .select({ id, amount, currency, days, givenSeconds })
      .from(payments)
      .where(gaveIt)
      .orderBy(desc(payments.paidAt), desc(payments.seq)),
  )
  return rows as PaidDays[]
}

/** The plans that are sold for money. */
export function* readPricedPlans(q: Reading) {
  const { archived, price, days } = plans
  const priced = and(eq(archived, false), gt(price, 0), gt(days, 0))
  return (yield* run(
    q.select().from(plans).where(priced).orderBy(plans.sortOrder, plans.code),
  )) as Plan[]
}

/** Notes when its owner put a subscription on another node. */
export function* noteNodeChange(tx: Query, uuid: string, nodeChangedAt: string) {
  yield* run(tx.update(subscriptions).set({ nodeChangedAt }).where(eq(subscriptions.uuid, uuid)))
}

/** Gives a subscription days of another plan in place of its own. */
export function* putPlanDays(
  tx: Query,
  uuid: string,
  days: Pick<Subscription, 'plan' | 'expiresAt' | 'reminded' | 'planChangedAt' | 'dayWorth'>,
) {
  yield* run(tx.update(subscriptions).set(days).where(eq(subscriptions.uuid, uuid)))
}
