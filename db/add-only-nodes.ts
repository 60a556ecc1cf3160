/** Nodes that are only added to since a restore. */
import { type Database, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { asc, inArray } from './engine/orm.ts'
import { readInstance } from './instance.ts'
import { addOnlyNodes, nodes } from './schema/index.ts'

export interface AddOnlyNodes {
  /** Of the restore. */
  generation: string | null
  codes: string[]
}

/**
 * From which nodes nothing is removed since a restore; undefined where there are none. Read where the wanted clients are read, so that
 * whoever asks after reading them hears of the restore that they are of: to be scanned.
 */
export function* findAddOnlyNodes(q: Reading): Steps<AddOnlyNodes | undefined> {
  const rows = yield* run(q.select().from(addOnlyNodes).orderBy(asc(addOnlyNodes.code)))
  if (rows.length === 0) return undefined
  const { generation } = yield* readInstance(q)
  return { generation, codes: rows.map(({ code }) => code) }
}

/** Lets removals from these nodes go on, alarm included, unless another restore came since `found`. */
export async function releaseAddOnlyNodes(
  db: Database,
  found: AddOnlyNodes,
  codes: string[],
): Promise<void> {
  await db.tx(function* (tx: Query) {
    if ((yield* readInstance(tx)).generation !== found.generation) return
    const here = inArray(addOnlyNodes.code, codes)
    const released = yield* run(tx.delete(addOnlyNodes).where(here).returning())
    if (released.length === 0) return
    yield* run(tx.update(nodes).set({ syncBlocked: false }).where(inArray(nodes.code, codes)))
  })
}
