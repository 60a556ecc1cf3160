/** Guests: customers who came to the site to buy, of whom nothing else is known. */
import { type Query, run, type Steps } from './engine/database.ts'
import {
  and,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  notExists,
  or,
  sql,
} from './engine/orm.ts'
import { payments, subscriptions, type User, users } from './schema/index.ts'

/** The subscriptions of a user, ended ones too. */
const bought = (tx: Query) =>
  tx.select({ one: sql`1` }).from(subscriptions).where(eq(subscriptions.tgId, users.tgId))

/**
 * Makes guests who came at `before` or earlier customers like all others, where they have bought or are on Telegram: at most `most`. Their
 * number. So nobody who stays is looked at again.
 */
export function* settleGuests(tx: Query, before: string, most: number): Steps<number> {
  const settled = tx
    .select({ tgId: users.tgId })
    .from(users)
    .where(and(lte(users.guestAt, before), or(isNotNull(users.telegramId), exists(bought(tx)))))
    .limit(most)
  const rows = yield* run(
    tx
      .update(users)
      .set({ guestAt: null })
      .where(inArray(users.tgId, settled))
      .returning({ tgId: users.tgId }),
  )
  return rows.length
}

/**
 * Guests who came at `before` or earlier, at most `most`: without a subscription, ended ones too, not on Telegram, and whose payments have
 * all failed by then, and are not for an admin to review.
 */
export function* listIdleGuests(tx: Query, before: string, most: number): Steps<User[]> {
  const open = or(
    ne(payments.status, 'failed'),
    isNotNull(payments.reviewReason),
    gt(payments.createdAt, before),
  )
  const ordered = tx
    .select({ one: sql`1` })
    .from(payments)
    .where(and(eq(payments.tgId, users.tgId), open))
  return yield* run(
    tx
      .select()
      .from(users)
      .where(
        and(
          lte(users.guestAt, before),
          isNull(users.telegramId),
          notExists(bought(tx)),
          notExists(ordered),
        ),
      )
      .limit(most),
  )
}
