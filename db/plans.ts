/** Plans in their display order. */
import { type Database, type Query, run } from './open.ts'
import { asc, eq, sql } from './orm.ts'
import { type Plan, plans } from './schema.ts'

const ordered = (q: Query) =>
  q.select().from(plans).orderBy(asc(plans.sortOrder), asc(plans.code)).prepare()

/** Every plan, archived ones included. */
export function listPlans(db: Database): Plan[] {
  return db.prepared(ordered).all()
}

export function* readPlan(tx: Query, code: string) {
  const [plan] = yield* run(tx.select().from(plans).where(eq(plans.code, code)))
  return plan as Plan | undefined
}

export function* insertPlans(tx: Query, rows: (typeof plans.$inferInsert)[]) {
  yield* run(tx.insert(plans).values(rows).onConflictDoNothing())
}

export function* countPlans(tx: Query) {
  const [row] = yield* run(tx.select({ n: sql<number>`count(*)` }).from(plans))
  return row?.n ?? 0
}
