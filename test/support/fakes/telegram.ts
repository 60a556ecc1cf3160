/** The Bot API on loopback, as far as it is used: https://core.telegram.org/bots/api */
import type { InlineKeyboardMarkup, Message, Update, User } from 'grammy/types'
import {
  type ChatMessage,
  createBotChats,
  isPicture,
  type Keyboard,
  keyboardFault,
  textFault,
} from './bot-chats.ts'
import { accept, createBotUpdates, type NewUpdate, refusal } from './bot-updates.ts'
import { readMultipart } from './multipart-fields.ts'
import { createFakeStars, type FakeStars } from './stars.ts'
import { type FakeSystem, type Mood, type Reply, startFakeSystem } from './system.ts'

export type { ChatMessage } from './bot-chats.ts'

export interface Person {
  id: number
  first_name?: string
  username?: string
  language_code?: string
}

export interface Call {
  token: string
  method: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of unknown shape
  params: any
}

export interface SentMessage {
  token: string
  chat_id: number
  text: string
  parse_mode?: string
  link_preview_options?: { is_disabled?: boolean }
  reply_markup?: InlineKeyboardMarkup
}

export interface FakeTelegram extends FakeSystem {
  /** Usernames of bots by token. */
  bots: Record<string, string>
  /** Whether it has had enough of requests. */
  flooded: boolean
  /** How many of the next calls other than getUpdates are refused with 429. */
  floods: number
  /** How long those are told to wait. */
  floodSeconds: number
  /** What is wrong with some methods. */
  moods: Record<string, Mood>
  /** How long some methods take. */
  delays: Record<string, number>
  /** What was delivered by sendMessage, oldest first, as it was sent. */
  sent: SentMessage[]
  /** Chats whose user has blocked the bot. */
  blocked: Set<number>
  /** Chats that never were. */
  strangers: Set<number>
  stars: FakeStars
  /** Every call with its parameters, oldest first. */
  calls: Call[]
  /** The calls of one method. */
  callsOf(method: string): Call[]
  /** Messages of bots in a chat as they stand after edits, oldest first. */
  chat(chatId: number): ChatMessage[]
  updates: ReturnType<typeof createBotUpdates>
  /** An update for a bot; gives its id, or null when the bot does not want its kind. */
  push(token: string, update: NewUpdate): number | null
  /** Somebody writes to a bot (the first one, unless a token is given). */
  say(person: Person, text: string, token?: string): number | null
  /** Somebody taps the button with that text. Gives the id of the callback query, or the button's URL or text to copy. */
  tap(person: Person, message: ChatMessage, text: string): string
  /** Somebody blocks a bot, or takes that back. */
  setBlocked(person: Person, blocked: boolean, token?: string): void
  /** A token is no bot's any more. */
  revoke(token: string): void
}

/** A person as the Bot API shows them. */
export const userOf = (person: Person): User => ({ first_name: 'Ada', is_bot: false, ...person })

type Api = FakeTelegram & { chats: ReturnType<typeof createBotChats>; queries: Set<string> }
// biome-ignore lint/suspicious/noExplicitAny: a request's body
type Method = (api: Api, token: string, params: any) => Reply

const bad = (description: string) => refusal(400, `Bad Request: ${description}`)
const tooMany = (seconds: number) =>
  refusal(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds })
const nowSeconds = () => Math.floor(Date.now() / 1000)

/** A message as the Bot API shows it. */
function shown(api: Pick<Api, 'bots'>, message: ChatMessage) {
  const { token, message_id, chat_id, text, caption, photo, reply_markup } = message
  return {
    message_id,
    date: nowSeconds(),
    from: botUser(api, token),
    chat: { id: chat_id, type: 'private', first_name: 'Ada' },
    ...(text === undefined ? {} : { text }),
    ...(caption === undefined ? {} : { caption }),
    ...(photo
      ? {
          photo: [
            {
              file_id: `photo${message_id}`,
              file_unique_id: `p${message_id}`,
              width: 1,
              height: 1,
            },
          ],
        }
      : {}),
    ...(reply_markup ? { reply_markup } : {}),
  } as never as Message
}

function botUser({ bots }: Pick<Api, 'bots'>, token: string) {
  const id = Number(token.split(':')[0])
  return { id, is_bot: true, first_name: 'Bot', username: bots[token], can_join_groups: true }
}

/** What is said against any message to a chat; null: nothing. */
function chatFault({ blocked, strangers }: Api, chatId: number): Reply | null {
  if (blocked.has(chatId)) return refusal(403, 'Forbidden: bot was blocked by the user')
  return strangers.has(chatId) ? bad('chat not found') : null
}

function deliver(api: Api, message: Omit<ChatMessage, 'message_id'>, fault: string | null): Reply {
  const refused = chatFault(api, message.chat_id)
  if (refused) return refused
  const wrong = fault ?? keyboardFault(message.reply_markup)
  if (wrong) return bad(wrong)
  return accept(shown(api, api.chats.add(message)))
}

/** Changes a message, unless it is not there, or stays as it is. */
function edit(
  api: Api,
  token: string,
  params: { chat_id: number; message_id: number; reply_markup?: Keyboard },
  change: Partial<ChatMessage>,
  fault: (message: ChatMessage) => string | null,
): Reply {
  const message = api.chats.find(token, Number(params.chat_id), Number(params.message_id))
  if (!message) return bad('message to edit not found')
  const wrong = fault(message) ?? keyboardFault(params.reply_markup)
  if (wrong) return bad(wrong)
  const { reply_markup: _, ...rest } = message
  const { reply_markup } = params
  const edited: ChatMessage = { ...rest, ...change, ...(reply_markup ? { reply_markup } : {}) }
  const content = ({ text, caption, reply_markup }: ChatMessage) =>
    JSON.stringify([text, caption, reply_markup?.inline_keyboard ?? []])
  if (content(edited) === content(message)) {
    return bad(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    )
  }
  if (!reply_markup) delete message.reply_markup
  return accept(shown(api, Object.assign(message, edited)))
}

const METHODS: Record<string, Method> = {
  getMe: (api, token) => accept(botUser(api, token)),
  sendMessage(api, token, params) {
    const { chat_id, text = '', parse_mode, reply_markup } = params
    const message = { token, chat_id: Number(chat_id), text, parse_mode, reply_markup }
    const reply = deliver(api, message, textFault(text, parse_mode, 4096))
    if (reply.status === 200) api.sent.push({ ...params, token })
    return reply
  },
  sendPhoto(api, token, params) {
    const { chat_id, caption = '', parse_mode, photo, reply_markup } = params
    if (!(photo instanceof Uint8Array)) return bad('there is no photo in the request')
    const message = { token, chat_id: Number(chat_id), caption, parse_mode, photo, reply_markup }
    const fault = isPicture(photo) ? textFault(caption, parse_mode, 1024) : 'IMAGE_PROCESS_FAILED'
    return deliver(api, message, fault)
  },
  editMessageText: (api, token, params) =>
    edit(api, token, params, { text: params.text, parse_mode: params.parse_mode }, ({ text }) =>
      text === undefined
        ? 'there is no text in the message to edit'
        : textFault(params.text ?? '', params.parse_mode, 4096),
    ),
  editMessageCaption: (api, token, params) =>
    edit(api, token, params, { caption: params.caption ?? '' }, ({ photo }) =>
      photo
        ? textFault(params.caption ?? '', params.parse_mode, 1024)
        : 'there is no caption in the message to edit',
    ),
  editMessageReplyMarkup: (api, token, params) => edit(api, token, params, {}, () => null),
  deleteMessage(api, token, { chat_id, message_id }) {
    const message = api.chats.find(token, Number(chat_id), Number(message_id))
    if (!message) return bad('message to delete not found')
    api.chats.remove(message)
    return accept(true)
  },
  answerCallbackQuery(api, _token, { callback_query_id, text = '' }) {
    if (text.length > 200) return bad('MESSAGE_TOO_LONG')
    if (api.queries.has(callback_query_id)) return accept(true)
    return bad('query is too old and response timeout expired or query ID is invalid')
  },
  answerPreCheckoutQuery: (_api, _token, { ok, error_message }) =>
    ok || error_message ? accept(true) : bad("can't parse error_message"),
  deleteWebhook(api, token, { drop_pending_updates }) {
    api.updates.setWebhook(token, '')
    return drop_pending_updates ? bad('this service must not drop updates') : accept(true)
  },
  setMyCommands(_api, _token, { commands }) {
    const fits = ({ command = '', description = '' }) =>
      /^[a-z0-9_]{1,32}$/.test(command) && description.length >= 1 && description.length <= 256
    if (!Array.isArray(commands) || commands.length > 100) return bad("can't parse commands")
    return commands.every(fits) ? accept(true) : bad('BOT_COMMAND_INVALID')
  },
  leaveChat: () => accept(true),
  sendChatAction: (api, _token, { chat_id }) => chatFault(api, Number(chat_id)) ?? accept(true),
}

/** The parameters of a call: JSON, or a form with files and JSON in its fields. */
// biome-ignore lint/suspicious/noExplicitAny: tests read fields of unknown shape
function readParams(bytes: Buffer, contentType = ''): Record<string, any> {
  if (!contentType.startsWith('multipart/'))
    return bytes.length > 0 ? JSON.parse(String(bytes)) : {}
  const { fields, files } = readMultipart(bytes, contentType)
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const params: Record<string, any> = { ...fields, ...Object.fromEntries(files) }
  for (const [name, value] of Object.entries(fields)) {
    if (value.startsWith('attach://')) params[name] = files.get(value.slice('attach://'.length))
    if (name === 'reply_markup') params[name] = JSON.parse(value)
  }
  return params
}

/** What people do; `api` brings it to the bots. */
function people(api: Api): Pick<FakeTelegram, 'push' | 'say' | 'tap' | 'setBlocked'> {
  const firstBot = () => Object.keys(api.bots)[0] as string
  const push = (token: string, update: NewUpdate) => api.updates.push(token, update)
  return {
    push,
    say(person, text, token = firstBot()) {
      const [command = ''] = /^\/\w+/.exec(text) ?? []
      const message = {
        message_id: api.chats.takeId(),
        date: nowSeconds(),
        from: userOf(person),
        chat: { id: person.id, type: 'private', first_name: 'Ada' },
        text,
        ...(command
          ? { entities: [{ type: 'bot_command', offset: 0, length: command.length }] }
          : {}),
      }
      return push(token, { message } as NewUpdate)
    },
    tap(person, message, text) {
      const buttons = message.reply_markup?.inline_keyboard.flat() ?? []
      const button = buttons.find((one) => one.text === text)
      if (!button) throw new Error(`no button ${text} but ${buttons.map((one) => one.text)}`)
      if ('url' in button) return button.url
      if ('copy_text' in button) return button.copy_text.text
      if (!('callback_data' in button)) throw new Error(`${text} can't be tapped`)
      const id = `${person.id}${api.queries.size + 1}`
      api.queries.add(id)
      const callback_query = {
        id,
        from: userOf(person),
        chat_instance: '1',
        data: button.callback_data,
        message: shown(api, message),
      }
      push(message.token, { callback_query } as NewUpdate)
      return id
    },
    setBlocked(person, blocked, token = firstBot()) {
      if (blocked) api.blocked.add(person.id)
      else api.blocked.delete(person.id)
      const bot = botUser(api, token)
      const member = { status: 'member', user: bot }
      const kicked = { status: 'kicked', user: bot, until_date: 0 }
      const my_chat_member = {
        chat: { id: person.id, type: 'private', first_name: 'Ada' },
        from: userOf(person),
        date: nowSeconds(),
        old_chat_member: blocked ? member : kicked,
        new_chat_member: blocked ? kicked : member,
      }
      push(token, { my_chat_member } as never as Update)
    },
  }
}

export async function startFakeTelegram(bots: Record<string, string>): Promise<FakeTelegram> {
  const stars = createFakeStars()
  const answer = (token: string, method: string, params: Call['params']): Reply => {
    if (fake.floods > 0 && fake.floods--) return tooMany(fake.floodSeconds)
    const aboutStars = stars.answer(token, method, params)
    if (aboutStars) return aboutStars
    return METHODS[method]?.(api, token, params) ?? refusal(404, 'Not Found: method not found')
  }
  const system = await startFakeSystem(async ({ path, headers }, { bytes, gone }) => {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? []
    if (!/^\d+:[\w-]+$/.test(token)) return refusal(404, 'Not Found')
    if (fake.bots[token] === undefined) return refusal(401, 'Unauthorized')
    if (fake.flooded) return tooMany(5)
    const params = readParams(bytes, headers['content-type'])
    fake.calls.push({ token, method, params })
    const mood = fake.moods[method]
    const delayMs = fake.delays[method] ?? 0
    if (method !== 'getUpdates') return { ...answer(token, method, params), mood, delayMs }
    const atOnce = Boolean(mood ?? fake.mood)
    return { ...(await fake.updates.getUpdates(token, params, gone, atOnce)), mood, delayMs }
  })
  const { reset } = system
  const chats = createBotChats()
  const queries = new Set<string>()
  const fake: FakeTelegram = Object.assign(system, {
    bots,
    flooded: false,
    floods: 0,
    floodSeconds: 1,
    moods: {},
    delays: {},
    sent: [],
    blocked: new Set<number>(),
    strangers: new Set<number>(),
    stars: stars.fake,
    calls: [],
    callsOf: (name: string) => fake.calls.filter(({ method }) => method === name),
    chat: (chatId: number) => chats.messages.filter(({ chat_id }) => chat_id === chatId),
    updates: createBotUpdates(),
    revoke(token: string) {
      delete fake.bots[token]
      fake.updates.revoke(token)
    },
    reset() {
      reset()
      stars.fake.reset()
      fake.flooded = false
      fake.floods = 0
      fake.floodSeconds = 1
      fake.moods = {}
      fake.delays = {}
      fake.sent.length = 0
      fake.calls.length = 0
      fake.blocked.clear()
      fake.strangers.clear()
      fake.updates.reset()
      chats.reset()
    },
  } as never as Omit<FakeTelegram, keyof FakeSystem>)
  const api: Api = Object.assign(fake, { chats, queries })
  return Object.assign(fake, people(api))
}
