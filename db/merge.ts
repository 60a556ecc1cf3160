/** All that belongs to one customer, given to another. */

import { type Query, run } from './engine/database.ts'
import { and, count, desc, eq, inArray, isNotNull, notInArray } from './engine/orm.ts'
import {
  devices,
  giftCodes,
  payments,
  subscriptions,
  type User,
  users,
  userTokens,
} from './schema/index.ts'
import { dropSummaries, makeSummary } from './user-summaries.ts'

/**
 * A device that both have is the one that stays; of the others come the newest that the limit leaves room for, so that nobody collects
 * devices by connecting accounts. `limit` null: nobody counts them.
 */
function* moveDevices(tx: Query, from: number, to: number, limit: number | null) {
  const known = tx.select({ hwid: devices.hwid }).from(devices).where(eq(devices.tgId, to))
  yield* run(tx.delete(devices).where(and(eq(devices.tgId, from), inArray(devices.hwid, known))))
  if (limit !== null) {
    const [own] = yield* run(tx.select({ n: count() }).from(devices).where(eq(devices.tgId, to)))
    const newest = tx
      .select({ id: devices.id })
      .from(devices)
      .where(eq(devices.tgId, from))
      .orderBy(desc(devices.lastSeenAt), desc(devices.id))
      .limit(Math.max(0, limit - (own?.n ?? 0)))
    yield* run(
      tx.delete(devices).where(and(eq(devices.tgId, from), notInArray(devices.id, newest))),
    )
  }
  yield* run(tx.update(devices).set({ tgId: to }).where(eq(devices.tgId, from)))
}

/** Who redeemed a code: looked for by the subscriptions that came of them. */
function* moveGifts(tx: Query, from: number, to: number) {
  const redeemed = tx
    .select({ code: subscriptions.giftCode })
    .from(subscriptions)
    .where(and(eq(subscriptions.tgId, from), isNotNull(subscriptions.giftCode)))
  yield* run(
    tx
      .update(giftCodes)
      .set({ usedBy: to })
      .where(and(inArray(giftCodes.code, redeemed), eq(giftCodes.usedBy, from))),
  )
}

/**
 * Gives a customer's subscriptions, payments, gifts, devices and links to another one and deletes their row. The link that was the present
 * one goes on as a former link. `deviceLimit`: of both as one; null where nobody counts devices.
 */
export function* moveCustomer(
  tx: Query,
  from: User,
  to: number,
  now: string,
  deviceLimit: number | null,
) {
  const { tgId } = from
  yield* moveGifts(tx, tgId, to)
  yield* dropSummaries(tx, [tgId, to])
  yield* run(tx.update(subscriptions).set({ tgId: to }).where(eq(subscriptions.tgId, tgId)))
  yield* run(tx.update(payments).set({ tgId: to }).where(eq(payments.tgId, tgId)))
  yield* moveDevices(tx, tgId, to, deviceLimit)
  yield* run(tx.update(userTokens).set({ tgId: to }).where(eq(userTokens.tgId, tgId)))
  yield* run(tx.delete(users).where(eq(users.tgId, tgId)))
  yield* makeSummary(tx, to)
  const former = { token: from.token, tgId: to, kind: 'former' as const, createdAt: now }
  yield* run(tx.insert(userTokens).values(former))
}
