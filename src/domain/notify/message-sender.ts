/** Sending of bot messages, in each user's order, straight through the Bot API: no bot process is needed. */

import type { Query } from '#db/engine/database.ts'
import {
  claimMessages,
  endMessages,
  handOver,
  hasDueMessages,
  type MessageTry,
  markBlocked,
  postponeMessage,
  readRecipients,
} from '#db/messages.ts'
import type { OutboxMessage } from '#db/schema/index.ts'
import { readSettings } from '#src/domain/settings.ts'
import { type BatchWorker, createBatchWorker } from '#src/lib/batch-worker.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import { DAY_MS, formatTimestamp, MINUTE_MS, SECOND_MS, timestampBefore } from '#src/lib/time.ts'
import type { SendOutcome } from '#src/ports/messenger.ts'
import type { Services } from '#src/services.ts'
import { messageButtons, messageHtml, type Recipient } from './messages.ts'

type Deps = Pick<Services, 'db' | 'config' | 'clock' | 'log' | 'telegram' | 'fatal'>

const SLOTS = 16
/** Older messages are given up. */
export const MESSAGE_TTL_MS = DAY_MS
/** Between two tries: 5 s, twice as long each time, at most this. */
const LONGEST_PAUSE_MS = 5 * MINUTE_MS
const FIRST_PAUSE_MS = 5 * SECOND_MS
/** How long a bot whose token was refused is left alone; another token counts at once. */
const REJECTED_MS = 5 * MINUTE_MS

/** What became of a try; `unwritable`: there is no text for it. */
type Outcome = SendOutcome | { outcome: 'unwritable' }
type Tried = MessageTry & { tgId: number; byFormer: boolean; result: Outcome }

/** What is noted of a try that did not succeed. */
function failureOf(result: Outcome): string {
  switch (result.outcome) {
    case 'sent':
      return ''
    case 'unknown':
      return `maybe delivered: ${result.reason}`
    case 'rejected':
      return 'Telegram rejects the token of the bot'
    case 'unwritable':
      return 'there is nobody to write it for'
    default:
      return result.reason
  }
}

/** Whether a message may be sent again: surely nothing was delivered, and that may change. */
const mayTryAgain = ({ outcome }: Outcome) => outcome === 'later' || outcome === 'rejected'

/** How long the bot as a whole is told to wait. */
const quietMs = (result: Outcome) => (result.outcome === 'later' ? result.retryAfterMs : null)

function pauseMs({ attempts, result }: Tried): number {
  if (result.outcome === 'rejected') return FIRST_PAUSE_MS
  return quietMs(result) ?? Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS)
}

function* noteTries(tx: Query, tries: Tried[], now: Date) {
  const at = formatTimestamp(now)
  const sent = tries.filter(({ result }) => result.outcome === 'sent')
  yield* endMessages(tx, sent, { status: 'done', error: null, at })
  // Only the present bot's word counts: a former one is another chat.
  const idsOf = (list: Tried[]) => list.flatMap(({ tgId, byFormer }) => (byFormer ? [] : [tgId]))
  if (sent.length > 0) yield* markBlocked(tx, idsOf(sent), null)
  for (const one of tries.filter((tried) => !sent.includes(tried))) {
    const error = failureOf(one.result)
    if (one.byFormer && one.result.outcome === 'rejected') {
      yield* handOver(tx, one, { at, error })
    } else if (mayTryAgain(one.result)) {
      // Rounded up: stored times have no fractions, and Telegram counts a message that comes too early.
      const nextTryAt = formatTimestamp(new Date(now.getTime() + pauseMs(one) + SECOND_MS - 1))
      yield* postponeMessage(tx, one, { nextTryAt, error })
    } else yield* endMessages(tx, [one], { status: 'failed', error, at })
  }
  const blocked = tries.filter(({ result }) => result.outcome === 'blocked')
  if (blocked.length > 0) yield* markBlocked(tx, idsOf(blocked), at)
}

interface Letter {
  row: OutboxMessage
  recipient: Recipient | undefined
  token: string
  botUsername: string
}

/** A message as it is sent; null where there is no text for it. A row that can't be read must not hold up the others. */
function write(s: Deps, { row, recipient, botUsername }: Letter) {
  try {
    const html = messageHtml(s, row, recipient)
    const buttons = messageButtons(s, row, recipient, botUsername)
    return html === null ? null : { chatId: row.tgId, html, buttons }
  } catch (error) {
    noteFault(s, 'error', 'a message could not be written', error, { id: row.id })
    return null
  }
}

/**
 * Sends what is due. Without a bot token messages wait, at most for their time; those of a former bot do not wait for the present
 * one, nor it for them.
 */
export function createMessageSender(s: Deps): BatchWorker {
  /** Until when a bot sends nothing: its token was refused, or it was told to wait, which most limits mean for all it sends. */
  let quiet = { token: '', untilMs: 0 }
  const isQuiet = (token: string) =>
    token === '' || (token === quiet.token && s.clock.monotonicMs() < quiet.untilMs)
  const heed = (token: string, result: SendOutcome) => {
    const pause = result.outcome === 'rejected' ? REJECTED_MS : quietMs(result)
    if (pause === null) return
    if (!isQuiet(token)) {
      s.log.warn('messages wait', { reason: failureOf(result), seconds: pause / SECOND_MS })
    }
    quiet = { token, untilMs: s.clock.monotonicMs() + pause }
  }
  return createBatchWorker<Letter, Tried>({
    slots: SLOTS,
    isUrgent: s.db.isCrowded,
    async exchange(tries, free) {
      const now = s.clock.now()
      const at = formatTimestamp(now)
      const settings = readSettings(s)
      const token = settings.text('BOT_TOKEN')
      const botUsername = settings.text('BOT_USERNAME')
      const senders = isQuiet(token) ? 'former' : 'all'
      const waiting = free > 0 && (await s.db.read((q) => hasDueMessages(q, at, senders)))
      if (tries.length === 0 && !waiting) return []
      return s.db.tx(function* (tx) {
        if (tries.length > 0) yield* noteTries(tx, tries, now)
        if (!waiting) return []
        const since = timestampBefore(now, MESSAGE_TTL_MS)
        const rows = yield* claimMessages(tx, free, { now: at, since, senders })
        const recipients = yield* readRecipients(
          tx,
          rows.map(({ tgId }) => tgId),
        )
        return rows.map((row) => ({
          row,
          recipient: recipients.get(row.tgId),
          token: row.botToken ?? token,
          botUsername,
        }))
      })
    },
    async work(letter) {
      const { id, attempts, tgId, botToken } = letter.row
      const tried = { id, attempts, tgId, byFormer: botToken !== null }
      const message = write(s, letter)
      if (message === null) return { ...tried, result: { outcome: 'unwritable' } }
      const result = await s.telegram.sendMessage(letter.token, message)
      if (!tried.byFormer) heed(letter.token, result)
      return { ...tried, result }
    },
  })
}
