/** The one row of `management_key`. */
import { type Query, type Reading, run } from './engine/database.ts'
import { managementKey } from './schema/index.ts'

export function* readManagementKey(q: Reading) {
  const [key] = yield* run(q.select().from(managementKey))
  return key
}

/** The one row there is. */
export function* putManagementKey(tx: Query, row: typeof managementKey.$inferInsert) {
  const { id: target } = managementKey
  yield* run(tx.insert(managementKey).values(row).onConflictDoUpdate({ target, set: row }))
}
