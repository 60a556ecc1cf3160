/** Subscriptions that begin with their first use: until then their time waits, but not for longer than until a moment that is set. */
import type { Query } from '#db/engine/database.ts'
import { putQuota, type Quota, quotaOf } from '#db/quotas.ts'
import type { Subscription } from '#db/schema/index.ts'
import { beginSubscription, readSubscriptions, setStart } from '#db/subscriptions.ts'
import {
  addDays,
  DAY_SECONDS,
  formatTimestamp,
  later,
  parseTimestamp,
  SECOND_MS,
} from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { countedFrom, type Moment, momentOf } from './quotas.ts'

/** How long what is given lasts from its first use on, and when that counts as come; null: a year after it is given. */
export interface DelayedStart {
  seconds: number
  by: string | null
}

/** A delayed start as it is asked for; without seconds it lasts as long as what is given. */
export interface StartOrder {
  start?: 'first_use' | undefined
  startSeconds?: number | undefined
  startBy?: string | undefined
}

/** Where nobody says it. */
const WAIT_DAYS = 365
const LONGEST_WAIT_DAYS = 3650

/** The start that is asked for; null: at once. Throws 400. */
export function readStart(order: StartOrder, days: number, at: Date): DelayedStart | null {
  const { start, startSeconds, startBy: by = null } = order
  if (start === undefined) {
    if (startSeconds !== undefined || by !== null) throw fieldRefusal('start', 'missing')
    return null
  }
  if (startSeconds === undefined && days === 0) throw refusal('has-no-end')
  if (by !== null && by <= formatTimestamp(at)) throw fieldRefusal('start_by', 'not-in-the-future')
  if (by !== null && by > formatTimestamp(addDays(at, LONGEST_WAIT_DAYS))) {
    throw fieldRefusal('start_by', 'too-late')
  }
  return { seconds: startSeconds ?? days * DAY_SECONDS, by }
}

const endAfter = (from: string, seconds: number): string =>
  formatTimestamp(later(parseTimestamp(from), seconds * SECOND_MS))

/** How a subscription that is given now stands: it waits, or has begun where its moment is over. */
export function waitingRow({ seconds, by }: DelayedStart, at: Date) {
  const now = formatTimestamp(at)
  const startBy = by ?? formatTimestamp(addDays(at, WAIT_DAYS))
  const waits = startBy > now
  return {
    expiresAt: endAfter(waits ? startBy : now, seconds),
    startSeconds: seconds,
    startBy: waits ? startBy : null,
    startedAt: waits ? null : now,
  }
}

/** What of a row says whether it waits; without `heldAt` it is not held. */
export type Start = Pick<Subscription, 'startBy'> & { heldAt?: string | null }

/** Whether a subscription waits for its first use at a time: one that is held does not begin meanwhile. */
export const isWaiting = ({ startBy, heldAt }: Start, now: string): boolean =>
  startBy !== null && startBy > (heldAt ?? now)

/** From when the periods of a quota count that is set at a moment: of what waits from its start on, at the latest. */
export const countsFrom = (row: Start, moment: Moment): Moment =>
  row.startBy !== null && isWaiting(row, formatTimestamp(moment.at))
    ? { ...moment, at: parseTimestamp(row.startBy) }
    : moment

/** When a period of traffic ends; null also while none has begun. */
export const periodEnd = (row: Start & Pick<Quota, 'resetsAt'>, now: string): string | null =>
  isWaiting(row, now) ? null : row.resetsAt

/** When a subscription began whose start was delayed; null before. */
export function startedAt(
  row: Pick<Subscription, 'startBy' | 'startedAt' | 'heldAt'>,
  now: string,
): string | null {
  return row.startedAt ?? (isWaiting(row, now) ? null : row.startBy)
}

/** The whole days that one has which waits, a begun one counted. */
export const waitingDays = ({ startSeconds }: Pick<Subscription, 'startSeconds'>): number =>
  Math.ceil((startSeconds ?? 0) / DAY_SECONDS)

/** When one that waits would end if it began now. */
export const endFromNow = (row: Pick<Subscription, 'startSeconds'>, now: string): string =>
  endAfter(now, row.startSeconds ?? 0)

type Waiting = Pick<Subscription, 'uuid' | 'startSeconds' | 'startBy' | 'heldAt'>

/** Begins what waits and was used now, its first period of traffic too; what is held was used before. Its quota then. */
export function* beginIn(tx: Query, row: Waiting & Quota, moment: Moment) {
  const before = quotaOf(row)
  const now = formatTimestamp(moment.at)
  if (!isWaiting(row, now)) return before
  const used = row.heldAt ?? now
  yield* beginSubscription(tx, row.uuid, used, endFromNow(row, used))
  const quota = countedFrom(before, { ...moment, at: parseTimestamp(used) })
  if (quota !== before) yield* putQuota(tx, row.uuid, quota)
  return quota
}

/** The same of several, of which some may have begun meanwhile. */
export function beginUsed(
  s: Pick<Services, 'db' | 'clock' | 'config'>,
  used: { uuid: string }[],
  at: Date,
): Promise<void> {
  const moment = { ...momentOf(s), at }
  return s.db.tx(function* (tx) {
    const rows = yield* readSubscriptions(
      tx,
      used.map(({ uuid }) => uuid),
    )
    for (const row of rows) yield* beginIn(tx, row, moment)
  })
}

/** Gives one that waits so many days more, or takes them; its end is moved apart. */
export function* stretchIn(tx: Query, row: Waiting, at: Date, days: number) {
  const { uuid, startSeconds, startBy } = row
  if (startSeconds === null || !isWaiting(row, formatTimestamp(at))) return
  yield* setStart(tx, uuid, Math.max(0, startSeconds + days * DAY_SECONDS), startBy)
}

/** After a pause one that waits goes on waiting for that much longer. */
export function* resumeWaiting(tx: Query, row: Waiting, pausedMs: number) {
  const { uuid, startSeconds, startBy, heldAt } = row
  if (startBy === null || heldAt === null || !isWaiting(row, heldAt)) return
  yield* setStart(tx, uuid, startSeconds, formatTimestamp(later(parseTimestamp(startBy), pausedMs)))
}
