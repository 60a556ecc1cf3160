/** A subscription changed by an admin: how long it lasts, by days or to a time, and on which node. */

import type { Query } from '#db/engine/database.ts'
import { readNode } from '#db/nodes.ts'
import type { Subscription } from '#db/schema/index.ts'
import {
  type ListedSubscription,
  moveExpiry,
  moveSubscription,
  readSubscription,
} from '#db/subscriptions.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { addDays, formatTimestamp, LAST_MS, parseTimestamp } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { readBeforeMove, TOUCH_MS } from './moves.ts'
import { subscriptionState } from './subscriptions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'nodeSync'>

/** Until when a subscription lasts with so many days more: from its expiry on, or from now on where it has run out. Throws 400. */
export function extendedExpiry(row: Subscription, at: Date, days: number): string {
  const state = subscriptionState(row, formatTimestamp(at))
  if (state === 'revoked') throw refusal('subscription-revoked')
  const end = addDays(state === 'expired' ? at : parseTimestamp(row.expiresAt), days)
  if (end.getTime() > LAST_MS) throw fieldRefusal('expires_at', 'too-late')
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
    if (!found) throw refusal('subscription-not-found')
    return { ...found, row: yield* extendIn(tx, actor, at, found.row, days) }
  })
  await s.nodeSync.touch([extended.row])
  return extended
}

/** Throws 400 for an expiry that a subscription can't have in its state. */
function checkExpiry(row: Subscription, expiresAt: string): void {
  if (row.heldAt !== null && expiresAt <= row.heldAt) {
    throw fieldRefusal('expires_at', 'before-the-pause')
  }
}

interface Edition {
  expiresAt?: string | undefined
  node?: string | undefined
}

/** What of an edition is another value than the present one. Throws 400 for what the subscription can't have. */
function* changesOf(tx: Query, row: Subscription, { expiresAt, node }: Edition) {
  const moves = node !== undefined && node !== row.node
  const lasts = expiresAt !== undefined && expiresAt !== row.expiresAt
  if ((moves || lasts) && !row.active) throw refusal('subscription-revoked')
  if (lasts) checkExpiry(row, expiresAt)
  if (moves && !(yield* readNode(tx, node))) throw refusal('unknown-node')
  return omitUndefined({ expiresAt: lasts ? expiresAt : undefined, node: moves ? node : undefined })
}

function* editIn(tx: Query, actor: Actor, at: Date, found: ListedSubscription, edition: Edition) {
  const { uuid, tgId } = found.row
  const { expiresAt, node } = yield* changesOf(tx, found.row, edition)
  if (node !== undefined) yield* moveSubscription(tx, uuid, node)
  if (expiresAt !== undefined) yield* moveExpiry(tx, uuid, expiresAt)
  const details = [
    ...(expiresAt === undefined ? [] : [`expires_at=${expiresAt}`]),
    ...(node === undefined ? [] : [`node=${node}`]),
  ]
  if (details.length === 0) return found
  yield* audit(tx, actor, formatTimestamp(at), {
    action: 'subscription.edit',
    object: uuid,
    detail: [`tg_id=${tgId}`, ...details].join(' '),
  })
  return (yield* readSubscription(tx, uuid)) as ListedSubscription
}

function* readKnown(tx: Query, uuid: string) {
  const found = yield* readSubscription(tx, uuid)
  if (!found) throw refusal('subscription-not-found')
  return found
}

/**
 * Changes a subscription. Another expiry counts at once: one in the past ends it, one in the future brings an expired one back; a
 * held one stays held. On another node it has the same client and time, and pending payments for its renewal follow. Without a
 * change it is left as it is. Throws 404, or 400 when it is revoked or the node is unknown.
 */
export async function editSubscription(
  s: Deps,
  actor: Actor,
  uuid: string,
  edition: Edition,
): Promise<ListedSubscription> {
  const at = s.clock.now()
  const startedMs = s.clock.monotonicMs()
  if (edition.node !== undefined) {
    const from = await s.db.tx(function* (tx) {
      const { row } = yield* readKnown(tx, uuid)
      return (yield* changesOf(tx, row, edition)).node === undefined ? null : row.node
    })
    if (from !== null) await readBeforeMove(s, from)
  }
  const { found, edited } = await s.db.tx(function* (tx) {
    const found = yield* readKnown(tx, uuid)
    return { found, edited: yield* editIn(tx, actor, at, found, edition) }
  })
  if (edited === found) return found
  const clients = found.row.node === edited.row.node ? [edited.row] : [found.row, edited.row]
  await s.nodeSync.touch(clients, TOUCH_MS - (s.clock.monotonicMs() - startedMs))
  return edited
}
