/** Owners and receivers of events hear how much traffic is left, in the transaction that counts or changes it. */
import type { Query } from '#db/engine/database.ts'
import { type Quota, quotaOf } from '#db/quotas.ts'
import type { Subscription } from '#db/schema/index.ts'
import { readSubscription } from '#db/subscriptions.ts'
import { readUser } from '#db/users.ts'
import { nodeAndPlan } from '#src/domain/labels.ts'
import { leftOf, type Notice, refillOf } from '#src/domain/quotas.ts'
import { endlessOf } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { emitTicked, subscriptionData } from './events.ts'
import { queueMessage } from './messages.ts'

/** Tells that a share of a subscription's traffic is used; of all of it the operator's webhook hears too. */
export function* tellUsed(
  tx: Query,
  s: Pick<Services, 'config'>,
  now: string,
  { uuid, quota, notice }: { uuid: string; quota: Quota; notice: Notice },
) {
  const found = yield* readSubscription(tx, uuid)
  if (!found) return
  const owner = yield* readUser(tx, found.row.tgId)
  const { node_label, plan_label } = nodeAndPlan(found)
  const payload = {
    node_label: found.groupLabel ?? node_label,
    plan_label,
    subscription: uuid,
    used: notice,
    left: leftOf(quota),
    resets_at: refillOf(found.row),
    ...endlessOf(found.row.expiresAt),
  }
  const isTold = owner && owner.bannedAt === null && owner.blockedAt === null
  if (isTold) yield* queueMessage(tx, now, owner.telegramId, { kind: 'traffic', payload })
  if (notice === 100)
    yield* emitTicked(tx, s, now, 'subscription.limited', subscriptionData(found, now))
}

/**
 * Tells where all is used up by anything but a reading, as the last step of what changed a subscription: of what has ended by then nobody
 * hears, nor of what was limited before.
 */
export function* tellLimited(
  tx: Query,
  s: Pick<Services, 'config'>,
  now: string,
  before: Pick<Subscription, 'uuid' | 'limitedAt'>,
) {
  const { uuid, limitedAt } = before
  const row = (yield* readSubscription(tx, uuid))?.row
  if (limitedAt !== null || !row || row.limitedAt === null) return
  if (row.heldAt === null && row.expiresAt <= now) return
  yield* tellUsed(tx, s, now, { uuid, quota: quotaOf(row), notice: 100 })
}
