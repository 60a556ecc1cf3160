/** The one row of `instance`. */
import { type Database, type Query, type Reading, run } from './engine/database.ts'
import { and, isNotNull, isNull, ne, or, sql } from './engine/orm.ts'
import { kept } from './engine/question.ts'
import { instance } from './schema/index.ts'

/** What counts up the revision of settings when it changes. */
const { instanceId, generation, pendingEnv, backupKey } = instance
const KEPT = { instanceId, generation, pendingEnv, backupKey }

type Instance = Pick<typeof instance.$inferSelect, keyof typeof KEPT>

const only = kept<Instance[]>((q) => q.select(KEPT).from(instance))

/** Of a row that somebody has deleted. */
const NOTHING: Instance = { instanceId: null, generation: null, pendingEnv: null, backupKey: null }

/** From memory. */
export const getInstance = (db: Database): Readonly<Instance> => db.kept(only)[0] ?? NOTHING

/** The same inside a transaction. */
export function* readInstance(q: Reading) {
  const [row] = yield* run(q.select(KEPT).from(instance))
  return row as Instance
}

/** The INSTANCE_ID as it is now. */
export function currentInstanceId(db: Database): string {
  const id = getInstance(db).instanceId
  if (id === null) throw new Error('the database has no INSTANCE_ID')
  return id
}

export function* updateInstance(tx: Query, values: Partial<typeof instance.$inferSelect>) {
  yield* run(tx.update(instance).set(values))
}

/** Gives the database its INSTANCE_ID. */
export function* nameInstance(tx: Query, instanceId: string) {
  const row = tx.insert(instance).values({ id: 1, instanceId })
  yield* run(row.onConflictDoUpdate({ target: instance.id, set: { instanceId } }))
}

/** Notes that pending payments are asked about after the last restore; false where that was noted, or there was no restore. */
export function* notePaymentsAsked(tx: Query) {
  const { paymentsGeneration: noted } = instance
  const isNew = and(isNotNull(generation), or(isNull(noted), ne(noted, generation)))
  const rows = tx.update(instance).set({ paymentsGeneration: sql`${generation}` })
  return (yield* run(rows.where(isNew).returning())).length > 0
}
