/** Owners and receivers of events hear how much traffic is left, in the transaction that counts or changes it. */
import type { Query } from '#db/engine/database.ts'
import { putQuota, type Quota } from '#db/quotas.ts'
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

/** Sets what became of a quota by anything but a reading, and tells where all is used up by that: of what has ended nobody hears. */
export function* putChanged(
  tx: Query,
  s: Pick<Services, 'config'>,
  now: string,
  row: Subscription,
  quota: Quota,
) {
  yield* putQuota(tx, row.uuid, quota)
  const isOver = row.heldAt === null && row.expiresAt <= now
  if (row.limitedAt !== null || quota.limitedAt === null || isOver) return
  yield* tellUsed(tx, s, now, { uuid: row.uuid, quota, notice: 100 })
}
