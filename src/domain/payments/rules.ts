/** When a paid payment is not to be granted by itself, and when a pending one is asked about. */
import type { Payment } from '#db/schema/index.ts'
import {
  DAY_MS,
  formatTimestamp,
  HOUR_MS,
  MINUTE_MS,
  parseTimestamp,
  SECOND_MS,
} from '#src/lib/time.ts'
import type { Share } from '#src/lib/turns.ts'
import type { PaidState } from '#src/ports/payment-gateway.ts'

/** Why a payment waits for an admin. Those of `GONE` end by themselves. */
export const REVIEW = {
  node: 'paid, but its node is gone',
  plan: 'paid, but its plan is gone',
  subscription: 'paid, but its subscription is gone or has no traffic quota',
  amount: 'paid with another amount',
  currency: 'paid in another currency',
  test: 'paid as a test',
  another: 'the provider knows it as another payment',
  late: 'paid after it had failed',
  deletedUser: 'paid, but its user was deleted',
  refunded: 'refunded at the provider',
  partly: 'partly refunded at the provider',
  undone: 'granted, but its provider does not count it as paid any more',
} as const

export const GONE: string[] = [REVIEW.node, REVIEW.plan, REVIEW.subscription]

/** Whether a provider's text is this amount of whole units: `199`, `199.0`, `199.00`. */
export function isAmount(text: string, amount: number): boolean {
  // Short, as the pattern looks at many zeros again and again.
  return text.length <= 64 && /^0*(\d+)(?:\.0*)?$/.exec(text.trim())?.[1] === String(amount)
}

/** What the provider's answer holds against granting a payment, or null. What the answer does not say is not compared. */
export function objectionTo(payment: Payment, found: PaidState, testShop: boolean): string | null {
  const { paymentId, amount, currency, test, refunded, refundedPart } = found
  if (paymentId !== undefined && paymentId !== payment.id) return REVIEW.another
  if (refunded || payment.refundedAt !== null) return REVIEW.refunded
  if (refundedPart !== undefined) return `${REVIEW.partly}: ${refundedPart}`
  if (amount !== undefined && !isAmount(amount, payment.amount)) return REVIEW.amount
  if (currency !== undefined && currency.toUpperCase() !== payment.currency) return REVIEW.currency
  if (test === true && !testShop) return REVIEW.test
  if (payment.deletedUser) return REVIEW.deletedUser
  return null
}

/** Whether an objection is that a part of the money went back: the rest was earned, so the payment does not count as refunded. */
export const isPartialRefund = (objection: string): boolean => objection.startsWith(REVIEW.partly)

/**
 * What of a provider's time one customer may take up for one kind of question, however many payments they have: 6 in 10 seconds, 20 a
 * minute. True notices come in twos and threes, and nobody makes more than 5 payments in 10 minutes.
 */
const customerShare = ({ provider, tgId }: Pick<Payment, 'provider' | 'tgId'>): Share => [
  `${provider} of ${tgId}`,
  { most: 6, inMs: 10 * SECOND_MS },
  { most: 20, inMs: MINUTE_MS },
]

/** The same of all guests together who have bought nothing: whoever likes is any number of them. */
const guestsShare = ({ provider }: Pick<Payment, 'provider'>): Share => [
  `${provider} of guests`,
  { most: 10, inMs: SECOND_MS },
  { most: 60, inMs: MINUTE_MS },
]

/** What a question about a payment takes up; `guest`: its customer is a guest who has bought nothing. */
export const sharesOf = (payment: Pick<Payment, 'provider' | 'tgId'>, guest: boolean): Share[] => [
  customerShare(payment),
  ...(guest ? [guestsShare(payment)] : []),
]

/** YooKassa keeps an Idempotence-Key for 24 hours; after that the same key makes another payment. */
export const ASK_AGAIN_MS = 23 * HOUR_MS

/** By age of a payment: how long until it is asked about again. */
const BACK_OFF: [youngerThanMs: number, waitMs: number][] = [
  [HOUR_MS, MINUTE_MS],
  [6 * HOUR_MS, 5 * MINUTE_MS],
  [DAY_MS, 30 * MINUTE_MS],
  [7 * DAY_MS, DAY_MS],
]

/** When a pending payment is asked about next: less and less often, after a week not any more. At least `minimumMs` from now. */
export function nextCheckAt(createdAt: string, now: Date, minimumMs = 0): string | null {
  const age = now.getTime() - parseTimestamp(createdAt).getTime()
  const waitMs = BACK_OFF.find(([youngerThanMs]) => age < youngerThanMs)?.[1]
  if (waitMs === undefined) return null
  return formatTimestamp(new Date(now.getTime() + Math.max(waitMs, minimumMs)))
}
