/** Single-runner roles: a row says who runs a role until when. A power cut ends all who could hold one. */
import { type Database, type Query, type Reading, run } from './engine/database.ts'
import { sharedNow } from './engine/dialect.ts'
import { and, eq, lte, or, sql } from './engine/orm.ts'
import { leases } from './schema/index.ts'

/**
 * Takes or renews the lease: free, run out, or held by `owner`. Returns its fencing number, which grows with every
 * change of owner, or null while another owner holds it. `nowMs` is by the clock of this machine.
 */
export async function acquireLease(
  db: Database,
  name: string,
  owner: string,
  nowMs: number,
  ttlMs: number,
): Promise<number | null> {
  const now = sharedNow(nowMs)
  const expiresAt = sql<number>`${now} + ${ttlMs}`
  return db.txVolatile(function* (tx: Query) {
    const [row] = yield* run(
      tx
        .insert(leases)
        .values({ name, owner, fence: 1, expiresAt })
        .onConflictDoUpdate({
          target: leases.name,
          set: {
            fence: sql`${leases.fence} + case when ${leases.owner} <> ${owner} then 1 else 0 end`,
            owner,
            expiresAt,
          },
          // A lease that ends further ahead than any TTL was written before the clock jumped back.
          setWhere: or(
            eq(leases.owner, owner),
            lte(leases.expiresAt, now),
            sql`${leases.expiresAt} > ${now} + ${10 * ttlMs}`,
          ) as ReturnType<typeof eq>,
        })
        .returning({ fence: leases.fence }),
    )
    return row?.fence ?? null
  })
}

/** Who had the lease last. */
export async function leaseOwner(db: Database, name: string): Promise<string | undefined> {
  const rows = await db.scan((q: Reading) =>
    run(q.select({ owner: leases.owner }).from(leases).where(eq(leases.name, name))),
  )
  return rows[0]?.owner
}

/** Gives the lease up, if it is still this owner's. */
export async function releaseLease(db: Database, name: string, owner: string): Promise<void> {
  await db.txVolatile((tx) =>
    run(
      tx
        .update(leases)
        .set({ expiresAt: 0 })
        .where(and(eq(leases.name, name), eq(leases.owner, owner))),
    ),
  )
}
