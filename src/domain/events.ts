/** Outbound events: rows written by the transaction that causes them. */
import { insertEvent } from '#db/history.ts'
import type { Query } from '#db/open.ts'
import type { Node } from '#db/schema.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { randomUuid } from '#src/lib/random.ts'
import { nodeAndPlan } from './labels.ts'
import type { Settings } from './settings.ts'

export type EventName =
  | 'payment.paid'
  | 'subscription.granted_by_admin'
  | 'subscription.revoked'
  | 'subscription.held'
  | 'subscription.resumed'
  | 'node.added'
  /** Asked for by an admin. */
  | 'webhook.test'

/** Writes an event: ready to be sent, or skipped while no webhook URL is set. */
export function* emit(
  tx: Query,
  settings: Settings,
  at: string,
  event: EventName,
  data: Record<string, unknown>,
) {
  yield* insertEvent(tx, {
    id: randomUuid(),
    event,
    data: JSON.stringify(data),
    status: settings.text('WEBHOOK_URL') === '' ? 'skipped' : 'ready',
    createdAt: at,
  })
}

/** `data` of a subscription event: no token, link or key. */
export function subscriptionData(found: ListedSubscription) {
  const { row } = found
  return {
    tg_id: row.tgId,
    username: found.username,
    ...nodeAndPlan(found),
    subscription_uuid: row.uuid,
    expires_at: row.expiresAt,
  }
}

/** `data` of node.added. */
export function nodeData(node: Node) {
  const { code, label, kind, address, port } = node
  return { code, label, kind, address, port }
}
