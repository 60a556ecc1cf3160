/**
 * How many days of one plan the days of another are: worth the same by the price list, never more than was paid for them, and no more than
 * what is left of traffic that was sold for all of them. No money moves, and what is left of a day is lost, so nobody gains by going back and forth.
 */
import type { PaidDays } from '#db/own-changes.ts'
import type { Plan, Subscription } from '#db/schema/index.ts'
import { quotaOfPlan, type SoldQuota } from '#src/domain/quotas.ts'
import { DAY_SECONDS, parseTimestamp, SECOND_MS } from '#src/lib/time.ts'

const MILLIONTHS = 1_000_000

/** So much for so many days. */
export type Rate = Pick<Plan, 'price' | 'days'>

const isLess = (a: Rate, b: Rate): boolean =>
  BigInt(a.price) * BigInt(b.days) < BigInt(b.price) * BigInt(a.days)
const least = (a: Rate, b: Rate): Rate => (isLess(b, a) ? b : a)
const most = <T extends Rate>(a: T, b: T): T => (isLess(a, b) ? b : a)

/** A rate in millionths for a day, as a row keeps it: never more than it is. */
export const dayWorthOf = ({ price, days }: Rate): number => Math.floor((price * MILLIONTHS) / days)

/** Whether two plans give the same, and differ in price and length alone. */
export const givesTheSame = (a: Plan, b: Plan): boolean =>
  a.nodeGroup === b.nodeGroup &&
  a.quotaGb === b.quotaGb &&
  a.quotaPeriod === b.quotaPeriod &&
  a.hwidLimit === b.hwidLimit

/** A subscription as far as its days are changed for others. */
export interface Days {
  /** Its plan. */
  plan: Plan
  /** What is left, in whole seconds. */
  seconds: number
  /** What it was got with, newest first. */
  paid: PaidDays[]
  dayWorth: number | null
  /** CURRENCY: what was paid in another one says nothing of these prices. */
  currency: string
  /** What is left of traffic that was sold for all its days at once; null: there is no such. */
  traffic: number | null
}

/** The whole seconds that are left of a subscription. */
export const secondsLeft = ({ expiresAt }: Pick<Subscription, 'expiresAt'>, at: Date): number =>
  Math.floor((parseTimestamp(expiresAt).getTime() - at.getTime()) / SECOND_MS)

/** The payments whose days are left, and the seconds before them. */
function lastPaid({ seconds, paid }: Pick<Days, 'seconds' | 'paid'>) {
  const payments: PaidDays[] = []
  let before = seconds
  for (const payment of paid) {
    if (before <= 0) break
    if (payment.givenSeconds !== null || payment.days === 0) continue
    before -= payment.days * DAY_SECONDS
    payments.push(payment)
  }
  return { payments, before }
}

/**
 * What a day of it is worth: by the list, and at most as much as anything was got for that is left of it. The end of the time is what was
 * paid for last; what was there at the last change of plan counts as it did then.
 */
export function worthOf(own: Days): Rate {
  const { plan, dayWorth, currency } = own
  const { payments, before } = lastPaid(own)
  const worth = payments
    .filter((payment) => payment.currency === currency)
    .map(({ amount: price, days }) => ({ price, days }))
    .reduce<Rate>(least, plan)
  // As long as the list says the same, what was cut off of it counts.
  const isAnother = dayWorth !== null && dayWorth !== dayWorthOf(plan)
  return before > 0 && isAnother ? least(worth, { price: dayWorth, days: MILLIONTHS }) : worth
}

/** Bytes in place of a price: so many for so many days; null where they were not sold for all days at once. */
const bytesFor = ({ quotaBytes, quotaPeriod }: SoldQuota, days: number): Rate | null =>
  quotaBytes && quotaPeriod === 'none' ? { price: quotaBytes, days } : null

/** The most traffic that the days were got with, by the list or by a payment; null where none is counted for them. */
function bytesOf(own: Days): Rate | null {
  if (own.traffic === null) return null
  const { plan } = own
  const paid = lastPaid(own).payments.map((payment) => bytesFor(payment, payment.days))
  const rates = [bytesFor(quotaOfPlan(plan), plan.days), ...paid].filter((rate) => rate !== null)
  return rates.length === 0 ? null : rates.reduce(most)
}

/** The share of so many seconds in a rate. */
const shareOf = ({ price, days }: Rate, seconds: number): bigint =>
  (BigInt(price) * BigInt(seconds)) / BigInt(days * DAY_SECONDS)

/** The time that is left as far as its traffic is: who has used more than their days' share has as much less to change. */
function secondsCovered({ seconds, traffic }: Days, bytes: Rate | null): bigint {
  if (bytes === null || traffic === null) return BigInt(seconds)
  const covered = (BigInt(traffic) * BigInt(bytes.days * DAY_SECONDS)) / BigInt(bytes.price)
  return covered < BigInt(seconds) ? covered : BigInt(seconds)
}

/**
 * What the new days bring of traffic that is sold for all of them: their share, and what is left beyond the share of the old ones, worth the
 * same and at most as much as it was.
 */
function bytesAfter(own: Days, old: Rate | null, plan: Plan, days: number): number | null {
  const sold = bytesFor(quotaOfPlan(plan), plan.days)
  if (sold === null) return null
  const share = shareOf(sold, days * DAY_SECONDS)
  const before = old === null ? 0n : shareOf(old, own.seconds) + 1n
  const beyond = old === null ? 0n : BigInt(own.traffic ?? 0) - before
  if (beyond <= 0n) return Number(share)
  return Number(share + (share < before ? (beyond * share) / before : beyond))
}

/** What days become as those of another plan. */
export interface Converted {
  /** Whole days from now on. */
  days: number
  /** What a day of them is worth. */
  worth: Rate
  /** The traffic that goes with them, where the plan is sold with some for all its days; else null. */
  bytes: number | null
}

/** Of the plans that give what this one gives, the one that is the dearest by the day. */
export const dearestLike = (plan: Plan, sold: readonly Plan[]): Plan =>
  sold.filter((other) => givesTheSame(plan, other)).reduce(most, plan)

/**
 * The same for a plan with a price, among those that are `sold`. What they give is counted by the dearest daily price of it: that a longer
 * plan is cheaper by the day is for who pays for all its days.
 */
export function converted(own: Days, plan: Plan, sold: readonly Plan[]): Converted {
  const old = worthOf(own)
  const worth = dearestLike(plan, sold)
  const bytes = bytesOf(own)
  const value = secondsCovered(own, bytes) * BigInt(old.price) * BigInt(worth.days)
  const day = BigInt(old.days) * BigInt(worth.price) * BigInt(DAY_SECONDS)
  const days = Number(value / day)
  return {
    days,
    worth: { price: worth.price, days: worth.days },
    bytes: bytesAfter(own, bytes, plan, days),
  }
}

/** The time that a payment stands for after a change of all that is left from `seconds` to `days`. */
export function givenAfter(
  { days: paidDays, givenSeconds }: PaidDays,
  seconds: number,
  days: number,
): number {
  const given = BigInt(givenSeconds ?? paidDays * DAY_SECONDS)
  const next = (given * BigInt(days * DAY_SECONDS)) / BigInt(seconds) + 1n
  return Number(next > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : next)
}
