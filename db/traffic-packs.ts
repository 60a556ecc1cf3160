/** Traffic packs in their display order. */

import { ask, type Database, type Query, type Reading, run } from './engine/database.ts'
import { leastOf } from './engine/dialect.ts'
import { asc, eq, sql } from './engine/orm.ts'
import { built, input, kept } from './engine/question.ts'
import { payments, type TrafficPack, trafficPacks } from './schema/index.ts'
import { MAX_SORT_ORDER } from './values.ts'

const ordered = kept<TrafficPack[]>((q) =>
  q.select().from(trafficPacks).orderBy(asc(trafficPacks.sortOrder), asc(trafficPacks.code)),
)

/** Every pack, archived ones included, from memory. */
export const listPacks = (db: Database): readonly TrafficPack[] => db.kept(ordered)

const byCode = built<{ code: string }, TrafficPack[]>((q) =>
  q
    .select()
    .from(trafficPacks)
    .where(eq(trafficPacks.code, input('code'))),
)

export function* readPack(_tx: Reading, code: string) {
  const [pack] = yield* ask(byCode, { code })
  return pack
}

/**
 * Inserts a pack, at the end of the display order unless it names its place: of two at the last place that one can have, the code
 * decides. Throws a unique violation when the code is taken.
 */
export function* insertPack(
  tx: Query,
  row: Omit<typeof trafficPacks.$inferInsert, 'sortOrder'> & { sortOrder?: number },
) {
  const last = sql<number>`(select ${leastOf(sql`coalesce(max(sort_order), 0) + 1`, MAX_SORT_ORDER)} from traffic_packs)`
  const [inserted] = yield* run(
    tx
      .insert(trafficPacks)
      .values({ ...row, sortOrder: row.sortOrder ?? last })
      .returning(),
  )
  return inserted as TrafficPack
}

export function* updatePack(tx: Query, code: string, changes: Partial<Omit<TrafficPack, 'code'>>) {
  const [updated] = yield* run(
    tx.update(trafficPacks).set(changes).where(eq(trafficPacks.code, code)).returning(),
  )
  return updated as TrafficPack | undefined
}

/** Gives every pack its place, from 1. */
export function* reorderPacks(tx: Query, codes: string[]) {
  for (const [index, code] of codes.entries()) yield* updatePack(tx, code, { sortOrder: index + 1 })
}

/** The codes of all packs, inside a transaction. */
export function* readPackCodes(tx: Query) {
  const rows = yield* run(tx.select({ code: trafficPacks.code }).from(trafficPacks))
  return rows.map((row) => row.code)
}

export function* deletePack(tx: Query, code: string) {
  yield* run(tx.delete(trafficPacks).where(eq(trafficPacks.code, code)))
}

/** Whether a payment names this pack. */
export function* isPackUsed(tx: Query, code: string) {
  const rows = yield* run(
    tx.select({ n: sql`1` }).from(payments).where(eq(payments.pack, code)).limit(1),
  )
  return rows.length > 0
}
