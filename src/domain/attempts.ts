/** Limits on guessing: attempts are rows, counted and written in one transaction, so that no process lets one too many pass. */
import { type AttemptKind, countAttempts, insertAttempt } from '#db/logins.ts'
import type { Query } from '#db/open.ts'
import { tooMany } from '#src/lib/errors.ts'
import {
  formatTimestamp,
  HOUR_MS,
  MINUTE_MS,
  parseTimestamp,
  SECOND_MS,
  timestampBefore,
} from '#src/lib/time.ts'

export interface AttemptLimit {
  kind: AttemptKind
  limit: number
  windowMs: number
}

/** Of an address at the login, and of an account where a logged-in admin gives his password again. */
export const PASSWORD_LIMIT: AttemptLimit = {
  kind: 'password',
  limit: 10,
  windowMs: 15 * MINUTE_MS,
}
export const CODE_LIMIT: AttemptLimit = { kind: 'totp', limit: 10, windowMs: 5 * MINUTE_MS }
export const ACCOUNT_CODE_LIMIT: AttemptLimit = { kind: 'totp', limit: 30, windowMs: HOUR_MS }

/** What attempts at one account are counted by, beside addresses in the same column: an address never has a space. */
export const accountKey = (adminId: number): string => `admin ${adminId}`

/** Seconds until a key may try again; null when it may now. */
export function* secondsToWait(tx: Query, key: string, limit: AttemptLimit, now: Date) {
  const since = timestampBefore(now, limit.windowMs)
  const { count, oldest } = yield* countAttempts(tx, key, limit.kind, since)
  if (count < limit.limit || oldest === null) return null
  return (parseTimestamp(oldest).getTime() + limit.windowMs - now.getTime()) / SECOND_MS
}

/** Reserves an attempt of a key before it is evaluated; throws 429, not counted itself, when the limit is reached. */
export function* reserveAttempt(tx: Query, key: string, limit: AttemptLimit, now: Date) {
  const wait = yield* secondsToWait(tx, key, limit, now)
  if (wait !== null) throw tooMany(wait)
  yield* insertAttempt(tx, key, limit.kind, formatTimestamp(now))
}
