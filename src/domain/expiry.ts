/** How long a subscription lasts, changed by an admin: by days, or to a time. */
import type { Query } from '#db/open.ts'
import type { Subscription } from '#db/schema.ts'
import { type ListedSubscription, moveExpiry, readSubscription } from '#db/subscriptions.ts'
import { badRequest, notFound } from '#src/lib/errors.ts'
import { addDays, formatTimestamp, LAST_MS, parseTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type Actor, audit } from './audit.ts'
import { subscriptionState } from './subscriptions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'nodeSync'>

/** Until when a subscription lasts with so many days more: from its expiry on, or from now on where it has run out. Throws 400. */
export function extendedExpiry(row: Subscription, at: Date, days: number): string {
  const state = subscriptionState(row, formatTimestamp(at))
  if (state === 'revoked') throw badRequest('subscription is revoked')
  const end = addDays(state === 'expired' ? at : parseTimestamp(row.expiresAt), days)
  if (end.getTime() > LAST_MS) throw badRequest('expires_at would be too late')
  return formatTimestamp(end)
}

/** Adds days to a subscription that is not revoked. Throws 400, before it writes. */
export function* extendIn(tx: Query, actor: Actor, at: Date, row: Subscription, days: number) {
  const moved = yield* moveExpiry(tx, row.uuid, extendedExpiry(row, at, days))
  yield* audit(tx, actor, formatTimestamp(at), {
    action: 'subscription.extend',
    object: row.uuid,
    detail: `tg_id=${row.tgId} days=${days}`,
  })
  return moved as Subscription
}

/**
 * Lengthens a subscription: an active one and a held one (which stays held) from their expiry on, an expired one from now on, so
 * that its client returns to the node. Throws 404, or 400 when it is revoked.
 */
export async function extend(
  s: Deps,
  actor: Actor,
  uuid: string,
  days: number,
): Promise<ListedSubscription> {
  const at = s.clock.now()
  const extended = await s.db.tx(function* (tx) {
    const found = yield* readSubscription(tx, uuid)
    if (!found) throw notFound('subscription not found')
    return { ...found, row: yield* extendIn(tx, actor, at, found.row, days) }
  })
  await s.nodeSync.touch([extended.row])
  return extended
}

/** Throws 400 for an expiry that a subscription can't have in its state. */
function checkExpiry(row: Subscription, expiresAt: string): void {
  if (!row.active) throw badRequest('subscription is revoked')
  if (row.heldAt !== null && expiresAt <= row.heldAt) {
    throw badRequest('expires_at must be later than held_at')
  }
}

/**
 * Changes a subscription. Another expiry counts at once: one in the past ends it, one in the future brings an expired one back; a
 * held one stays held. Without a change it is left as it is. Throws 404, or 400 when it is revoked or would leave its node.
 */
export async function editSubscription(
  s: Deps,
  actor: Actor,
  uuid: string,
  changes: { expiresAt?: string | undefined; node?: string | undefined },
): Promise<ListedSubscription> {
  const { expiresAt, node } = changes
  const now = formatTimestamp(s.clock.now())
  const { edited, found } = await s.db.tx(function* (tx) {
    const found = yield* readSubscription(tx, uuid)
    if (!found) throw notFound('subscription not found')
    if (node !== undefined && node !== found.row.node) {
      throw badRequest('node cannot be changed')
    }
    if (expiresAt === undefined || expiresAt === found.row.expiresAt) return { edited: null, found }
    checkExpiry(found.row, expiresAt)
    const edited = yield* moveExpiry(tx, uuid, expiresAt)
    yield* audit(tx, actor, now, {
      action: 'subscription.edit',
      object: uuid,
      detail: `tg_id=${found.row.tgId} expires_at=${expiresAt}`,
    })
    return { edited: edited as Subscription, found }
  })
  if (!edited) return found
  await s.nodeSync.touch([edited])
  return { ...found, row: edited }
}
