/** The state of a payment, and what can be done in it. */
import { Badge, type Tone } from '#src/admin-ui/kit/badge.tsx'
import { type Payment, paymentTexts } from './texts.ts'

type State = keyof ReturnType<typeof paymentTexts>['states']

const TONES: Record<State, Tone> = {
  pending: 'info',
  paid: 'ok',
  failed: 'bad',
  refunded: 'muted',
  review: 'warn',
}

function stateOf(payment: Payment): State {
  if (payment.review_reason !== null) return 'review'
  return payment.refunded_at === null ? payment.status : 'refunded'
}

export function PaymentBadge({ payment }: { payment: Payment }) {
  const state = stateOf(payment)
  return <Badge tone={TONES[state]}>{paymentTexts().states[state]}</Badge>
}

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
