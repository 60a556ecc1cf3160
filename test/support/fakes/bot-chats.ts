/** Messages of a bot as they stand in its chats, and what Telegram says against a new one (core.telegram.org/bots/api#sendmessage). */
import type { InlineKeyboardButton, InlineKeyboardMarkup } from 'grammy/types'

export interface ChatMessage {
  token: string
  message_id: number
  chat_id: number
  /** As the bot wrote it, tags included. */
  text?: string
  caption?: string
  photo?: Uint8Array
  parse_mode?: string
  reply_markup?: InlineKeyboardMarkup
}

export type Keyboard = InlineKeyboardMarkup | undefined

/** https://core.telegram.org/bots/api#html-style */
const TAGS = /^(?:b|strong|i|em|u|ins|s|strike|del|code|pre|a|span|tg-spoiler|tg-emoji|blockquote)$/

/** What Telegram says against a text in HTML; null: nothing. */
function htmlFault(text: string): string | null {
  const open: string[] = []
  for (const [whole, slash, name = ''] of text.matchAll(/<(\/?)([a-z0-9-]*)[^<>]*>|</gi)) {
    if (whole === '<' || !TAGS.test(name.toLowerCase())) {
      return `can't parse entities: Unsupported start tag "${name}"`
    }
    if (!slash) open.push(name)
    else if (open.pop() !== name) return "can't parse entities: Unexpected end tag"
  }
  return open.length > 0 ? "can't parse entities: Can't find end tag" : null
}

/** The text without its tags, as its length counts. */
export const shownText = (text: string) =>
  text.replace(/<[^<>]*>/g, '').replace(/&(?:lt|gt|amp|quot);/g, '.')

/** What Telegram says against a text or caption; null: nothing. */
export function textFault(text: string, parseMode: string | undefined, most: number) {
  const fault = parseMode === 'HTML' ? htmlFault(text) : null
  if (fault) return fault
  const { length } = parseMode === 'HTML' ? shownText(text) : text
  if (length > most) return most === 4096 ? 'message is too long' : 'message caption is too long'
  return length === 0 && most === 4096 ? 'message text is empty' : null
}

function urlFault(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  const wrong = (reason: string) => `inline keyboard button URL '${text}' is invalid: ${reason}`
  if (!url) return wrong('Wrong HTTP URL')
  if (url.protocol === 'tg:') return null
  if (!/^https?:$/.test(url.protocol)) return wrong('Unsupported URL protocol')
  // Telegram takes no bare host names: no `localhost`.
  return /[.:]/.test(url.hostname) ? null : wrong('Wrong HTTP URL')
}

/** https://core.telegram.org/bots/api#inlinekeyboardbutton */
function buttonFault(button: InlineKeyboardButton): string | null {
  if (!button.text) return 'can\'t parse inline keyboard button: Field "text" must be non-empty'
  const {
    text: _,
    style: _style,
    icon_custom_emoji_id: _icon,
    ...action
  } = button as never as Record<string, unknown>
  const [kind, ...more] = Object.keys(action)
  if (!kind || more.length > 0) return 'Text buttons are unallowed in the inline keyboard'
  if ('callback_data' in button) {
    const bytes = Buffer.byteLength(button.callback_data)
    return bytes >= 1 && bytes <= 64 ? null : 'BUTTON_DATA_INVALID'
  }
  if ('url' in button) return urlFault(button.url)
  if ('copy_text' in button) {
    const { length } = button.copy_text.text
    return length >= 1 && length <= 256 ? null : 'BUTTON_COPY_TEXT_INVALID'
  }
  return null
}

/** What Telegram says against a keyboard; null: nothing. */
export function keyboardFault(markup: Keyboard): string | null {
  const buttons = markup?.inline_keyboard?.flat() ?? []
  if (buttons.length > 100) return 'reply markup is too long'
  return buttons.map(buttonFault).find((fault) => fault !== null) ?? null
}

/** Whether bytes begin as a picture that Telegram shows. */
export const isPicture = (bytes: Uint8Array) => {
  const head = Buffer.from(bytes.subarray(0, 8)).toString('hex')
  return head === '89504e470d0a1a0a' || head.startsWith('ffd8ff')
}

export function createBotChats() {
  const messages: ChatMessage[] = []
  let nextId = 1
  return {
    messages,
    add(message: Omit<ChatMessage, 'message_id'>): ChatMessage {
      const made = { ...message, message_id: nextId++ }
      messages.push(made)
      return made
    },
    find: (token: string, chatId: number, messageId: number) =>
      messages.find(
        (one) => one.token === token && one.chat_id === chatId && one.message_id === messageId,
      ),
    remove(message: ChatMessage) {
      messages.splice(messages.indexOf(message), 1)
    },
    /** Ids are shared with what people write, as in a real chat. */
    takeId: () => nextId++,
    reset() {
      messages.length = 0
    },
  }
}
