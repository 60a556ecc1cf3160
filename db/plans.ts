/** Plans in their display order. */

import { ask, type Database, type Query, type Reading, run } from './engine/database.ts'
import { indexed, leastOf } from './engine/dialect.ts'
import { and, asc, eq, type SQLWrapper, sql } from './engine/orm.ts'
import { built, input, kept } from './engine/question.ts'
import { isRedeemable } from './gifts.ts'
import { giftCodes, type Plan, payments, plans, subscriptions } from './schema/index.ts'
import { MAX_SORT_ORDER } from './values.ts'

const ordered = kept<Plan[]>((q) =>
  q.select().from(plans).orderBy(asc(plans.sortOrder), asc(plans.code)),
)

/** Every plan, archived ones included, from memory. */
export const listPlans = (db: Database): readonly Plan[] => db.kept(ordered)

const byCode = built<{ code: string }, Plan[]>((q) =>
  q
    .select()
    .from(plans)
    .where(eq(plans.code, input('code'))),
)

export const findPlan = (db: Database, code: string): Plan | undefined =>
  listPlans(db).find((plan) => plan.code === code)

export function* readPlan(_tx: Reading, code: string) {
  const [plan] = yield* ask(byCode, { code })
  return plan
}

export function* insertPlans(tx: Query, rows: (typeof plans.$inferInsert)[]) {
  yield* run(tx.insert(plans).values(rows).onConflictDoNothing())
}

export function* countPlans(tx: Query) {
  const [row] = yield* run(tx.select({ n: sql<number>`count(*)` }).from(plans))
  return row?.n ?? 0
}

/**
 * Inserts a plan, at the end of the display order unless it names its place: of two at the last place that one can have, the code
 * decides. Throws a unique violation when the code is taken.
 */
export function* insertPlan(
  tx: Query,
  row: Omit<typeof plans.$inferInsert, 'sortOrder'> & { sortOrder?: number },
) {
  const last = sql<number>`(select ${leastOf(sql`coalesce(max(sort_order), 0) + 1`, MAX_SORT_ORDER)} from plans)`
  const [inserted] = yield* run(
    tx
      .insert(plans)
      .values({ ...row, sortOrder: row.sortOrder ?? last })
      .returning(),
  )
  return inserted as Plan
}

export function* updatePlan(tx: Query, code: string, changes: Partial<Omit<Plan, 'code'>>) {
  const [updated] = yield* run(
    tx.update(plans).set(changes).where(eq(plans.code, code)).returning(),
  )
  return updated as Plan | undefined
}

/** Gives every plan its place, from 1. */
export function* reorderPlans(tx: Query, codes: string[]) {
  for (const [index, code] of codes.entries()) yield* updatePlan(tx, code, { sortOrder: index + 1 })
}

/** The codes of all plans, inside a transaction. */
export function* readPlanCodes(tx: Query) {
  const rows = yield* run(tx.select({ code: plans.code }).from(plans))
  return rows.map((row) => row.code)
}

export function* deletePlan(tx: Query, code: string) {
  yield* run(tx.delete(plans).where(eq(plans.code, code)))
}

/** Whether a subscription, a payment or a gift code that can still be redeemed names this plan. */
export function* isPlanUsed(tx: Query, code: string, now: string) {
  const some = (table: SQLWrapper) => tx.select({ n: sql`1` }).from(sql`${table}`)
  const found = [
    yield* run(some(subscriptions).where(eq(subscriptions.plan, code)).limit(1)),
    yield* run(some(payments).where(eq(payments.plan, code)).limit(1)),
    yield* run(
      // All that is asked for is in this index.
      some(indexed(giftCodes, 'gift_codes_created_at'))
        .where(and(eq(giftCodes.plan, code), isRedeemable(now)))
        .limit(1),
    ),
  ]
  return found.some((rows) => rows.length > 0)
}
