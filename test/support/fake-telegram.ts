/** The Bot API, as far as it is used: https://core.telegram.org/bots/api#making-requests */
import { createFakeStars, type FakeStars } from './fake-stars.ts'
import { type FakeSystem, type Reply, startFakeSystem } from './fake-system.ts'

const refusal = (code: number, description: string, parameters?: object): Reply => ({
  status: code,
  json: { ok: false, error_code: code, description, ...(parameters ? { parameters } : {}) },
})

export interface FakeTelegram extends FakeSystem {
  /** Usernames of bots by token. */
  bots: Record<string, string>
  /** Whether it has had enough of requests. */
  flooded: boolean
  /** Messages that were delivered, oldest first. */
  sent: SentMessage[]
  /** Chats whose user has blocked the bot. */
  blocked: Set<number>
  /** Chats that never were. */
  strangers: Set<number>
  stars: FakeStars
}

export interface SentMessage {
  token: string
  chat_id: number
  text: string
  parse_mode?: string
  link_preview_options?: { is_disabled?: boolean }
}

/** https://core.telegram.org/bots/api#html-style */
const TAGS = /^(?:b|strong|i|em|u|ins|s|strike|del|code|pre|a|span|tg-spoiler|tg-emoji|blockquote)$/

/** What Telegram says against a text in HTML; null: nothing. */
function htmlFault(text: string): string | null {
  const open: string[] = []
  for (const [whole, slash, name = ''] of text.matchAll(/<(\/?)([a-z0-9-]*)[^<>]*>|</gi)) {
    if (whole === '<' || !TAGS.test(name.toLowerCase())) {
      return `Bad Request: can't parse entities: Unsupported start tag "${name}"`
    }
    if (!slash) open.push(name)
    else if (open.pop() !== name) return "Bad Request: can't parse entities: Unexpected end tag"
  }
  return open.length > 0 ? "Bad Request: can't parse entities: Can't find end tag" : null
}

/** The text without its tags, as its length counts. */
const shownText = (text: string) =>
  text.replace(/<[^<>]*>/g, '').replace(/&(?:lt|gt|amp|quot);/g, '.')

export async function startFakeTelegram(bots: Record<string, string>): Promise<FakeTelegram> {
  const stars = createFakeStars()
  const system = await startFakeSystem(({ path, body }) => {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? []
    if (!/^\d+:[\w-]+$/.test(token)) return refusal(404, 'Not Found')
    const username = fake.bots[token]
    if (username === undefined) return refusal(401, 'Unauthorized')
    if (fake.flooded) return refusal(429, 'Too Many Requests: retry after 5', { retry_after: 5 })
    if (method === 'sendMessage') return sendMessage(token, JSON.parse(body))
    const aboutStars = stars.answer(token, method, body === '' ? {} : JSON.parse(body))
    if (aboutStars) return aboutStars
    if (method !== 'getMe') return refusal(404, 'Not Found')
    const id = Number(token.split(':')[0])
    const result = { id, is_bot: true, first_name: 'Bot', username, can_join_groups: true }
    return { status: 200, json: { ok: true, result } }
  })
  const sendMessage = (token: string, message: SentMessage): Reply => {
    const { chat_id, text, parse_mode } = message
    if (fake.blocked.has(chat_id)) return refusal(403, 'Forbidden: bot was blocked by the user')
    if (fake.strangers.has(chat_id)) return refusal(400, 'Bad Request: chat not found')
    const fault = parse_mode === 'HTML' ? htmlFault(text) : null
    if (fault) return refusal(400, fault)
    if (shownText(text).length > 4096) return refusal(400, 'Bad Request: message is too long')
    fake.sent.push({ ...message, token })
    const result = { message_id: fake.sent.length, date: 1, chat: { id: chat_id }, text }
    return { status: 200, json: { ok: true, result } }
  }
  const { reset } = system
  const fake: FakeTelegram = Object.assign(system, {
    bots,
    flooded: false,
    sent: [],
    blocked: new Set<number>(),
    strangers: new Set<number>(),
    stars: stars.fake,
    reset() {
      reset()
      stars.fake.reset()
      fake.flooded = false
      fake.sent.length = 0
      fake.blocked.clear()
      fake.strangers.clear()
    },
  })
  return fake
}
