/** Deleted nodes whose server is still to be cleaned. */
import { type Query, type Reading, run, type Steps } from './engine/database.ts'
import { and, asc, eq, lte } from './engine/orm.ts'
import { nodes, type RetiredNode, retiredNodes } from './schema/index.ts'

/** Every one of them, oldest first. */
export function* listRetired(q: Reading): Steps<RetiredNode[]> {
  return yield* run(q.select().from(retiredNodes).orderBy(asc(retiredNodes.createdAt)))
}

/** Those that are to be tried now. */
export function* listRetiredDue(q: Reading, now: string): Steps<RetiredNode[]> {
  return yield* run(q.select().from(retiredNodes).where(lte(retiredNodes.nextTryAt, now)))
}

/** A server that was retired before begins anew. */
export function* insertRetired(tx: Query, row: typeof retiredNodes.$inferInsert) {
  const { address, sshPort, ...rest } = row
  yield* run(
    tx
      .insert(retiredNodes)
      .values(row)
      .onConflictDoUpdate({
        target: [retiredNodes.address, retiredNodes.sshPort],
        set: { ...rest, tries: 0, lastError: null },
      }),
  )
}

const sameServer = ({ address, sshPort }: Pick<RetiredNode, 'address' | 'sshPort'>) =>
  and(eq(retiredNodes.address, address), eq(retiredNodes.sshPort, sshPort))

/** Forgets a retired server; whether it was still there. */
export function* deleteRetired(tx: Query, row: Pick<RetiredNode, 'address' | 'sshPort'>) {
  const rows = yield* run(
    tx.delete(retiredNodes).where(sameServer(row)).returning({ code: retiredNodes.code }),
  )
  return rows.length > 0
}

export function* putRetiredTry(
  tx: Query,
  row: Pick<RetiredNode, 'address' | 'sshPort'>,
  result: Pick<RetiredNode, 'tries' | 'nextTryAt' | 'lastError'>,
) {
  yield* run(tx.update(retiredNodes).set(result).where(sameServer(row)))
}

/** The managed nodes, with what tells their servers apart. */
export function* readManaged(tx: Query) {
  const { code, label, status, address, sshPort, hostKey, lastSeenAt } = nodes
  return yield* run(
    tx
      .select({ code, label, status, address, sshPort, hostKey, lastSeenAt })
      .from(nodes)
      .where(eq(nodes.kind, 'managed')),
  )
}
