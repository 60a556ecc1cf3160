/** What people and the operator's webhook are told. */
import { autoId, index, insertionOrder, int, json, oneOf, table, text } from '../engine/columns.ts'
import { sql } from '../engine/orm.ts'

const SENDING = ['ready', 'sending', 'done', 'failed', 'skipped'] as const

/** Bot messages, written by the transaction that causes them. */
export const outbox = table(
  'outbox',
  {
    id: autoId('id'),
    tgId: int('tg_id').notNull(),
    kind: text('kind').notNull(),
    payload: json<Record<string, unknown>>('payload').notNull(),
    status: oneOf('status', SENDING).notNull().default('ready'),
    attempts: int('attempts').notNull().default(0),
    nextTryAt: text('next_try_at').notNull(),
    error: text('error'),
    createdAt: text('created_at').notNull(),
    doneAt: text('done_at'),
    /** The token of the bot that is to send it, where that is a former one; gone when the message is over. Null: the present bot. */
    botToken: text('bot_token'),
  },
  (t) => [
    index('outbox_ready').on(t.nextTryAt).where(sql`status = 'ready'`),
    index('outbox_open').on(t.kind).where(sql`status in ('ready', 'sending')`),
    index('outbox_former_bot').on(t.nextTryAt).where(sql`bot_token is not null`),
    index('outbox_tg_id').on(t.tgId),
    index('outbox_done_at').on(t.doneAt).where(sql`done_at is not null`),
  ],
)

/** Every outbound event with the result of its one delivery attempt. */
export const events = table(
  'events',
  {
    seq: insertionOrder('seq'),
    id: text('id').notNull().unique(),
    event: text('event').notNull(),
    /** The JSON of `data`, as it is signed and sent. */
    data: text('data').notNull(),
    status: oneOf('status', [...SENDING, 'interrupted'])
      .notNull()
      .default('ready'),
    httpStatus: int('http_status'),
    error: text('error'),
    attempts: int('attempts').notNull().default(0),
    createdAt: text('created_at').notNull(),
  },
  (t) => [
    index('events_created_at').on(t.createdAt),
    index('events_open').on(t.createdAt).where(sql`status in ('ready', 'sending')`),
  ],
)

/** The states that admins were told of as they began, and are to be told of as they end: of the machine, or of a node by its code. */
export const openAlerts = table('open_alerts', { name: text('name').primaryKey() })

export type OutboxMessage = typeof outbox.$inferSelect
export type Event = typeof events.$inferSelect
