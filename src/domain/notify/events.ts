/** Outbound events: rows written by the transaction that causes them. */

import type { Query } from '#db/engine/database.ts'
import { insertEvent } from '#db/events.ts'
import type { Node } from '#db/schema/index.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import type { Actor } from '#src/domain/audit.ts'
import { isWaiting } from '#src/domain/delayed-start.ts'
import { nodeAndPlan } from '#src/domain/labels.ts'
import { readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { randomUuid } from '#src/lib/random.ts'
import { endlessOf } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import {
  OPTIONAL_EVENTS,
  type OptionalEvent,
  optionalEventsIn,
} from '#src/settings/optional-events.ts'

export const EVENTS = [
  'payment.paid',
  'subscription.granted_by_admin',
  'subscription.held',
  'subscription.resumed',
  'subscription.revoked',
  'node.added',
  /** Asked for by an admin. */
  'webhook.test',
  ...OPTIONAL_EVENTS,
] as const
export type EventName = (typeof EVENTS)[number]

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

const isOptional = (event: EventName): event is OptionalEvent =>
  OPTIONAL_EVENTS.some((one) => one === event)

/** The optional events that are ticked. */
export const tickedEvents = (settings: Settings): OptionalEvent[] =>
  optionalEventsIn(settings.text('WEBHOOK_EVENTS'))

/** Whether an event is sent: an optional one where it is ticked. */
export const isWanted = (settings: Settings, event: EventName): boolean =>
  !isOptional(event) || tickedEvents(settings).includes(event)

/** Writes an optional event where it is ticked. */
export function* emitTicked(
  tx: Query,
  s: Pick<Services, 'config'>,
  at: string,
  event: OptionalEvent,
  data: Record<string, unknown>,
) {
  const settings = yield* readSettingsIn(tx, s)
  if (isWanted(settings, event)) yield* emit(tx, settings, at, event, data)
}

/** `data` of an optional event: who did it (null: the operator at the machine), from where, and to whom. */
export const securityData = ({ admin, ip }: Actor, more: { username?: string } = {}) => ({
  admin,
  ip,
  ...more,
})

/** `data` of a subscription event: no token, link or key. */
export function subscriptionData(found: ListedSubscription, now: string) {
  const { row } = found
  return {
    tg_id: row.tgId,
    username: found.username,
    ...nodeAndPlan(found),
    subscription_uuid: row.uuid,
    expires_at: row.expiresAt,
    ...endlessOf(row.expiresAt),
    ...(isWaiting(row, now) ? { start: 'first_use', start_seconds: row.startSeconds } : {}),
  }
}

/** `data` of node.added. */
export function nodeData(node: Node) {
  const { code, label, kind, address, port } = node
  return { code, label, kind, address, port }
}
