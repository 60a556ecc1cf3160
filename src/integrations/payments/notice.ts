/** What notices of several gateways have in common. */
import * as v from 'valibot'
import type { Notice } from '#src/ports/payment-gateway.ts'

export const NOTHING: Notice = { says: 'nothing' }
export const BAD_SIGNATURE: Notice = { says: 'refused', status: 401, error: 'bad signature' }

/** An id as notices have them: text, or a number; empty for anything else. */
export function idText(value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' ? value : ''
}

/** The same in the description of a body. */
export const noticeId = v.union([v.string(), v.number()])

/** A header that a notice proves itself by. */
export const proof = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,256}$/))
