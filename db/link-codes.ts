/** Codes by which customers connect their Telegram account, kept as digests; one at a time for each. */

import { type Database, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { and, eq, gt, lte } from './engine/orm.ts'
import { linkCodes, type User, users } from './schema/index.ts'

export type LinkCode = typeof linkCodes.$inferSelect

/** A customer's present code, also one that has run out. */
export function* readLinkCode(tx: Query, tgId: number) {
  const [row] = yield* run(tx.select().from(linkCodes).where(eq(linkCodes.tgId, tgId)))
  return row as LinkCode | undefined
}

/** Gives a customer another code in place of the one before it. */
export function* storeLinkCode(tx: Query, row: LinkCode) {
  yield* run(
    tx.insert(linkCodes).values(row).onConflictDoUpdate({ target: linkCodes.tgId, set: row }),
  )
}

const isGood = (code: string, now: string) =>
  and(eq(linkCodes.code, code), gt(linkCodes.expiresAt, now))

/** Whose code it is; undefined for one that nobody has at `now`. */
export function* findLinkOwner(q: Reading, code: string, now: string): Steps<User | undefined> {
  const [found] = yield* run(
    q
      .select({ user: users })
      .from(linkCodes)
      .innerJoin(users, eq(users.tgId, linkCodes.tgId))
      .where(isGood(code, now)),
  )
  return found?.user
}

/** The number of the customer whose code it is; undefined for one that nobody has at `now`. */
export function* readLinkOwner(tx: Query, code: string, now: string) {
  const [row] = yield* run(
    tx.select({ tgId: linkCodes.tgId }).from(linkCodes).where(isGood(code, now)),
  )
  return row?.tgId as number | undefined
}

/** Deletes a customer's code. */
export function* deleteLinkCode(tx: Query, tgId: number) {
  yield* run(tx.delete(linkCodes).where(eq(linkCodes.tgId, tgId)))
}

/** Deletes the codes that have run out. */
export async function deleteExpiredLinkCodes(db: Database, now: string): Promise<void> {
  await db.tx((tx) => run(tx.delete(linkCodes).where(lte(linkCodes.expiresAt, now))))
}
