/** Bot messages: rows that the transaction writes which causes them. */
import { field, hot } from './hot.ts'
import type { Query } from './open.ts'
import { outbox } from './schema.ts'

const add = hot<
  { tgId: number; kind: string; payload: Record<string, unknown>; now: string },
  unknown
>((q) =>
  q.insert(outbox).values({
    tgId: field('tgId'),
    kind: field('kind'),
    payload: field('payload'),
    nextTryAt: field('now'),
    createdAt: field('now'),
  }),
)

/** Queues a message to a user, to be sent at once. What the kinds and their payloads are: domain/messages.ts. */
export function* queueMessage(
  tx: Query,
  message: { tgId: number; kind: string; payload: Record<string, unknown>; now: string },
) {
  const { tgId, kind, payload, now } = message
  yield* add(tx, { tgId, kind, payload, now })
}
