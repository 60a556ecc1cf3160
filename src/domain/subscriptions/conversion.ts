/**
 * How many days of one plan the days of another are: worth the same by the price list, and never more than was paid for them. No money moves,
 * and what is left of a day is lost, so nobody gains by going back and forth.
 */
import type { PaidDays } from '#db/own-changes.ts'
import type { Plan, Subscription } from '#db/schema/index.ts'
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

/** Whether two plans are sold with the same traffic. */
export const hasSameTraffic = (a: Plan, b: Plan): boolean =>
  a.quotaGb === b.quotaGb && a.quotaPeriod === b.quotaPeriod

/** Whether two plans give the same, and differ in price and length alone. */
export const givesTheSame = (a: Plan, b: Plan): boolean =>
  a.nodeGroup === b.nodeGroup && a.hwidLimit === b.hwidLimit && hasSameTraffic(a, b)

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
}

/** The whole seconds that are left of a subscription. */
export const secondsLeft = ({ expiresAt }: Pick<Subscription, 'expiresAt'>, at: Date): number =>
  Math.floor((parseTimestamp(expiresAt).getTime() - at.getTime()) / SECOND_MS)

/**
 * What a day of it is worth: by the list, and at most as much as anything was got for that is left of it. The end of the time is what was
 * paid for last; what was there at the last change of plan counts as it did then.
 */
export function worthOf(own: Days): Rate {
  const { plan, seconds, paid, dayWorth, currency } = own
  let worth: Rate = plan
  let before = seconds
  for (const payment of paid) {
    if (before <= 0) break
    if (payment.givenSeconds !== null || payment.days === 0) continue
    before -= payment.days * DAY_SECONDS
    const { amount: price, days } = payment
    if (payment.currency === currency) worth = least(worth, { price, days })
  }
  // As long as the list says the same, what was cut off of it counts.
  const isAnother = dayWorth !== null && dayWorth !== dayWorthOf(plan)
  return before > 0 && isAnother ? least(worth, { price: dayWorth, days: MILLIONTHS }) : worth
}

/** What days become as those of another plan. */
export interface Converted {
  /** Whole days from now on. */
  days: number
  /** What a day of them is worth. */
  worth: Rate
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
  const value = BigInt(own.seconds) * BigInt(old.price) * BigInt(worth.days)
  const day = BigInt(old.days) * BigInt(worth.price) * BigInt(DAY_SECONDS)
  const { price, days } = worth
  return { days: Number(value / day), worth: { price, days } }
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
