/** What subscriptions may use and have used (domain/quotas.ts): read in the transaction that changes it, written as a whole. */
import { ask, type Query, type Reading } from './engine/database.ts'
import { byIndex, param } from './engine/dialect.ts'
import { eq, sql } from './engine/orm.ts'
import { built, field, input, writtenValues } from './engine/question.ts'
import { type Subscription, subscriptions } from './schema/index.ts'
import { isNearLimit, RESETS } from './states.ts'
import { type ListedSubscription, listed } from './subscriptions.ts'

export type Quota = Pick<
  Subscription,
  | 'quotaBytes'
  | 'quotaPeriod'
  | 'quotaAnchor'
  | 'usedBytes'
  | 'usedRest'
  | 'extraBytes'
  | 'resetsAt'
  | 'limitedAt'
  | 'quotaNotice'
>

/** The quota of a row. */
export const quotaOf = (row: Quota): Quota => ({
  quotaBytes: row.quotaBytes,
  quotaPeriod: row.quotaPeriod,
  quotaAnchor: row.quotaAnchor,
  usedBytes: row.usedBytes,
  usedRest: row.usedRest,
  extraBytes: row.extraBytes,
  resetsAt: row.resetsAt,
  limitedAt: row.limitedAt,
  quotaNotice: row.quotaNotice,
})

const put = built<Quota & { uuid: string }, unknown>((q) =>
  q
    .update(subscriptions)
    .set({
      quotaBytes: sql`${field('quotaBytes')}`,
      quotaPeriod: sql`${field('quotaPeriod')}`,
      quotaAnchor: sql`${field('quotaAnchor')}`,
      usedBytes: sql`${field('usedBytes')}`,
      usedRest: sql`${field('usedRest')}`,
      extraBytes: sql`${field('extraBytes')}`,
      resetsAt: sql`${field('resetsAt')}`,
      limitedAt: sql`${field('limitedAt')}`,
      quotaNotice: sql`${field('quotaNotice')}`,
    })
    .where(eq(subscriptions.uuid, input('uuid'))),
)

/** Sets what a subscription may use and has used. */
export function* putQuota(_tx: Query, uuid: string, quota: Quota) {
  yield* ask(put, { ...quota, uuid })
}

/** One that is held waits with months of its own: they go on when it does. */
const dueResets = (q: Reading) =>
  listed(q)
    .where(
      sql`${sql.raw(RESETS)} and ${subscriptions.resetsAt} <= ${input('now')}
        and (${subscriptions.heldAt} is null or ${subscriptions.quotaPeriod} <> 'rolling')`,
    )
    .limit(field('limit'))

const due = built<{ now: string; limit: number }, ListedSubscription[]>(dueResets)

/** Subscriptions whose period is over, `limit` at a time. */
export function* readDueResets(_q: Reading, now: string, limit: number) {
  return yield* ask(due, { now, limit })
}

/** Of each of them the nodes of its group too, or its own. */
const nearlyUsed = writtenValues<{ now: string }, string>(
  `with near as (select s.node, s.node_group from subscriptions s ${byIndex('subscriptions_near_limit')}
     where ${isNearLimit('s.')} and s.expires_at > ${param('now')}
       and s.used_bytes >= 0.9 * (s.quota_bytes + s.extra_bytes))
   select node from near
   union select m.node from near join node_group_nodes m on m.group_code = near.node_group`,
)

/** The nodes of those who have less than a tenth left. */
export function* listNodesNearLimit(_q: Reading, now: string) {
  return yield* ask(nearlyUsed, { now })
}
