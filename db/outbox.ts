/** Bot messages: rows that the transaction writes which causes them. */

import { ask, type Query, run } from './engine/database.ts'
import { and, eq, isNull, sql } from './engine/orm.ts'
import { built, field } from './engine/question.ts'
import { outbox } from './schema.ts'

interface NewMessage {
  tgId: number
  kind: string
  payload: Record<string, unknown>
  now: string
  /** Null: whichever bot there is when it is sent. */
  botToken: string | null
}

const add = built<NewMessage, unknown>((q) =>
  q.insert(outbox).values({
    tgId: field('tgId'),
    kind: field('kind'),
    payload: field('payload'),
    nextTryAt: field('now'),
    createdAt: field('now'),
    botToken: field('botToken'),
  }),
)

/** Queues a message to a user, to be sent at once. What the kinds and their payloads are: domain/notify/messages.ts. */
export function* insertMessage(_tx: Query, message: NewMessage) {
  yield* ask(add, message)
}

/** Leaves the messages of a kind that are not sent yet to the bot of this token. */
export function* assignUnsent(tx: Query, kind: string, botToken: string) {
  yield* run(
    tx
      .update(outbox)
      .set({ botToken })
      .where(
        and(
          eq(outbox.kind, kind),
          // As the index outbox_open has it.
          sql`status in ('ready', 'sending')`,
          isNull(outbox.botToken),
        ),
      ),
  )
}
