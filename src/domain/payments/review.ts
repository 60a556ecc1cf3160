/** What an admin does by hand: grants a payment that waits for them, notes a refund. */

import type { Query } from '#db/engine/database.ts'
import { readGift } from '#db/gifts.ts'
import { isPaidForAgain, readPayment, updatePayment } from '#db/payments.ts'
import type { Payment, Subscription } from '#db/schema/index.ts'
import { moveExpiry, readSubscription } from '#db/subscriptions.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import type { NodeClient } from '#src/domain/customers/users.ts'
import { stretchIn } from '#src/domain/delayed-start.ts'
import { tellLimited } from '#src/domain/notify/quota-notices.ts'
import { readSettings, type Settings } from '#src/domain/settings.ts'
import { regroupIn } from '#src/domain/subscriptions/expiry.ts'
import { revokeIn } from '#src/domain/subscriptions/subscriptions.ts'
import { DAY_SECONDS, ENDLESS, formatTimestamp, parseTimestamp, SECOND_MS } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import { type ConfirmDeps, followGrant, grantPayment } from './grant.ts'
import { REVIEW } from './rules.ts'
import { takeBackQuota, takeBackTraffic } from './top-up.ts'

function* readKnown(tx: Query, id: string) {
  const payment = yield* readPayment(tx, id)
  if (!payment) throw refusal('payment-not-found')
  return payment
}

/** Ends the review of a payment that stays granted. */
function* keepGranted(tx: Query, actor: Actor, now: string, { id, reviewReason }: Payment) {
  if (reviewReason === null) return
  yield* updatePayment(tx, id, { reviewReason: null })
  yield* audit(tx, actor, now, { action: 'payment.kept', object: id, detail: reviewReason })
}

/**
 * Grants a payment whatever its provider says; a paid one stays so, and its review ends. Throws 404, or 400 when it is refunded or
 * its node, its plan or the subscription that it has traffic for is gone.
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
    if (payment.status === 'paid') {
      yield* keepGranted(tx, actor, formatTimestamp(at), payment)
      return null
    }
    if (payment.refundedAt !== null) throw refusal('payment-refunded')
    const failedToo = true
    const given = yield* grantPayment(tx, payment, { s, settings, actor, at, failedToo })
    if (given === REVIEW.plan) throw refusal('unknown-plan')
    if (given === REVIEW.subscription) throw refusal('unknown-subscription')
    if (typeof given === 'string') throw refusal('unknown-node')
    return given
  })
  if (given) followGrant(s, id, given)
  return 'paid'
}

/** Whether a payment alone brought the group that a subscription has. What an admin gave may have had it: that stays for them to end. */
function* isGroupOf(tx: Query, { id, nodeGroup }: Payment, given: Subscription) {
  if (nodeGroup === null || given.nodeGroup !== nodeGroup || given.source === 'admin') return false
  const gift = given.giftCode === null ? undefined : yield* readGift(tx, given.giftCode)
  return gift?.nodeGroup !== nodeGroup && !(yield* isPaidForAgain(tx, given.uuid, id, nodeGroup))
}

/** Who notes a refund, and when. */
interface Refund {
  s: ConfirmDeps
  settings: Settings
  actor: Actor
  at: Date
}

/**
 * Takes back the days that a payment gave to a subscription, what it added to a quota, and the group that it alone brought, once: the
 * clients whose nodes must be told.
 */
function* takeBack(
  tx: Query,
  by: Refund,
  payment: Payment,
  given: Subscription,
): Generator<unknown, NodeClient[], unknown> {
  const { s, actor, at } = by
  const now = formatTimestamp(at)
  const { id, tgId, days, renewsUuid, givenSeconds } = payment
  const { uuid, active, expiresAt, heldAt, createdAt, paymentId } = given
  const created = paymentId === id
  if (!created && renewsUuid !== uuid) return []
  // One end of the link between the two is enough for the books; without the other nothing is taken a second time.
  yield* updatePayment(tx, id, created ? { subscriptionUuid: null } : { renewsUuid: null })
  if (!active || expiresAt === ENDLESS) return []
  const seconds = givenSeconds ?? days * DAY_SECONDS
  const earliest = parseTimestamp(heldAt ?? createdAt).getTime()
  const shortened = parseTimestamp(expiresAt).getTime() - seconds * SECOND_MS
  yield* audit(tx, actor, now, {
    action: 'subscription.shorten',
    object: uuid,
    detail: `tg_id=${tgId} days=${days}${givenSeconds === null ? '' : ` seconds=${seconds}`}`,
  })
  yield* stretchIn(tx, given, at, -days)
  yield* takeBackQuota(tx, at, payment, given)
  // What another plan has taken the place of is this payment's no more.
  const losesGroup = givenSeconds === null && (yield* isGroupOf(tx, payment, given))
  yield* moveExpiry(tx, uuid, formatTimestamp(new Date(Math.max(shortened, earliest))))
  yield* tellLimited(tx, s, now, given)
  return losesGroup ? yield* regroupIn(tx, actor, at, given, null) : [given]
}

/** Takes away what a payment gave, once: the clients whose nodes must be told. */
function* takeAway(
  tx: Query,
  by: Refund,
  payment: Payment,
): Generator<unknown, NodeClient[], unknown> {
  const { id, subscriptionUuid } = payment
  const given = subscriptionUuid && (yield* readSubscription(tx, subscriptionUuid))?.row
  if (!given) return []
  if (payment.kind === 'traffic') {
    const lessened = yield* takeBackTraffic(tx, by, payment, given)
    return lessened ? [lessened] : []
  }
  const shared = yield* isPaidForAgain(tx, given.uuid, id)
  if (given.paymentId !== id || shared) return yield* takeBack(tx, by, payment, given)
  // In this transaction: a renewal that is paid at the same moment would be revoked with it.
  const revoked = yield* revokeIn(tx, by, given.uuid)
  return revoked ? [revoked] : []
}

/**
 * Notes that the money of a payment went back, and ends its review. With `revoke` what it gave is taken away: the subscription; of a
 * renewal, and of a subscription that another payment paid for too, its days, what it added to a quota, and the group that it alone
 * brought; of traffic what is left of it. Throws 404, or 400 for a payment that is neither paid nor in review.
 */
export async function markRefunded(
  s: ConfirmDeps,
  actor: Actor,
  id: string,
  options: { revoke: boolean },
): Promise<void> {
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const settings = readSettings(s)
  const changed = await s.db.tx(function* (tx): Generator<unknown, NodeClient[], unknown> {
    const payment = yield* readKnown(tx, id)
    const { status, reviewReason } = payment
    const refundedAt = payment.refundedAt ?? now
    if (status !== 'paid' && reviewReason === null && payment.refundedAt === null) {
      throw refusal('payment-not-paid')
    }
    yield* updatePayment(tx, id, { refundedAt, reviewReason: null, nextCheckAt: null })
    yield* audit(tx, actor, now, {
      action: 'payment.refunded',
      object: id,
      detail: options.revoke ? 'revoke' : '',
    })
    return options.revoke ? yield* takeAway(tx, { s, settings, actor, at }, payment) : []
  })
  if (changed.length === 0) return
  s.nudge('messages')
  s.nudge('events')
  await s.nodeSync.touch(changed)
}
