/** Payments that a provider counts as paid and that no row of ours accounts for. */
import { type Query, type Reading, run, type Steps } from './engine/database.ts'
import { and, desc, eq, isNull } from './engine/orm.ts'
import { orphanPayments } from './schema/index.ts'

export type OrphanPayment = typeof orphanPayments.$inferSelect

/** Notes an orphan; true when it was not known before. */
export function* insertOrphan(tx: Query, row: typeof orphanPayments.$inferInsert) {
  const rows = yield* run(
    tx
      .insert(orphanPayments)
      .values(row)
      .onConflictDoNothing()
      .returning({ id: orphanPayments.id }),
  )
  return rows.length > 0
}

const MOST = 1000

/** Orphans that nobody has dealt with, newest first; at most 1000. */
export function* listOpenOrphans(q: Reading): Steps<OrphanPayment[]> {
  return yield* run(
    q
      .select()
      .from(orphanPayments)
      .where(isNull(orphanPayments.resolvedAt))
      .orderBy(desc(orphanPayments.id))
      .limit(MOST),
  )
}

/** Marks an orphan as dealt with; undefined when there is no such one, null when it was marked before. */
export function* resolveOrphan(tx: Query, id: number, now: string) {
  const [known] = yield* run(tx.select().from(orphanPayments).where(eq(orphanPayments.id, id)))
  if (!known) return undefined
  const [resolved] = yield* run(
    tx
      .update(orphanPayments)
      .set({ resolvedAt: now })
      .where(and(eq(orphanPayments.id, id), isNull(orphanPayments.resolvedAt)))
      .returning(),
  )
  return (resolved as OrphanPayment | undefined) ?? null
}
