/** Messages of the bot, and whose it is (core.telegram.org/bots/api). */
import { errorCode } from '#src/lib/errors.ts'
import type { Log } from '#src/lib/log.ts'
import { SECOND_MS } from '#src/lib/time.ts'
import type { SendOutcome, Telegram } from '#src/ports/messenger.ts'
import { callBotApi, retryAfterMs } from './bot-api.ts'

interface Options {
  apiUrl: string
  log: Log
  timeoutMs?: number
}

/** A flood of which Telegram does not say how long it lasts. */
const FLOOD_MS = 5 * SECOND_MS

/** What an answer to getMe says; null when it is none of the Bot API. */
function readIdentity(
  status: number,
  answer: Record<string, unknown>,
): { username: string } | 'rejected' | null {
  if (answer.ok === false) {
    return status >= 400 && status < 500 && status !== 429 ? 'rejected' : null
  }
  const { username } = (answer.result ?? {}) as { username?: unknown }
  return status === 200 && typeof username === 'string' && /^\w{1,64}$/.test(username)
    ? { username }
    : null
}

/**
 * Failures before a byte of the request was sent: no connection, none to the one meant, no agreement on TLS (`ERR_SSL_…` on Node,
 * `EPROTO` on Bun). A record that can't be deciphered is none of these: it may come after the request.
 */
const NOT_SENT =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EINVAL|EPROTO|UND_ERR_CONNECT_TIMEOUT|(?:CERT_|ERR_TLS_|ERR_SSL_(?!.*BAD_RECORD)|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_).*)$/

/** Telegram's own words, which quote no more than what was sent to it. */
const descriptionOf = ({ description }: Record<string, unknown>) =>
  typeof description === 'string' ? description.slice(0, 200) : 'refused'

/** What an answer to sendMessage says (core.telegram.org/bots/api#making-requests). */
function readSendOutcome(status: number, answer: Record<string, unknown> | null): SendOutcome {
  const reason = answer ? descriptionOf(answer) : `answered ${status}`
  if (status >= 500) return { outcome: 'later', reason, retryAfterMs: null }
  if (status === 429) {
    return { outcome: 'later', reason, retryAfterMs: retryAfterMs(answer) ?? FLOOD_MS }
  }
  if (answer?.ok === true && status === 200) return { outcome: 'sent' }
  // A proxy or a portal may answer anything: only what Telegram itself says counts against a user or the token.
  if (answer?.ok !== false) return { outcome: 'unknown', reason: `answered ${status}` }
  if (status === 401 || status === 404) return { outcome: 'rejected' }
  return { outcome: status === 403 ? 'blocked' : 'refused', reason }
}

/** The messaging platform at `apiUrl`. */
export function createTelegram({ apiUrl, log, timeoutMs = 10_000 }: Options): Telegram {
  return {
    async identify(token) {
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const { status, body } = await callBotApi({ apiUrl, token, method: 'getMe', signal })
        const identity = body && readIdentity(status, body)
        if (identity) return identity
        log.warn('Telegram gave no usable answer', { method: 'getMe', status })
      } catch (error) {
        log.warn('Telegram could not be asked', { method: 'getMe', reason: reasonOf(error) })
      }
      return 'unreachable'
    },
    async sendMessage(token, { chatId, html, buttons = [] }) {
      try {
        const { status, body } = await callBotApi({
          apiUrl,
          token,
          method: 'sendMessage',
          params: {
            chat_id: chatId,
            text: html,
            parse_mode: 'HTML',
            link_preview_options: { is_disabled: true },
            ...(buttons.length > 0
              ? { reply_markup: { inline_keyboard: buttons.map((button) => [button]) } }
              : {}),
          },
          signal: AbortSignal.timeout(timeoutMs),
        })
        return readSendOutcome(status, body)
      } catch (error) {
        const reason = reasonOf(error)
        return NOT_SENT.test(reason)
          ? { outcome: 'later', reason, retryAfterMs: null }
          : { outcome: 'unknown', reason }
      }
    },
  }
}

/** What happened, without the message: it may name the URL. */
const reasonOf = (error: unknown) =>
  errorCode(error) ?? (error instanceof Error ? error.name : 'unknown')
