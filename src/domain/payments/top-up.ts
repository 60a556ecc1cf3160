/** What becomes of paid traffic: it is added to the extra bytes of its subscription, and what is left of it can be taken back. */
import type { Query, Reading } from '#db/engine/database.ts'
import { updatePayment } from '#db/payments.ts'
import { putQuota, quotaOf } from '#db/quotas.ts'
import type { Payment, Subscription } from '#db/schema/index.ts'
import { type ListedSubscription, readSubscription } from '#db/subscriptions.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { placeAndPlan } from '#src/domain/labels.ts'
import type { Message } from '#src/domain/notify/messages.ts'
import { tellLimited } from '#src/domain/notify/quota-notices.ts'
import { leftOf, lessened, refillOf, withExtra } from '#src/domain/quotas.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

/** The subscription whose traffic a payment is for, unless it can't have any: it is gone, revoked, another's, or without a quota. */
export function* readToppedUp(tx: Reading, { tgId, renewsUuid }: Payment) {
  if (renewsUuid === null) return undefined
  const found = yield* readSubscription(tx, renewsUuid)
  const isOwn = found?.row.active && found.row.tgId === tgId
  return isOwn && found.row.quotaBytes !== null ? found : undefined
}

/** Adds what was bought, and lifts the limit where that is enough. */
export function* topUp(tx: Query, payment: Payment, found: ListedSubscription, at: Date) {
  const quota = withExtra(quotaOf(found.row), payment.extraBytes ?? 0, at)
  yield* putQuota(tx, found.row.uuid, quota)
  return { ...found, row: { ...found.row, ...quota } }
}

/** What the buyer is told of it. */
export function toppedUpMessage(payment: Payment, given: ListedSubscription): Message {
  const { node_label, plan_label } = placeAndPlan(given)
  return {
    kind: 'topped-up',
    payload: {
      // For who compares the books (db/engine/invariants.ts).
      payment_id: payment.id,
      node_label,
      plan_label,
      bytes: payment.extraBytes ?? 0,
      left: leftOf(given.row),
      resets_at: refillOf(given.row),
    },
  }
}

/**
 * Takes back what is left of the traffic that a payment gave, once; undefined when there is nothing to take. The subscription keeps
 * its days and its quota, and is limited where it has used more than that.
 */
export function* takeBackTraffic(
  tx: Query,
  { s, actor, at }: { s: Pick<Services, 'config'>; actor: Actor; at: Date },
  payment: Payment,
  given: Subscription,
) {
  const { id, tgId, extraBytes, renewsUuid } = payment
  if (renewsUuid !== given.uuid) return undefined
  // The other end of the link is enough for the books; without this one nothing is taken a second time.
  yield* updatePayment(tx, id, { renewsUuid: null })
  const taken = Math.min(extraBytes ?? 0, given.extraBytes)
  if (!given.active || taken === 0) return undefined
  const quota = withExtra(quotaOf(given), -taken, at)
  yield* putQuota(tx, given.uuid, quota)
  yield* tellLimited(tx, s, formatTimestamp(at), given)
  yield* audit(tx, actor, formatTimestamp(at), {
    action: 'subscription.take-traffic',
    object: given.uuid,
    detail: `tg_id=${tgId} bytes=${taken}`,
  })
  return { ...given, ...quota }
}

/** Takes back what a payment added to a quota without periods; one that it set in place of another stays. */
export function* takeBackQuota(
  tx: Query,
  at: Date,
  { quotaBytes, quotaPeriod }: Payment,
  given: Subscription,
) {
  if (quotaBytes === null || quotaPeriod !== 'none' || given.quotaPeriod !== 'none') return
  if (given.quotaBytes === null || given.quotaBytes <= quotaBytes) return
  yield* putQuota(tx, given.uuid, lessened(quotaOf(given), quotaBytes, at))
}
