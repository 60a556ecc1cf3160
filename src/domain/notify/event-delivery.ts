/** Delivery of outbound events: one attempt each, by whichever process comes first, and again only when an admin asks for it. */

import type { Query } from '#db/engine/database.ts'
import {
  claimEventAgain,
  claimEvents,
  type EventResult,
  hasReadyEvents,
  insertEvent,
  noteEventResults,
  readEvent,
  skipReadyEvents,
} from '#db/events.ts'
import type { Event } from '#db/schema/index.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { type BatchWorker, createBatchWorker } from '#src/lib/batch-worker.ts'
import { randomUuid } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { WebhookReceiver } from '#src/ports/event-sender.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import type { OptionalEvent } from '#src/settings/optional-events.ts'
import { type EventName, tickedEvents } from './events.ts'

type Deps = Pick<Services, 'db' | 'config' | 'clock' | 'eventSender'>

/** A receiver that never answers holds so many attempts for ten seconds; a crash interrupts so many at most. */
const SLOTS = 32

/** Where events are sent, as it is set at this moment. */
const receiverOf = (settings: Settings): WebhookReceiver => ({
  url: settings.text('WEBHOOK_URL'),
  secret: settings.text('WEBHOOK_SECRET'),
})

type Claimed = Pick<Event, 'id' | 'event' | 'data' | 'createdAt' | 'attempts'>

/** The body of an event; `type` is what readers of Standard Webhooks look at. */
export function eventBody({ id, event, data, createdAt }: Omit<Claimed, 'attempts'>): string {
  const head = JSON.stringify({ id, event, type: event, created_at: createdAt })
  return `${head.slice(0, -1)},"data":${data}}`
}

/** Makes the attempt that was claimed. Never throws. */
async function attempt(s: Deps, claimed: Claimed, receiver: WebhookReceiver): Promise<EventResult> {
  const { id, event, attempts } = claimed
  if (receiver.secret === '') {
    const error = 'there is no secret to sign it with: generate one'
    return { id, attempts, status: 'failed', httpStatus: null, error }
  }
  const body = eventBody(claimed)
  const request = { ...receiver, id, event, body, at: s.clock.now() }
  const { httpStatus, error } = await s.eventSender.send(request)
  return { id, attempts, status: error === null ? 'done' : 'failed', httpStatus, error }
}

/** Delivers what waits. While no address is set, what waits is given up. */
export function createEventDelivery(s: Deps): BatchWorker {
  return createBatchWorker<{ event: Event; receiver: WebhookReceiver }, EventResult>({
    slots: SLOTS,
    // Payments are granted before what they cause is told.
    isUrgent: s.db.isCrowded,
    async exchange(results, free) {
      const waiting = free > 0 && (await s.db.read(hasReadyEvents))
      if (results.length === 0 && !waiting) return []
      return s.db.tx(function* (tx) {
        yield* noteEventResults(tx, results)
        if (!waiting) return []
        const receiver = receiverOf(yield* readSettingsIn(tx, s))
        if (receiver.url !== '') {
          return (yield* claimEvents(tx, free)).map((event) => ({ event, receiver }))
        }
        yield* skipReadyEvents(tx)
        return []
      })
    },
    work: ({ event, receiver }) => attempt(s, event, receiver),
  })
}

function requireReceiver(settings: Settings): WebhookReceiver {
  const receiver = receiverOf(settings)
  if (receiver.url === '') throw refusal('no-webhook-address')
  return receiver
}

async function finish(s: Deps, claimed: Claimed, receiver: WebhookReceiver): Promise<EventResult> {
  const result = await attempt(s, claimed, receiver)
  await s.db.tx((tx) => noteEventResults(tx, [result]))
  return result
}

/**
 * Sends an event again, with its id, and waits for the result: at most 10 s. Throws 404, or 400 while no address is set or an
 * attempt is under way.
 */
export async function resendEvent(s: Deps, actor: Actor, id: string): Promise<EventResult> {
  const at = formatTimestamp(s.clock.now())
  const { event, receiver } = await s.db.tx(function* (tx) {
    if (!(yield* readEvent(tx, id))) throw refusal('event-not-found')
    const receiver = requireReceiver(yield* readSettingsIn(tx, s))
    const event = yield* claimEventAgain(tx, id)
    if (!event) throw refusal('event-under-way')
    yield* audit(tx, actor, at, { action: 'event.resend', object: id })
    return { event, receiver }
  })
  return finish(s, event, receiver)
}

/**
 * Writes an optional event for a receiver that was to get it before the settings were replaced, where it is not the one that gets it
 * now. Gives what sends it, to be called after the commit; null where there is nothing to send.
 */
export function* emitToFormer(
  tx: Query,
  s: Deps,
  at: string,
  former: WebhookReceiver,
  what: { event: OptionalEvent; data: Record<string, unknown> },
) {
  const settings = yield* readSettingsIn(tx, s)
  const { url, secret } = receiverOf(settings)
  const isPresent = url === former.url && secret === former.secret
  if (isPresent && tickedEvents(settings).includes(what.event)) return null
  const data = JSON.stringify(what.data)
  const row = { id: randomUuid(), event: what.event, data, createdAt: at, attempts: 1 }
  yield* insertEvent(tx, { ...row, status: 'sending' })
  return () => finish(s, row, former)
}

/** Sends an event without data, so that an admin sees whether their receiver accepts it. Throws 400 while no address is set. */
export async function sendTestEvent(s: Deps, actor: Actor): Promise<EventResult> {
  const createdAt = formatTimestamp(s.clock.now())
  const event: EventName = 'webhook.test'
  const row = { id: randomUuid(), event, data: '{}', createdAt, attempts: 1 }
  const receiver = await s.db.tx(function* (tx) {
    const receiver = requireReceiver(yield* readSettingsIn(tx, s))
    yield* insertEvent(tx, { ...row, status: 'sending' })
    yield* audit(tx, actor, createdAt, { action: 'webhook.test' })
    return receiver
  })
  return finish(s, row, receiver)
}
