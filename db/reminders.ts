/** Subscriptions whose owners are to be reminded of their end. */
import { type Query, type Reading, run } from './engine/database.ts'
import { and, eq, gt, inArray, isNull, lte, or } from './engine/orm.ts'
import { nodeGroups, nodes, plans, subscriptions, users } from './schema/index.ts'
import { isOpen, where } from './states.ts'

/** What the reminders of an expiry that are over can be. */
export const REMINDED = [0, 1, 2, 3]

/** A reminder, and the expiries for which it is the one to send: later than `after`, not later than `until`. */
export interface ReminderSpan {
  number: number
  now: string
  after: string
  until: string
}

/** The numbers before this one. An index finds equal numbers and then a span of expiries. */
const before = (number: number) => Array.from({ length: number }, (_, i) => i)

/**
 * Active subscriptions that have begun and end in the span and whose owners have neither this reminder nor a later one, nor are banned, nor have
 * the bot blocked. Read one `limit` at a time.
 */
export const dueReminders = (
  q: Reading,
  { number, now, after, until }: ReminderSpan,
  limit: number,
) =>
  q
    .select({
      row: subscriptions,
      telegramId: users.telegramId,
      nodeLabel: nodes.label,
      planLabel: plans.label,
      groupLabel: nodeGroups.label,
    })
    .from(subscriptions)
    .innerJoin(users, eq(users.tgId, subscriptions.tgId))
    .leftJoin(nodes, eq(nodes.code, subscriptions.node))
    .leftJoin(plans, eq(plans.code, subscriptions.plan))
    .leftJoin(nodeGroups, eq(nodeGroups.code, subscriptions.nodeGroup))
    .where(
      and(
        where(isOpen),
        or(isNull(subscriptions.startBy), lte(subscriptions.startBy, now)),
        inArray(subscriptions.reminded, before(number)),
        gt(subscriptions.expiresAt, after),
        lte(subscriptions.expiresAt, until),
        isNull(users.bannedAt),
        isNull(users.blockedAt),
      ),
    )
    .limit(limit)

/** Notes that a reminder of these subscriptions' expiries is over. */
export function* markReminded(tx: Query, uuids: string[], number: number) {
  yield* run(
    tx.update(subscriptions).set({ reminded: number }).where(inArray(subscriptions.uuid, uuids)),
  )
}
