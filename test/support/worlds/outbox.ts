/** A world that sends bot messages to a fake Telegram. */
import type { FakeTelegram } from '#test/support/fakes/telegram.ts'
import { BOT_TOKEN, sendMessages } from '#test/support/rows/messages.ts'
import { addUser } from '#test/support/rows/records.ts'
import { createWorld, type World } from './world.ts'

/** With the users 7, 8 and 9; what Telegram was sent before is forgotten. */
export async function createOutboxWorld(telegram: FakeTelegram): Promise<World> {
  telegram.reset()
  const environment = { TELEGRAM_API_URL: telegram.url, BOT_TOKEN }
  const w = await createWorld({ environment, outsideTimeoutMs: 1000 })
  for (const tgId of [7, 8, 9]) addUser(w, tgId)
  return w
}

/** Sends what is due so many seconds later. */
export async function sendLater(w: World, seconds: number): Promise<void> {
  w.clock.advance(seconds * 1000)
  await sendMessages(w)
}
