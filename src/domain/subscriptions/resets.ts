/** Traffic counts from 0 again where a period is over, however long nobody looked. */
import { putQuota, quotaOf, readDueResets } from '#db/quotas.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { emitTicked, subscriptionData } from '#src/domain/notify/events.ts'
import { momentOf, resetAt } from '#src/domain/quotas.ts'
import { nextTurn } from '#src/lib/event-loop.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { RUNNING, subscriptionState } from './subscriptions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'nodeSync' | 'background' | 'nudge'>

/** So many are reset in one transaction: requests go on between two of them. */
const PORTION = 200

/** Begins the new periods of the next ones that are due; those whose row was read. */
async function resetPortion(s: Deps): Promise<ListedSubscription[]> {
  const moment = momentOf(s)
  const now = formatTimestamp(moment.at)
  return s.db.tx(function* (tx) {
    const due = yield* readDueResets(tx, now, PORTION)
    for (const found of due) {
      yield* putQuota(tx, found.row.uuid, resetAt(quotaOf(found.row), moment))
      if (!RUNNING.has(subscriptionState(found.row, now))) continue
      yield* emitTicked(tx, s, now, 'subscription.traffic_reset', subscriptionData(found, now))
    }
    return due
  })
}

/** Begins new periods of all whose last one is over, and serves those again who had used up all. */
export async function resetTrafficPeriods(s: Deps): Promise<void> {
  for (;;) {
    const reset = await resetPortion(s)
    const limited = reset.flatMap(({ row }) => (row.limitedAt === null ? [] : [row]))
    if (limited.length > 0) {
      s.background.run('serve again', () => s.nodeSync.touch(limited))
    }
    if (reset.length > 0) s.nudge('events')
    if (reset.length < PORTION) return
    await nextTurn()
  }
}
