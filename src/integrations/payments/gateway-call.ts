/** One request to a payment gateway, and what every gateway's answers have in common. Nothing here throws. */

import * as v from 'valibot'
import { cut } from '#src/lib/format.ts'
import { type JsonObject, jsonObject } from '#src/lib/json.ts'
import { HOUR_MS, LAST_MS, MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import type { Outbound } from '#src/ports/outbound.ts'
import type { Unanswered } from '#src/ports/payment-gateway.ts'
import { failureReason } from '../outbound.ts'

const ANSWER_LIMIT_BYTES = 256 * 1024
/** A list of payments is longer than any single answer. */
export const LIST_LIMIT_BYTES = 4 * 1024 * 1024

/**
 * `body` is null when it is no JSON object; `status` is null when there was no answer, and `reason` says why. `restMs`: how long
 * the gateway wants to be left alone, where it does.
 */
export type GatewayAnswer =
  | { status: number; body: JsonObject | null; restMs?: number }
  | { status: null; reason: string }

export interface GatewayRequest {
  method: 'GET' | 'POST'
  url: string
  headers: Record<string, string>
  json?: unknown
  /** Bounds the whole exchange. */
  signal: AbortSignal
  maxBytes?: number
}

/** The rest of a gateway that says only that it wants one. */
const REST_MS = MINUTE_MS

/** How long a 429 wants to be obeyed (RFC 9110, section 10.2.3; its form with a date counts as none). */
function restOf(status: number, retryAfter: string | undefined): { restMs?: number } {
  if (status !== 429) return {}
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0
  return { restMs: seconds > 0 ? Math.min(seconds * SECOND_MS, HOUR_MS) : REST_MS }
}

/** Sends one request and reads its answer. */
export async function callGateway(
  outbound: Outbound,
  { method, url, headers, json, signal, maxBytes = ANSWER_LIMIT_BYTES }: GatewayRequest,
): Promise<GatewayAnswer> {
  try {
    const answer = await outbound({
      method,
      url,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal,
      maxBytes,
    })
    const { status, body, complete, retryAfter } = answer
    return { status, body: complete ? jsonObject(body) : null, ...restOf(status, retryAfter) }
  } catch (error) {
    return { status: null, reason: failureReason(error, signal) }
  }
}

/** The body of a successful answer by a schema; null for any other answer. */
export function readAnswer<T extends v.GenericSchema>(
  schema: T,
  answer: GatewayAnswer,
): v.InferOutput<T> | null {
  const parsed = answer.status === 200 ? v.safeParse(schema, answer.body) : null
  return parsed?.success ? parsed.output : null
}

/** The reason when an answer says neither yes nor no. `retryAfterMs`: the rest that its body asks for. */
export function unanswered(answer: GatewayAnswer, retryAfterMs: number | null = null): Unanswered {
  const restMs = answer.status === null ? undefined : answer.restMs
  return { reason: unusable(answer), retryAfterMs: retryAfterMs ?? restMs ?? null }
}

function unusable(answer: GatewayAnswer): string {
  if (answer.status === null) return answer.reason
  if (answer.status === 429) return 'too many requests'
  if (answer.status === 401 || answer.status === 403) return REJECTED
  return answer.status === 200 ? UNREADABLE : `answered ${answer.status}`
}

export const REJECTED = 'the gateway does not accept the credentials'
export const UNREADABLE = 'the answer could not be read'

/** Statuses that do not say whether the request was carried out, or that pass. */
const UNDECIDED = new Set([408, 409, 423, 425, 429])

/** Whether an answer to a creation is the gateway's own no. A proxy's error page is not: it is no JSON object. */
export const isRefusal = (answer: GatewayAnswer): answer is { status: number; body: JsonObject } =>
  answer.status !== null &&
  answer.status >= 400 &&
  answer.status < 500 &&
  !UNDECIDED.has(answer.status) &&
  answer.body !== null

/** A gateway's own words, fit for an admin: one short line, without the secrets that were sent. */
export function gatewayWords(text: unknown, secrets: string[]): string {
  if (typeof text !== 'string') return ''
  const clean = secrets
    .filter((secret) => secret !== '')
    .reduce((words, secret) => words.replaceAll(secret, '***'), text)
  return cut(clean.replace(/[\p{C}\s]+/gu, ' ').trim(), 200)
}

/** What may stand in an address as a gateway's id. */
const ID = /^\w[\w.:-]{0,127}$/
export const isId = (text: string): boolean => ID.test(text)

export const NO_ID = 'the gateway has no id for this payment'

/** A gateway's id, as text or as a number. */
export const idSchema = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.safeInteger())]),
  v.transform(String),
  v.regex(ID),
)

/** A decimal number as `199.00`: at least two digits after the point, none rounded away. */
export function moneyText(value: string | number): string | null {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,18}))?$/.exec(String(value)) ?? []
  if (whole === undefined) return null
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}

/** An amount of a gateway, as text or as a number. */
export const moneySchema = v.pipe(
  v.union([v.string(), v.number()]),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const text = moneyText(dataset.value)
    if (text !== null) return text
    addIssue({ message: 'is no amount' })
    return NEVER
  }),
)

/** A currency as a gateway names it: stored as it is where a payment is none of ours. */
export const currencySchema = v.pipe(v.string(), v.maxLength(64))

/** The moment of a gateway's text, or `laterMs` after it; null for one that no timestamp can say. */
export function momentOf(text: string | null | undefined, laterMs = 0): Date | null {
  const ms = Date.parse(text ?? '') + laterMs
  return ms >= 0 && ms <= LAST_MS ? new Date(ms) : null
}

/** Whole units as a gateway takes them. */
export const wholeUnits = (amount: number): string => `${amount}.00`
