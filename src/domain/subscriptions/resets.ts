/** Traffic counts from 0 again where a period is over, however long nobody looked. */
import { putQuota, quotaOf, readDueResets } from '#db/quotas.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { emit, isWanted, subscriptionData } from '#src/domain/notify/events.ts'
import { momentOf, resetAt } from '#src/domain/quotas.ts'
import { readSettings } from '#src/domain/settings.ts'
import { pause } from '#src/lib/pause.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { RUNNING, subscriptionState } from './subscriptions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'nodeSync' | 'background' | 'nudge'>

/** So many are reset in one transaction: each takes 60 µs, in which nobody else is answered. */
const PORTION = 5
/** Between two of them, so that who fetches a list does not see a month begin: 100,000 take two and a half minutes. */
const PAUSE_MS = 6
/** So many who had used up all are told to their nodes together. */
const TOLD = 500

/** Begins the new periods of the next ones that are due; those whose row was read. */
async function resetPortion(s: Deps): Promise<ListedSubscription[]> {
  const moment = momentOf(s)
  const now = formatTimestamp(moment.at)
  const event = 'subscription.traffic_reset'
  const settings = readSettings(s)
  const wanted = isWanted(settings, event)
  // What a power cut takes back is due again.
  return s.db.txUnsynced(function* (tx) {
    const due = yield* readDueResets(tx, now, PORTION)
    for (const found of due) {
      yield* putQuota(tx, found.row.uuid, resetAt(quotaOf(found.row), moment))
      if (!wanted || !RUNNING.has(subscriptionState(found.row, now))) continue
      yield* emit(tx, settings, now, event, subscriptionData(found, now))
    }
    return due
  })
}

/**
 * Begins new periods of all whose last one is over, and serves those again who had used up all. The rest of those that it leaves when
 * `goesOn` says so is due the next time.
 */
export async function resetTrafficPeriods(s: Deps, goesOn = () => true): Promise<void> {
  let limited: ListedSubscription['row'][] = []
  const serveAgain = () => {
    const served = limited
    limited = []
    if (served.length === 0) return
    s.background.run('serve again', () => s.nodeSync.touch(served))
  }
  try {
    for (;;) {
      const reset = await resetPortion(s)
      limited.push(...reset.flatMap(({ row }) => (row.limitedAt === null ? [] : [row])))
      if (reset.length > 0) s.nudge('events')
      if (reset.length < PORTION || !goesOn()) return
      if (limited.length >= TOLD) serveAgain()
      await pause(PAUSE_MS)
    }
  } finally {
    serveAgain()
  }
}
