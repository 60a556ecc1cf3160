/**
 * How much traffic a subscription may use: what counts as used, when it is used up, what a new period, a sale and an admin change. Values
 * alone: whoever has read a row in their transaction writes what comes of it there (db/quotas.ts).
 */
import type { QuotaPeriod } from '#db/quota-periods.ts'
import type { Quota } from '#db/quotas.ts'
import type { Node, Plan } from '#db/schema/index.ts'
import { nextCalendarPeriod, nextMonthFrom } from '#src/lib/periods.ts'
import { GB } from '#src/lib/sizes.ts'
import { formatTimestamp, later, parseTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

/** What is sold: null is without a limit. */
export interface SoldQuota {
  quotaBytes: number | null
  quotaPeriod: QuotaPeriod
}

/** The moment of a change, and the zone by which its calendar goes. */
export interface Moment {
  at: Date
  timeZone: string
}

export const momentOf = (s: Pick<Services, 'clock' | 'config'>): Moment => ({
  at: s.clock.now(),
  timeZone: s.config.timezone,
})

export const NO_QUOTA: Quota = {
  quotaBytes: null,
  quotaPeriod: 'none',
  quotaAnchor: null,
  usedBytes: 0,
  usedRest: 0,
  extraBytes: 0,
  resetsAt: null,
  limitedAt: null,
  quotaNotice: 0,
}

/** Without one: what was bought beside a former quota waits for the next. */
const unlimited = (extraBytes: number): Quota => ({ ...NO_QUOTA, extraBytes })

/** Sold without one. */
export const NO_LIMIT: SoldQuota = { quotaBytes: null, quotaPeriod: 'none' }

/** What a plan is sold with now. */
export const quotaOfPlan = ({ quotaGb, quotaPeriod }: Plan): SoldQuota => ({
  quotaBytes: quotaGb === null ? null : quotaGb * GB,
  quotaPeriod,
})

/** What a payment or a gift code was made with. */
export const soldQuotaOf = ({ quotaBytes, quotaPeriod }: SoldQuota): SoldQuota => ({
  quotaBytes,
  quotaPeriod,
})

/** The hundredths of a node's traffic that count. What is not measured counts nothing. */
export const countedShare = ({
  kind,
  trafficRatio,
}: Pick<Node, 'kind' | 'trafficRatio'>): number => (kind === 'external' ? 0 : trafficRatio)

/** A sum that stays a number of JavaScript. */
const capped = (bytes: number): number => Math.min(bytes, Number.MAX_SAFE_INTEGER)

/** What may be used in this period. */
export const allowanceOf = ({ quotaBytes, extraBytes }: Pick<Quota, 'quotaBytes' | 'extraBytes'>) =>
  capped((quotaBytes ?? 0) + extraBytes)

/** What is left of it. */
export const leftOf = (quota: Pick<Quota, 'quotaBytes' | 'extraBytes' | 'usedBytes'>): number =>
  Math.max(0, allowanceOf(quota) - quota.usedBytes)

/** The shares of the allowance of which owners are told, in %. */
export const NOTICES = [80, 95, 100] as const
export type Notice = (typeof NOTICES)[number]

/** The largest of them that is used; 0: none. */
function reached(quota: Quota): Notice | 0 {
  const left = leftOf(quota)
  if (left === 0) return 100
  const allowance = allowanceOf(quota)
  return NOTICES.findLast((share) => share < 100 && left <= (allowance / 100) * (100 - share)) ?? 0
}

/** Whether all is used up, of which who changed it tells (notify/quota-notices.ts), and of what need not be told again, by what is used and allowed now. */
function settled(quota: Quota, at: Date): Quota {
  if (quota.quotaBytes === null) return unlimited(quota.extraBytes)
  const notice = reached(quota)
  const limitedAt = notice === 100 ? (quota.limitedAt ?? formatTimestamp(at)) : null
  return {
    ...quota,
    limitedAt,
    quotaNotice: notice === 100 ? 100 : Math.min(quota.quotaNotice, notice),
  }
}

/** When the next period begins. */
function nextReset({ quotaPeriod, quotaAnchor }: Quota, { at, timeZone }: Moment): string | null {
  if (quotaPeriod === 'none') return null
  if (quotaPeriod !== 'rolling') {
    return formatTimestamp(nextCalendarPeriod(timeZone, quotaPeriod, at))
  }
  // One that is still to come may lie where no month follows, as an archive can bring it.
  const anchor = quotaAnchor === null ? at : parseTimestamp(quotaAnchor)
  return formatTimestamp(nextMonthFrom(timeZone, anchor < at ? anchor : at, at))
}

/** The same quota, whose first period begins at a moment. */
export function countedFrom(quota: Quota, moment: Moment): Quota {
  if (quota.quotaBytes === null) return quota
  const next = { ...quota, quotaAnchor: formatTimestamp(moment.at) }
  return { ...next, resetsAt: nextReset(next, moment) }
}

/** From a moment on by another quota, of which nothing is used. */
export const begun = (sold: SoldQuota, moment: Moment): Quota =>
  sold.quotaBytes === null ? NO_QUOTA : countedFrom({ ...NO_QUOTA, ...sold }, moment)

/** What is left of what was bought beside the quota: it is less by what was used of it. */
const extraLeft = ({ quotaBytes, extraBytes, usedBytes }: Quota): number =>
  Math.max(0, extraBytes - Math.max(0, usedBytes - (quotaBytes ?? 0)))

/** A new period. */
export function resetAt(quota: Quota, moment: Moment): Quota {
  return {
    ...quota,
    extraBytes: extraLeft(quota),
    usedBytes: 0,
    usedRest: 0,
    limitedAt: null,
    quotaNotice: 0,
    resetsAt: nextReset(quota, moment),
  }
}

/** The same by another quota, whose own day is today. */
const restarted = (quota: Quota, sold: SoldQuota, moment: Moment): Quota =>
  countedFrom({ ...resetAt(quota, moment), ...sold }, moment)

/** The same use by periods of another kind, which begin now. */
const rephased = (quota: Quota, moment: Moment): Quota =>
  settled(countedFrom(quota, moment), moment.at)

/** What a count made of a quota, and of which share its owner is to be told. */
export interface Counted {
  quota: Quota
  notice: Notice | 0
}

/** More bytes of a node of which `share` hundredths count; parts of a byte are carried on. */
export function counted(quota: Quota, bytes: number, share: number, at: Date): Counted {
  if (quota.quotaBytes === null || share === 0) return { quota, notice: 0 }
  // In two parts, that no product leaves what numbers hold exactly.
  const hundredths = (bytes % 100) * share + quota.usedRest
  const whole = Math.floor(bytes / 100) * share + Math.floor(hundredths / 100)
  const next = { ...quota, usedBytes: capped(quota.usedBytes + whole), usedRest: hundredths % 100 }
  const notice = reached(next)
  if (notice <= quota.quotaNotice) return { quota: next, notice: 0 }
  const limitedAt = notice === 100 ? formatTimestamp(at) : null
  return { quota: { ...next, quotaNotice: notice, limitedAt }, notice }
}

/**
 * What a renewal makes of a quota: without periods what was bought is added; with them the rest of the period goes on, but who has used up
 * all begins a new one at once. What was bought beside the quota stays, also while there is none.
 */
export function renewed(quota: Quota, sold: SoldQuota, moment: Moment): Quota {
  if (sold.quotaBytes === null) return unlimited(extraLeft(quota))
  if (quota.quotaBytes === null) return { ...begun(sold, moment), extraBytes: quota.extraBytes }
  const { quotaPeriod } = sold
  if (quotaPeriod === 'none' && quota.quotaPeriod === 'none') {
    return settled({ ...quota, quotaBytes: capped(quota.quotaBytes + sold.quotaBytes) }, moment.at)
  }
  const next = { ...quota, ...sold }
  if (quota.limitedAt !== null || leftOf(next) === 0) return restarted(quota, sold, moment)
  return quotaPeriod === quota.quotaPeriod ? settled(next, moment.at) : rephased(next, moment)
}

/** More traffic that was bought beside the quota. */
export const withExtra = (quota: Quota, bytes: number, at: Date): Quota =>
  settled({ ...quota, extraBytes: capped(quota.extraBytes + bytes) }, at)

/** Less of a quota without periods. */
export const lessened = (quota: Quota, bytes: number, at: Date): Quota =>
  settled({ ...quota, quotaBytes: (quota.quotaBytes ?? 0) - bytes }, at)

/** When traffic comes back by itself; null where its subscription does not live to see it. */
export const refillOf = ({
  resetsAt,
  expiresAt,
}: {
  resetsAt: string | null
  expiresAt: string
}): string | null => (resetsAt !== null && resetsAt < expiresAt ? resetsAt : null)

/** What an admin changes. */
export type QuotaEdition = Partial<Pick<Quota, 'quotaBytes' | 'quotaPeriod' | 'extraBytes'>>

/** A quota as an admin wants it: what is used stays used, save where there was none. */
export function edited(quota: Quota, edition: QuotaEdition, moment: Moment): Quota {
  const next = { ...quota, ...edition }
  if (next.quotaBytes === null) return quota.quotaBytes === null ? quota : NO_QUOTA
  if (quota.quotaBytes === null) {
    return settled({ ...begun(next, moment), extraBytes: next.extraBytes }, moment.at)
  }
  return next.quotaPeriod === quota.quotaPeriod ? settled(next, moment.at) : rephased(next, moment)
}

/**
 * What an admin's change to a plan with another quota makes of one. What is used stays used, of the quota: what was bought beside it is less by
 * what was used of that, and waits where there is no quota. Of traffic for all days nothing says how much is used of a period.
 */
export function replaced(quota: Quota, sold: SoldQuota, moment: Moment): Quota {
  const extraBytes = extraLeft(quota)
  if (sold.quotaBytes === null) return unlimited(extraBytes)
  const isOfAllDays = quota.quotaPeriod === 'none' && sold.quotaPeriod !== 'none'
  const usedBytes = isOfAllDays ? 0 : Math.min(quota.usedBytes, quota.quotaBytes ?? 0)
  return edited({ ...quota, extraBytes, usedBytes }, sold, moment)
}

/** Nothing used in this period any more. */
export const unused = (quota: Quota): Quota => ({
  ...quota,
  usedBytes: 0,
  usedRest: 0,
  limitedAt: null,
  quotaNotice: 0,
})

/** After a pause: months of one's own go on that much later, those of the calendar do not wait. */
export function resumed(quota: Quota, heldAt: string, pausedMs: number): Quota {
  const { quotaPeriod, quotaAnchor } = quota
  if (quotaPeriod !== 'rolling') return quota
  // A period that began during the pause has waited from then on.
  const heldMs = parseTimestamp(heldAt).getTime()
  const begunMs = quotaAnchor === null ? heldMs : parseTimestamp(quotaAnchor).getTime()
  const waitedMs = Math.max(0, pausedMs - Math.max(0, begunMs - heldMs))
  const moved = (at: string | null) =>
    at === null ? null : formatTimestamp(later(parseTimestamp(at), waitedMs))
  return { ...quota, resetsAt: moved(quota.resetsAt), quotaAnchor: moved(quota.quotaAnchor) }
}
