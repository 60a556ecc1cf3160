/**
 * What is kept of each customer (schema/facts.ts) while all of one's subscriptions change at once: the triggers count what a customer has
 * anew with each row of theirs, which takes the square of how many there are: 100,000 half an hour. Of whom nothing is kept they count nothing.
 */
import { type Query, run } from './engine/database.ts'
import { inArray, sql } from './engine/orm.ts'
import { userSummaries } from './schema/index.ts'
import { bannedFlag, OF_SUBSCRIPTIONS } from './states.ts'

/** Forgets what is kept of customers: of those who stay `makeSummary` is to follow in the same transaction. */
export function* dropSummaries(tx: Query, tgIds: number[]) {
  yield* run(tx.delete(userSummaries).where(inArray(userSummaries.tgId, tgIds)))
}

/** Makes what is kept of a customer from their rows. */
export function* makeSummary(tx: Query, tgId: number) {
  const summary = sql`select u.tg_id, u.created_at, ${sql.raw(bannedFlag('u.'))}, s.last_end, s.held, s.disabled from users u,
    (select ${sql.raw(OF_SUBSCRIPTIONS)} from subscriptions where tg_id = ${tgId} and active <> 0) s where u.tg_id = ${tgId}`
  yield* run(tx.insert(userSummaries).select(summary))
}
