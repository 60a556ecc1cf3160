/** What an admin does by hand: grants a payment that waits for him, notes a refund, deals with orphans. */

import type { Query } from '#db/open.ts'
import { resolveOrphan } from '#db/orphan-payments.ts'
import { readPayment, updatePayment } from '#db/payments.ts'
import type { Payment } from '#db/schema.ts'
import { moveExpiry, readSubscription } from '#db/subscriptions.ts'
import { badRequest, notFound } from '#src/lib/errors.ts'
import { addDays, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type Actor, audit } from './audit.ts'
import { type ConfirmDeps, followGrant, grantPayment } from './payment-grant.ts'
import { REVIEW } from './payment-rules.ts'
import { readSettings } from './settings.ts'
import { revoke } from './subscriptions.ts'

function* readKnown(tx: Query, id: string) {
  const payment = yield* readPayment(tx, id)
  if (!payment) throw notFound('payment not found')
  return payment
}

/**
 * Grants a payment whatever its provider says; a paid one stays as it is. Throws 404, or 400 when it is refunded or its node or
 * plan is gone.
 */
export async function grantByHand(
  s: ConfirmDeps,
  actor: Actor,
  id: string,
): Promise<Payment['status']> {
  const settings = readSettings(s)
  const at = s.clock.now()
  const given = await s.db.tx(function* (tx) {
    const payment = yield* readKnown(tx, id)
    if (payment.status === 'paid') return null
    if (payment.refundedAt !== null) throw badRequest('payment is refunded')
    const failedToo = true
    const given = yield* grantPayment(tx, payment, { s, settings, actor, at, failedToo })
    if (given === REVIEW.plan) throw badRequest('unknown plan')
    if (typeof given === 'string') throw badRequest('unknown node')
    return given
  })
  if (given) followGrant(s, id, given)
  return 'paid'
}

/** Takes back the days that a renewal gave, once; undefined when there is nothing to take. */
function* takeBackDays(tx: Query, actor: Actor, now: string, payment: Payment) {
  const { id, tgId, days, renewsUuid, subscriptionUuid } = payment
  if (subscriptionUuid === null || renewsUuid !== subscriptionUuid) return undefined
  yield* updatePayment(tx, id, { renewsUuid: null })
  const found = yield* readSubscription(tx, subscriptionUuid)
  if (!found?.row.active) return undefined
  const { uuid, expiresAt, heldAt, createdAt } = found.row
  const shortened = formatTimestamp(addDays(parseTimestamp(expiresAt), -days))
  const earliest = heldAt ?? createdAt
  yield* audit(tx, actor, now, {
    action: 'subscription.shorten',
    object: uuid,
    detail: `tg_id=${tgId} days=${days}`,
  })
  return yield* moveExpiry(tx, uuid, shortened > earliest ? shortened : earliest)
}

/**
 * Notes that the money of a payment went back, and ends its review. With `revoke` what it gave is taken away: the subscription, or
 * of a renewal its days. Throws 404, or 400 for a payment that is neither paid nor in review.
 */
export async function markRefunded(
  s: ConfirmDeps & Pick<Services, 'cores'>,
  actor: Actor,
  id: string,
  options: { revoke: boolean },
): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  const { created, shortened } = await s.db.tx(function* (tx) {
    const payment = yield* readKnown(tx, id)
    const { status, reviewReason, subscriptionUuid } = payment
    const refundedAt = payment.refundedAt ?? now
    if (status !== 'paid' && reviewReason === null && payment.refundedAt === null) {
      throw badRequest('payment is not paid')
    }
    yield* updatePayment(tx, id, { refundedAt, reviewReason: null, nextCheckAt: null })
    yield* audit(tx, actor, now, {
      action: 'payment.refunded',
      object: id,
      detail: options.revoke ? 'revoke' : '',
    })
    if (!options.revoke || subscriptionUuid === null) return {}
    const given = yield* readSubscription(tx, subscriptionUuid)
    if (given?.row.paymentId === id) return { created: subscriptionUuid }
    return { shortened: yield* takeBackDays(tx, actor, now, payment) }
  })
  if (created) await revoke(s, actor, created)
  if (shortened) await s.nodeSync.touch([shortened])
}

/** Marks an orphan as dealt with. Throws 404. */
export async function settleOrphan(
  s: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  id: number | null,
): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const resolved = id === null ? undefined : yield* resolveOrphan(tx, id, now)
    if (resolved === undefined) throw notFound('payment not found')
    if (resolved === null) return
    yield* audit(tx, actor, now, {
      action: 'payment.orphan-resolved',
      object: resolved.externalId,
      detail: resolved.provider,
    })
  })
}
