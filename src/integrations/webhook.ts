/** Outbound events over HTTP: signed for plain receivers and for those of Standard Webhooks 1.0.0 with one key. */
import { hmacSha256 } from '#src/lib/crypto.ts'
import { base64, hex, utf8 } from '#src/lib/encoding.ts'
import { VERSION } from '#src/lib/version.ts'
import type { EventSender, WebhookRequest, WebhookResult } from '#src/ports/event-sender.ts'
import type { Outbound } from '#src/ports/outbound.ts'
import { failureReason } from './outbound.ts'

const TIMEOUT_MS = 10_000
/** The answer's body is read so that the receiver can finish, and never kept: it may come from inside the operator's network. */
const ANSWER_LIMIT_BYTES = 64 * 1024

/** A signature as `webhook-signature` has it. `timestamp`: seconds since 1970. */
export const standardSignature = (
  key: Uint8Array,
  id: string,
  timestamp: string,
  body: string,
): string => `v1,${base64(hmacSha256(key, utf8(`${id}.${timestamp}.${body}`)))}`

/** The headers that say what is sent, when, and by whom. */
export function eventHeaders({ id, event, body, secret, at }: WebhookRequest) {
  const key = utf8(secret)
  const timestamp = String(Math.floor(at.getTime() / 1000))
  return {
    'content-type': 'application/json',
    'user-agent': `subpanel/${VERSION}`,
    'x-event': event,
    'x-signature': hex(hmacSha256(key, utf8(body))),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standardSignature(key, id, timestamp, body),
  }
}

/** Sends events one at a time to whoever asks for it; `timeoutMs` bounds an attempt. */
export function createEventSender(options: {
  outbound: Outbound
  timeoutMs?: number
}): EventSender {
  const { outbound, timeoutMs = TIMEOUT_MS } = options
  return {
    async send(request): Promise<WebhookResult> {
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        const { status } = await outbound({
          method: 'POST',
          url: request.url,
          headers: eventHeaders(request),
          body: request.body,
          signal,
          maxBytes: ANSWER_LIMIT_BYTES,
        })
        const accepted = status >= 200 && status < 300
        return { httpStatus: status, error: accepted ? null : `answered ${status}` }
      } catch (error) {
        return { httpStatus: null, error: failureReason(error, signal) }
      }
    },
  }
}
