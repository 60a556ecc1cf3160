/** A shop with its bot, and people who talk to it: updates go through `handleUpdate`, answers to the Bot API on loopback. */

import type { Update } from 'grammy/types'
import type { Bot } from 'grammy/web'
import { createBot } from '#src/bot/bot.ts'
import { createStars } from '#src/integrations/payments/stars/gateway.ts'
import { formatPrice } from '#src/lib/format.ts'
import { createFakeGateways, type FakeGateways } from '#test/support/fakes/gateway.ts'
import {
  type ChatMessage,
  type FakeTelegram,
  type Person,
  startFakeTelegram,
} from '#test/support/fakes/telegram.ts'
import { SHOP_ENVIRONMENT } from './shop.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

export const TOKEN = SHOP_ENVIRONMENT.BOT_TOKEN
/** The button of the first plan. */
export const monthIn = (lang = 'en') => `30 days · ${formatPrice(199, 'RUB', lang)}`

/** The environment of a shop whose pages Telegram opens, with one provider. */
export const ONE_PROVIDER = {
  PROVIDER_B_ENABLED: 'false',
  STARS_ENABLED: 'false',
  CRYPTOBOT_ENABLED: 'false',
}

export interface BotShop extends FakeGateways {
  w: World
  telegram: FakeTelegram
  bot: Bot
  /** Another bot on the same database, as after a restart of the process. */
  restart(): void
  /** Answers what waits at the Bot API, one after another; the time between two of a person is never short. */
  answer(): Promise<void>
  /** The same, all at once. */
  answerAtOnce(): Promise<void>
  /** Brings an update to the bot. */
  push(update: Omit<Update, 'update_id'>): Promise<void>
  user(person: Partial<Person> & { id: number }): BotUser
  /** Buys a month where nothing else is to be chosen, until there is something to pay; the payment's row. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read columns of unknown type
  order(user: BotUser): Promise<any>
  close(): Promise<void>
}

export interface BotUser {
  person: Person
  say(text: string): Promise<ChatMessage>
  /** Taps a button of the last message that has it; the last message after that. */
  tap(button: string, message?: ChatMessage): Promise<ChatMessage>
  /** The same twice at the same moment. */
  tapTwice(button: string): Promise<ChatMessage>
  /** Taps a button that says no more than its data. */
  tapData(data: string): Promise<ChatMessage>
  last(): ChatMessage
  /** All of the user's messages, as they stand. */
  messages(): ChatMessage[]
  /** A copy of the last message, as it is now. */
  keep(): ChatMessage
  /** What the last tap was answered with. */
  notice(): string | undefined
  buttons(): string[]
}

export async function createBotShop(options: WorldOptions = {}): Promise<BotShop> {
  const telegram = await startFakeTelegram({ [TOKEN]: SHOP_ENVIRONMENT.BOT_USERNAME })
  const fakes = createFakeGateways()
  const environment = {
    ...SHOP_ENVIRONMENT,
    PUBLIC_SCHEME: 'https',
    ...options.environment,
    TELEGRAM_API_URL: telegram.url,
  }
  const stars = createStars({ apiUrl: telegram.url })
  const gateways = { ...fakes.gateways, stars, ...options.gateways }
  const w = await createWorld({ ...options, gateways, environment })
  const identity = { token: TOKEN, username: SHOP_ENVIRONMENT.BOT_USERNAME }
  let answered = 0
  const take = () => {
    const waiting = telegram.updates.waiting(TOKEN).filter((one) => one.update_id > answered)
    answered = waiting.at(-1)?.update_id ?? answered
    return waiting
  }
  const settle = async () => {
    await w.s.background.idle()
  }
  const shop: BotShop = {
    ...fakes,
    w,
    telegram,
    bot: createBot(w.s, identity),
    restart() {
      shop.bot = createBot(w.s, identity)
    },
    async answer() {
      for (const update of take()) {
        w.clock.advance(1000)
        await shop.bot.handleUpdate(update)
      }
      await settle()
    },
    async answerAtOnce() {
      w.clock.advance(1000)
      await Promise.all(take().map((update) => shop.bot.handleUpdate(update)))
      await settle()
    },
    async push(update) {
      telegram.push(TOKEN, update)
      await shop.answer()
    },
    user: (person) => userOf(shop, { first_name: 'Ada', language_code: 'en', ...person }),
    async order(user) {
      await user.say('/buy')
      await user.tap(monthIn(user.person.language_code))
      return w.rows('select * from payments order by seq desc')[0]
    },
    async close() {
      await w.s.background.idle()
      w.close()
      await telegram.close()
    },
  }
  return shop
}

function userOf(shop: BotShop, person: Person): BotUser {
  const { telegram } = shop
  const messages = () => telegram.chat(person.id)
  const labels = (message: ChatMessage) =>
    (message.reply_markup?.inline_keyboard ?? []).flat().map(({ text }) => text)
  const last = () => {
    const message = messages().at(-1)
    if (!message) throw new Error('the bot has said nothing')
    return message
  }
  const bearer = (button: string) =>
    messages().findLast((message) => labels(message).includes(button)) ?? last()
  const user: BotUser = {
    person,
    messages,
    last,
    keep: () => structuredClone(last()),
    async say(text) {
      telegram.say(person, text)
      await shop.answer()
      return last()
    },
    async tap(button, message = bearer(button)) {
      telegram.tap(person, message, button)
      await shop.answer()
      return last()
    },
    async tapTwice(button) {
      const message = structuredClone(bearer(button))
      telegram.tap(person, message, button)
      telegram.tap(person, message, button)
      await shop.answerAtOnce()
      return last()
    },
    async tapData(data) {
      const message = user.keep()
      message.reply_markup = { inline_keyboard: [[{ text: '?', callback_data: data }]] }
      return user.tap('?', message)
    },
    notice: () => telegram.callsOf('answerCallbackQuery').at(-1)?.params.text,
    buttons: () => labels(last()),
  }
  return user
}
