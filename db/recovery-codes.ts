/** Recovery codes of admins, by their hashes. */

import { type Query, type Reading, run } from './engine/database.ts'
import { and, eq, isNull, sql } from './engine/orm.ts'
import { recoveryCodes } from './schema/index.ts'

const unused = (adminId: number) =>
  and(eq(recoveryCodes.adminId, adminId), isNull(recoveryCodes.usedAt))

/**
 * Puts new codes in place of those that an admin had. The rows of these stay, as used up: a restore of a backup that has them must
 * not bring them back.
 */
export function* replaceRecoveryCodes(tx: Query, adminId: number, codes: string[], at: string) {
  yield* run(tx.update(recoveryCodes).set({ usedAt: at }).where(unused(adminId)))
  if (codes.length === 0) return
  yield* run(tx.insert(recoveryCodes).values(codes.map((code) => ({ adminId, code }))))
}

/** Uses a code up. False when it is none of the admin's, or was used before: each counts once, at whatever process. */
export function* claimRecoveryCode(tx: Query, adminId: number, code: string, at: string) {
  const rows = yield* run(
    tx
      .update(recoveryCodes)
      .set({ usedAt: at })
      .where(and(unused(adminId), eq(recoveryCodes.code, code)))
      .returning({ id: recoveryCodes.id }),
  )
  return rows.length > 0
}

/** How many an admin has left. */
export function* countRecoveryCodes(q: Reading, adminId: number) {
  const [row] = yield* run(
    q.select({ n: sql<number>`count(*)` }).from(recoveryCodes).where(unused(adminId)),
  )
  return row?.n ?? 0
}
