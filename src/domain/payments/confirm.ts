/** What a provider's word does to a payment: one transaction for all who bring it, and a grant exactly once. */

import { wasAudited } from '#db/audit-log.ts'
import type { Query } from '#db/engine/database.ts'
import { adoptExternalId, failPayment, readPayment, updatePayment } from '#db/payments.ts'
import type { Payment } from '#db/schema/index.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { readSettings } from '#src/domain/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { PaymentState } from '#src/ports/payment-gateway.ts'
import { refusal } from '#src/refusals/index.ts'
import { type ConfirmDeps, followGrant, type GrantContext, grantPayment } from './grant.ts'
import { isPartialRefund, objectionTo, REVIEW } from './rules.ts'
import { findShop, isTestShop } from './shops.ts'
import { PROVIDER_ACTOR, paymentStep } from './steps.ts'

/** Marks a payment for an admin to look at, and tells them; false when it is marked so already. */
export function* markForReview(
  tx: Query,
  { s, actor, at }: Pick<GrantContext, 's' | 'actor' | 'at'>,
  payment: Payment,
  reason: string,
) {
  if (payment.reviewReason === reason) return false
  const now = formatTimestamp(at)
  const { id } = payment
  const refundedAt = reason === REVIEW.refunded ? now : null
  yield* updatePayment(tx, id, {
    reviewReason: reason,
    refundedAt: payment.refundedAt ?? refundedAt,
  })
  yield* audit(tx, actor, now, { action: 'payment.review', object: id, detail: reason })
  yield* alert(tx, s, now, { about: 'payment-in-review', payment: id, reason })
  return true
}

/** What is to be done after the commit. */
interface Outcome {
  status: Payment['status']
  given?: ListedSubscription
  review?: string
}

/** Whether what the provider holds against a payment is no news of it. */
function* isSettled(tx: Query, payment: Payment, objection: string | null) {
  if (objection === REVIEW.refunded) return payment.refundedAt !== null
  if (payment.status !== 'paid') return false
  // What was granted for another word does not need this one.
  if (objection === null || !isPartialRefund(objection)) return true
  return yield* wasAudited(tx, { action: 'payment.review', object: payment.id, detail: objection })
}

/** What becomes of a payment that its provider counts as paid. */
function* settlePaid(tx: Query, payment: Payment, objection: string | null, context: GrantContext) {
  const review = function* (reason: string) {
    const marked = yield* markForReview(tx, context, payment, reason)
    return { status: payment.status, ...(marked ? { review: reason } : {}) } as Outcome
  }
  if (yield* isSettled(tx, payment, objection)) return { status: payment.status } as Outcome
  if (objection !== null) return yield* review(objection)
  if (payment.status === 'failed') return yield* review(REVIEW.late)
  const given = yield* grantPayment(tx, payment, context)
  if (typeof given === 'string') return yield* review(given)
  return { status: 'paid', ...(given ? { given } : {}) } as Outcome
}

/** What becomes of a payment that its provider counts as failed. */
function* settleFailed(tx: Query, payment: Payment, reason: string, context: GrantContext) {
  if (payment.status === 'paid' && payment.refundedAt === null) {
    const marked = yield* markForReview(tx, context, payment, REVIEW.undone)
    return { status: 'paid', ...(marked ? { review: REVIEW.undone } : {}) } as Outcome
  }
  if (!(yield* failPayment(tx, payment.id, reason))) return { status: payment.status } as Outcome
  const now = formatTimestamp(context.at)
  yield* audit(tx, context.actor, now, {
    action: 'payment.fail',
    object: payment.id,
    detail: reason,
  })
  return { status: 'failed' } as Outcome
}

/**
 * Whether what was paid as `externalId` is not what this payment was settled by: a link can be paid twice at the same moment, by two
 * devices or two people. Until the provider's id is known, ours stands for it.
 */
const isAnother = (payment: Payment, told: string): boolean => {
  const { id, externalId, status, reviewReason, refundedAt } = payment
  const isPaid = status === 'paid' || reviewReason !== null || refundedAt !== null
  return isPaid && ![told, id, ''].includes(externalId)
}

export interface Confirmation {
  status: Payment['status']
  /** What this call granted. */
  given: ListedSubscription | null
}

/**
 * Does what a provider's word means for a payment: webhooks, reconciler, admins and the bot all come here, and however many come
 * at once it is granted once. No word, or an unclear one, changes nothing. `externalId`: what the provider calls the payment, where
 * that is known only now; a word on another payment by the same link changes nothing. Throws 404 for an unknown payment, and for
 * one of another provider than `provider`.
 */
export async function confirmPayment(
  s: ConfirmDeps,
  id: string,
  found: PaymentState,
  by: { actor?: Actor; provider?: Payment['provider']; externalId?: string } = {},
): Promise<Confirmation> {
  const known = await s.db.read((q) => readPayment(q, id))
  if (!known || known.provider !== (by.provider ?? known.provider)) {
    throw refusal('payment-not-found')
  }
  if (found.state === 'pending' || found.state === 'unknown') {
    return { status: known.status, given: null }
  }
  const at = s.clock.now()
  const settings = readSettings(s)
  const { actor = PROVIDER_ACTOR, externalId } = by
  const testShop =
    found.state === 'paid' && found.test === true && isTestShop(await findShop(s, known))
  const context: GrantContext = { s, settings, actor, at, failedToo: false }
  paymentStep(s, id, 'begun')
  const outcome = await s.db.tx(function* (tx) {
    const payment = yield* readPayment(tx, id)
    if (!payment) throw refusal('payment-not-found')
    if (externalId !== undefined && externalId !== payment.externalId) {
      if (isAnother(payment, externalId)) return { status: payment.status } as Outcome
      yield* adoptExternalId(tx, payment, externalId)
    }
    if (found.state === 'failed') return yield* settleFailed(tx, payment, found.reason, context)
    return yield* settlePaid(tx, payment, objectionTo(payment, found, testShop), context)
  })
  paymentStep(s, id, 'committed')
  if (outcome.review) {
    s.log.warn('payment in review', { payment: id, reason: outcome.review })
    s.nudge('messages')
  }
  if (outcome.given) followGrant(s, id, outcome.given)
  return { status: outcome.status, given: outcome.given ?? null }
}
