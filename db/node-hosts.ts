/** Hosts of nodes, in the order that an admin gave them. */

import { type Database, type Query, type Reading, run } from './engine/database.ts'
import { and, asc, eq, sql } from './engine/orm.ts'
import { kept } from './engine/question.ts'
import { type NodeHost, nodeHosts } from './schema/index.ts'

const inOrder = [asc(nodeHosts.sortOrder), asc(nodeHosts.id)]

const enabledHosts = kept<NodeHost[]>((q) =>
  q
    .select()
    .from(nodeHosts)
    .where(eq(nodeHosts.enabled, true))
    .orderBy(...inOrder),
)

/** Those of all nodes that are switched on, from memory. */
export const keptHosts = (db: Database): readonly NodeHost[] => db.kept(enabledHosts)

/** All of a node, those that are switched off too. */
export function* readHosts(q: Reading, node: string) {
  const rows = yield* run(
    q
      .select()
      .from(nodeHosts)
      .where(eq(nodeHosts.node, node))
      .orderBy(...inOrder),
  )
  return rows as NodeHost[]
}

/** Inserts a host at the end of its node's. */
export function* insertHost(tx: Query, row: Omit<NodeHost, 'id' | 'sortOrder'>) {
  const last = sql<number>`(select coalesce(max(sort_order), 0) + 1 from node_hosts where node = ${row.node})`
  const [inserted] = yield* run(
    tx
      .insert(nodeHosts)
      .values({ ...row, sortOrder: last })
      .returning(),
  )
  return inserted as NodeHost
}

export function* updateHost(tx: Query, id: number, changes: Partial<NodeHost>) {
  const [updated] = yield* run(
    tx.update(nodeHosts).set(changes).where(eq(nodeHosts.id, id)).returning(),
  )
  return updated as NodeHost
}

export function* deleteHost(tx: Query, id: number) {
  yield* run(tx.delete(nodeHosts).where(eq(nodeHosts.id, id)))
}

export function* deleteHostsOf(tx: Query, node: string) {
  yield* run(tx.delete(nodeHosts).where(eq(nodeHosts.node, node)))
}

/** Gives the hosts of a node the order of `ids`. */
export function* reorderHosts(tx: Query, node: string, ids: number[]) {
  for (const [index, id] of ids.entries()) {
    yield* run(
      tx
        .update(nodeHosts)
        .set({ sortOrder: index + 1 })
        .where(and(eq(nodeHosts.node, node), eq(nodeHosts.id, id))),
    )
  }
}
