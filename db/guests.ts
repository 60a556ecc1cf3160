/** Guests: customers who came to the site to buy, of whom nothing else is known. */
import { ask, type Query, type Reading, run, type Steps } from './engine/database.ts'
import {
  and,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  notExists,
  or,
  sql,
} from './engine/orm.ts'
import { built, input } from './engine/question.ts'
import { payments, subscriptions, type User, users } from './schema/index.ts'

/** The subscriptions of a user, ended ones too. */
const bought = (tx: Query) =>
  tx.select({ one: sql`1` }).from(subscriptions).where(eq(subscriptions.tgId, users.tgId))

/** Of users: who came as a guest, has bought nothing and is not on Telegram. There may be any number of them: to be one costs nothing. */
const ONLY_CAME = sql`users.guest_at is not null and users.telegram_id is null
  and not exists (select 1 from subscriptions where subscriptions.tg_id = users.tg_id)`

/** Of payments: whether their customer is such a guest. */
export const OF_UNPAID_GUEST = sql<boolean>`(payments.tg_id < 0 and exists
  (select 1 from users where users.tg_id = payments.tg_id and ${ONLY_CAME}))`

const guestByNumber = built<{ tgId: number }, { tgId: number }[]>((q) =>
  q
    .select({ tgId: users.tgId })
    .from(users)
    .where(and(eq(users.tgId, input('tgId')), ONLY_CAME)),
)

/** Whether the customer with this number is a guest who has bought nothing. Of numbers of Telegram nothing is asked. */
export function* isUnpaidGuest(_q: Reading, tgId: number): Steps<boolean> {
  return tgId < 0 && (yield* ask(guestByNumber, { tgId })).length > 0
}

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
 * Guests who came at `before` or earlier, at most `most`: without a subscription, ended ones too, not on Telegram, and whose payments are
 * all older than that, not asked about any more, and not for an admin to review.
 */
export function* listIdleGuests(tx: Query, before: string, most: number): Steps<User[]> {
  const open = or(
    eq(payments.status, 'paid'),
    and(eq(payments.status, 'pending'), isNotNull(payments.nextCheckAt)),
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
