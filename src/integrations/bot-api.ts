/**
 * Calls of the Bot API (core.telegram.org/bots/api#making-requests). By `fetch`, as the bot itself: an operator whose machine
 * can't reach Telegram gives the runtime a proxy, which both must use. The token is part of every URL, so no URL is ever logged
 * or thrown on.
 */
import { botApiUrl } from '#src/lib/bot-api-url.ts'
import { type JsonObject, jsonObject } from '#src/lib/json.ts'
import { readAtMost } from '#src/lib/read-at-most.ts'
import { SECOND_MS } from '#src/lib/time.ts'

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

/** The status and body of an answer; null for a body that is too long or no JSON object. Rejects when there is no answer. */
export async function callBotApi({
  apiUrl,
  token,
  method,
  params,
  signal,
  maxBytes = ANSWER_LIMIT_BYTES,
}: BotApiCall) {
  const response = await fetch(botApiUrl(apiUrl, token, method), {
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

/** How long Telegram wants to be left alone (`ResponseParameters.retry_after`, which is in seconds); null when it does not say. */
export function retryAfterMs(body: JsonObject | null): number | null {
  const { retry_after: seconds } = (body?.parameters ?? {}) as { retry_after?: unknown }
  return typeof seconds === 'number' && seconds > 0 ? seconds * SECOND_MS : null
}
