/** Credentials of shops that were replaced. */
import { type Query, type Reading, run } from './engine/database.ts'
import { and, asc, desc, eq, gt, lte, notInArray } from './engine/orm.ts'
import { formerCredentials as table } from './schema/index.ts'

/** Those of a provider that were replaced after `since`, oldest first. */
export function* listFormerCredentials(q: Reading, provider: string, since: string) {
  const rows = q.select().from(table)
  return yield* run(
    rows
      .where(and(eq(table.provider, provider), gt(table.replacedAt, since)))
      .orderBy(asc(table.id)),
  )
}

/** Adds one; of all, those that were replaced after `since` stay, and no more than the newest `most`. */
export function* addFormerCredentials(
  tx: Query,
  values: typeof table.$inferInsert,
  { since, most }: { since: string; most: number },
) {
  yield* run(tx.delete(table).where(lte(table.replacedAt, since)))
  yield* run(tx.insert(table).values(values))
  const newest = tx.select({ id: table.id }).from(table).orderBy(desc(table.id)).limit(most)
  yield* run(tx.delete(table).where(notInArray(table.id, newest)))
}
