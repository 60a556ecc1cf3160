/**
 * Calls of the Bot API (core.telegram.org/bots/api#making-requests). By `fetch`, as the bot itself: an operator whose machine
 * can't reach Telegram gives the runtime a proxy, which both must use. The token is part of every URL, so no URL is ever logged
 * or thrown on.
 */
import { readAtMost } from '#src/lib/read-at-most.ts'
import { jsonObject } from './json-answer.ts'

const ANSWER_LIMIT_BYTES = 256 * 1024

export interface BotApiCall {
  apiUrl: string
  token: string
  method: string
  /** Sent as JSON; absent: a GET. */
  params?: Record<string, unknown>
  signal: AbortSignal
  maxBytes?: number
}

/** The token as a part of a path: the colon stays, as the Bot API writes it. */
const tokenPath = (token: string) => encodeURIComponent(token).replaceAll('%3A', ':')

/** The status and body of an answer; null for a body that is too long or no JSON object. Rejects when there is no answer. */
export async function callBotApi({
  apiUrl,
  token,
  method,
  params,
  signal,
  maxBytes = ANSWER_LIMIT_BYTES,
}: BotApiCall) {
  const response = await fetch(`${apiUrl}/bot${tokenPath(token)}/${method}`, {
    redirect: 'manual',
    signal,
    ...(params === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(params),
        }),
  })
  const body = await readAtMost(response.body, maxBytes)
  return { status: response.status, body: body && jsonObject(body) }
}
