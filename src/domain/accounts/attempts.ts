/** Limits on guessing: attempts are rows, counted and written in one transaction, so that no process lets one too many pass. */

import type { Query } from '#db/engine/database.ts'
import {
  type AttemptKind,
  countAccountAttempts,
  countAttempts,
  insertAccountAttempt,
  insertAttempt,
} from '#db/logins.ts'
import { nameKey } from '#src/lib/account-name.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { tooMany } from '#src/lib/errors.ts'
import {
  DAY_MS,
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

/** Of an address at the login, and of an account where a logged-in admin gives their password again. */
export const PASSWORD_LIMIT: AttemptLimit = {
  kind: 'password',
  limit: 10,
  windowMs: 15 * MINUTE_MS,
}
export const CODE_LIMIT: AttemptLimit = { kind: 'totp', limit: 10, windowMs: 5 * MINUTE_MS }
export const ACCOUNT_CODE_LIMIT: AttemptLimit = { kind: 'totp', limit: 30, windowMs: HOUR_MS }

/** Of a session of the panel that gives password or code again, wherever it does; the last of them ends it. */
export const CONFIRMATION_LIMIT: AttemptLimit = { kind: 'password', limit: 10, windowMs: DAY_MS }
/** Of any other session: more than one account has in 15 minutes, so that a script is told to wait first. */
export const SCRIPT_CONFIRMATION_LIMIT: AttemptLimit = { ...CONFIRMATION_LIMIT, limit: 30 }

/** What attempts at one account are counted by, beside addresses in the same column: an address never has a space. */
export const accountKey = (adminId: number): string => `admin ${adminId}`
/** The same of one session, whose thief shall use up nothing of its owner's. */
export const sessionKey = (sessionId: number): string => `session ${sessionId}`

/** Seconds until a key may try again; null when it may now. */
export function* secondsToWait(tx: Query, key: string, limit: AttemptLimit, now: Date) {
  const since = timestampBefore(now, limit.windowMs)
  const { count, oldest } = yield* countAttempts(tx, key, limit.kind, since)
  if (count < limit.limit || oldest === null) return null
  return (parseTimestamp(oldest).getTime() + limit.windowMs - now.getTime()) / SECOND_MS
}

/** Whether a key has no attempt left. */
export function* isUsedUp(tx: Query, key: string, limit: AttemptLimit, now: Date) {
  return (yield* secondsToWait(tx, key, limit, now)) !== null
}

/** Reserves an attempt of a key before it is evaluated, and gives its id; throws 429, not counted itself, when the limit is reached. */
export function* reserveAttempt(tx: Query, key: string, limit: AttemptLimit, now: Date) {
  const wait = yield* secondsToWait(tx, key, limit, now)
  if (wait !== null) throw tooMany(wait)
  return yield* insertAttempt(tx, key, limit.kind, formatTimestamp(now))
}

/** So many wrong passwords of one account, or of one device, within an hour are free; each further one has to wait. */
const FREE_OF_ACCOUNT = 30
/** The same of all accounts together. */
const FREE_OF_ALL = 1000
/** The first wait is a second, and each further one twice as long, at most this. */
const LONGEST_WAIT_SECONDS = 60

/**
 * What attempts at a name are counted by, whether there is such an account or not: 16 bits of its hash. People type passwords
 * there, and no more of one shall be kept.
 */
const guessedName = (username: string): string => `name ${sha256Hex(nameKey(username)).slice(0, 4)}`

function* requirePause(tx: Query, account: string | null, free: number, now: Date) {
  const since = timestampBefore(now, HOUR_MS)
  const { count, newest } = yield* countAccountAttempts(tx, account, since)
  if (count < free || newest === null) return
  const pause = Math.min(LONGEST_WAIT_SECONDS, 2 ** (count - free))
  const left = pause - (now.getTime() - parseTimestamp(newest).getTime()) / SECOND_MS
  // Not longer where another machine's clock is ahead.
  if (left > 0) throw tooMany(Math.min(left, LONGEST_WAIT_SECONDS))
}

/**
 * Reserves an attempt at an account's password before it is evaluated, from whatever address; gives its id, for the one that turns
 * out right: another's success clears nothing. A device of the account has a count of its own, and waits for nobody else's, and so
 * has an address from which it was logged in to. Throws 429, not counted itself, while the account or all of them have to wait.
 */
export function* reserveGuess(
  tx: Query,
  { username, known }: { username: string; known: string | undefined },
  now: Date,
) {
  const account = known ?? guessedName(username)
  yield* requirePause(tx, account, FREE_OF_ACCOUNT, now)
  if (known === undefined) yield* requirePause(tx, null, FREE_OF_ALL, now)
  return yield* insertAccountAttempt(tx, account, formatTimestamp(now))
}
