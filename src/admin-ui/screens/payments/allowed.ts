/** What can be done with a payment. */
import type { Payment } from './texts.ts'

/** What the service would do; what it would refuse is not offered. */
export function allowed({ status, review_reason, refunded_at }: Payment) {
  const inReview = review_reason !== null
  return {
    check: status === 'pending',
    grant: status !== 'paid' && refunded_at === null,
    keep: status === 'paid' && inReview,
    refund: refunded_at === null ? status === 'paid' || inReview : inReview,
  }
}
