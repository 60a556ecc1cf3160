/**
 * Updates that wait for a bot (core.telegram.org/bots/api#getupdates). What the page does not say is as in Telegram's own server
 * (github.com/tdlib/telegram-bot-api, Client.cpp: process_get_updates_query, do_get_updates).
 */
import type { Update } from 'grammy/types'
import type { Reply } from './system.ts'

export type NewUpdate = Omit<Update, 'update_id'>

/** Kinds that are sent only to who names them. */
const ON_WISH = new Set(['chat_member', 'message_reaction', 'message_reaction_count'])
const REPEATED_MS = 3000
const HASTY_MS = 500

const TERMINATED =
  'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running'
const WEBHOOK_IS_SET =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"

interface Poll {
  offset: number
  limit: number
  answer(reply: Reply): void
}

interface Inbox {
  updates: Update[]
  open: Poll | null
  nextId: number
  polls: number
  allowed: string[]
  webhook: string
  lastOffset: number
  lastMs: number
}

/** What an offset leaves over; one beyond all ids that were given leaves everything. */
const afterOffset = ({ updates, nextId }: Inbox, offset: number) =>
  offset > nextId ? updates : updates.filter(({ update_id }) => update_id >= offset)

export const refusal = (code: number, description: string, parameters?: object): Reply => ({
  status: code,
  json: { ok: false, error_code: code, description, ...(parameters ? { parameters } : {}) },
})
export const accept = (result: unknown): Reply => ({ status: 200, json: { ok: true, result } })

export function createBotUpdates() {
  const inboxes = new Map<string, Inbox>()
  const of = (token: string): Inbox => {
    const found = inboxes.get(token)
    if (found) return found
    const made: Inbox = {
      updates: [],
      open: null,
      nextId: 100,
      polls: 0,
      allowed: [],
      webhook: '',
      lastOffset: -1,
      lastMs: Number.NEGATIVE_INFINITY,
    }
    inboxes.set(token, made)
    return made
  }
  const terminate = (inbox: Inbox, reply: Reply) => {
    inbox.open?.answer(reply)
    inbox.open = null
  }
  /** Gives an open poll what it waits for. */
  const wake = (inbox: Inbox) => {
    const { open } = inbox
    if (!open) return
    const found = afterOffset(inbox, open.offset)
    if (found.length > 0) terminate(inbox, accept(found.slice(0, open.limit)))
  }
  const isWanted = ({ allowed }: Inbox, update: NewUpdate) => {
    const [kind] = Object.keys(update) as [string]
    return allowed.length > 0 ? allowed.includes(kind) : !ON_WISH.has(kind)
  }
  /** The parameters of getUpdates as the server takes them: it slows down whoever asks the same again. */
  // biome-ignore lint/suspicious/noExplicitAny: a request's body
  const readWish = (inbox: Inbox, params: any) => {
    const offset = Number(params.offset ?? 0)
    const limit = Number(params.limit ?? 100)
    const timeout = Number(params.timeout ?? 0)
    if (Array.isArray(params.allowed_updates)) inbox.allowed = params.allowed_updates
    const now = performance.now()
    const sinceMs = offset === inbox.lastOffset ? now - inbox.lastMs : Number.POSITIVE_INFINITY
    inbox.lastOffset = offset
    inbox.lastMs = now
    return {
      offset,
      limit: sinceMs < HASTY_MS ? 1 : limit,
      timeout: sinceMs < REPEATED_MS ? Math.max(timeout, 3) : timeout,
    }
  }
  return {
    /** The next update of a bot, with its id; null when the bot's allowed_updates leave it out. */
    push(token: string, update: NewUpdate): number | null {
      const inbox = of(token)
      if (!isWanted(inbox, update)) return null
      const update_id = inbox.nextId++
      inbox.updates.push({ update_id, ...update })
      // As the server does: a poll takes along what comes in the same moment.
      setTimeout(() => wake(inbox), 1)
      return update_id
    },
    // biome-ignore lint/suspicious/noExplicitAny: a request's body
    getUpdates(token: string, params: any, gone: AbortSignal, atOnce: boolean) {
      const inbox = of(token)
      inbox.polls++
      if (inbox.webhook !== '') return refusal(409, WEBHOOK_IS_SET)
      const { offset, limit, timeout } = readWish(inbox, params)
      inbox.updates = afterOffset(inbox, offset)
      if (inbox.updates.length > 0 || timeout === 0 || atOnce)
        return accept(inbox.updates.slice(0, limit))
      terminate(inbox, refusal(409, TERMINATED))
      return new Promise<Reply>((resolve) => {
        const poll: Poll = { offset, limit, answer: end }
        const timer = setTimeout(() => end(accept([])), timeout * 1000)
        function end(reply: Reply) {
          clearTimeout(timer)
          if (inbox.open === poll) inbox.open = null
          resolve(reply)
        }
        inbox.open = poll
        gone.addEventListener('abort', () => end(accept([])))
      })
    },
    setWebhook(token: string, url: string) {
      const inbox = of(token)
      inbox.webhook = url
      if (url === '') return
      terminate(inbox, refusal(409, 'Conflict: terminated by setWebhook request'))
    },
    webhookOf: (token: string) => of(token).webhook,
    /** Ends the open poll of a token that is none any more. */
    revoke: (token: string) => terminate(of(token), refusal(401, 'Unauthorized')),
    /** From which id a bot's updates go on. */
    restartIds(token: string, nextId: number) {
      of(token).nextId = nextId
    },
    /** How many getUpdates a bot has made. */
    polls: (token: string) => inboxes.get(token)?.polls ?? 0,
    /** Whether a long poll is open. */
    isPolling: (token: string) => Boolean(inboxes.get(token)?.open),
    /** Updates that were not confirmed yet. */
    waiting: (token: string): Update[] => [...(inboxes.get(token)?.updates ?? [])],
    reset() {
      for (const inbox of inboxes.values()) {
        inbox.updates = []
        inbox.polls = 0
        inbox.webhook = ''
        inbox.allowed = []
        inbox.lastMs = Number.NEGATIVE_INFINITY
      }
    },
  }
}
