/** The Bot API (core.telegram.org/bots/api). The token is part of every URL, so no URL is ever logged or thrown on. */
import { errorCode } from '#src/lib/errors.ts'
import type { Log } from '#src/lib/log.ts'
import { readAtMost } from '#src/lib/read-at-most.ts'
import type { Telegram } from '#src/services.ts'
import { jsonObject } from './json-answer.ts'

interface Options {
  apiUrl: string
  log: Log
  timeoutMs?: number
}

const ANSWER_LIMIT_BYTES = 256 * 1024

/** The token as a part of a path: the colon stays, as the Bot API writes it. */
const tokenPath = (token: string) => encodeURIComponent(token).replaceAll('%3A', ':')

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
 * The messaging platform at `apiUrl`. By `fetch`, as the bot itself: an operator whose machine can't reach Telegram gives the
 * runtime a proxy, which both must use.
 */
export function createTelegram({ apiUrl, log, timeoutMs = 10_000 }: Options): Telegram {
  return {
    async identify(token) {
      try {
        const response = await fetch(`${apiUrl}/bot${tokenPath(token)}/getMe`, {
          redirect: 'manual',
          signal: AbortSignal.timeout(timeoutMs),
        })
        const body = await readAtMost(response.body, ANSWER_LIMIT_BYTES)
        const answer = body && jsonObject(body)
        const identity = answer && readIdentity(response.status, answer)
        if (identity) return identity
        log.warn('Telegram gave no usable answer', { method: 'getMe', status: response.status })
      } catch (error) {
        log.warn('Telegram could not be asked', { method: 'getMe', reason: reasonOf(error) })
      }
      return 'unreachable'
    },
  }
}

/** What happened, without the message: it may name the URL. */
const reasonOf = (error: unknown) =>
  errorCode(error) ?? (error instanceof Error ? error.name : 'unknown')
