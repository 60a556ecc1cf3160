/** Bot messages in tests. */
import { queueMessage } from '#src/domain/notify/messages.ts'
import type { World } from '#test/support/worlds/world.ts'
import { nowOf } from './records.ts'

/** The token of the shop's bot. */
export const BOT_TOKEN = '123456789:AAE-Shop_token_of_the_first_bot_xyz'

/** Queues the message of a grant, as the transaction of a grant does. */
export async function queueGranted(w: World, tgId: number, nodeLabel = 'Local'): Promise<void> {
  const payload = {
    node_label: nodeLabel,
    plan_label: '30 days',
    expires_at: '2026-03-31T22:30:00',
  }
  await w.s.db.tx((tx) => queueMessage(tx, nowOf(w), tgId, { kind: 'granted', payload }))
}

/** Sends what is due, until nothing is. */
export async function sendMessages(w: World): Promise<void> {
  w.s.nudge('messages')
  await w.s.background.idle()
}

/** The messages, oldest first. */
export const messagesOf = (w: World) =>
  w.rows('select tg_id, status, attempts, next_try_at, error, done_at from outbox order by id')
