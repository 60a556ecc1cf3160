/** The login: a password, and a code where the account asks for one. Attempts are reserved before anything is evaluated. */

import { readAdmin, readAdminByName } from '#db/admins.ts'
import type { Query } from '#db/engine/database.ts'
import {
  clearAttempts,
  deleteAccountAttempt,
  deletePendingLogin,
  insertAttempt,
  insertPendingLogin,
  readPendingLogin,
  updateWrongCodes,
} from '#db/logins.ts'
import type { Admin, PendingLogin } from '#db/schema/index.ts'
import { audit } from '#src/domain/audit.ts'
import { sha256Hex, verifyPassword } from '#src/lib/crypto.ts'
import { type ApiError, tooMany } from '#src/lib/errors.ts'
import { attemptKey, networkKey } from '#src/lib/ip.ts'
import { randomToken } from '#src/lib/random.ts'
import { formatTimestamp, MINUTE_MS } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import {
  ACCOUNT_CODE_LIMIT,
  accountKey,
  CODE_LIMIT,
  PASSWORD_LIMIT,
  reserveAttempt,
  reserveGuess,
  secondsToWait,
} from './attempts.ts'
import { knownClient } from './known-clients.ts'
import { acceptRecoveryCode } from './recovery-codes.ts'
import { type Cookies, type LoginOrigin, openSession } from './sessions.ts'
import { acceptTotpCode } from './two-factor.ts'

type Deps = Pick<
  Services,
  'db' | 'clock' | 'hashing' | 'strangersHashing' | 'strangersTurn' | 'config'
>

const PENDING_TTL_MS = 5 * MINUTE_MS
/** So many wrong codes use a pending login up. */
const WRONG_CODES = 10

const wrongCredentials = () => refusal('wrong-credentials')

/** Either what the browser is to keep, or a pending token that awaits a second factor. */
export type LoginResult = Cookies | { pending: string }

/** A hash that no password has: unknown names must cost what known ones do. */
const UNKNOWN_HASH = `pbkdf2-sha256$200000$${'A'.repeat(22)}$${'A'.repeat(43)}`

function* noteFailure(tx: Query, client: LoginOrigin, at: string, object: string, detail: string) {
  yield* audit(tx, { admin: null, ip: client.ip }, at, { action: 'login.failed', object, detail })
}

/**
 * Logs an admin in by name (compared without case, outer spaces ignored) and password. Throws 401
 * `wrong username or password`, or 429 after 10 attempts of the address in 15 minutes, and while the account has to wait after 30
 * wrong ones in an hour.
 */
export async function login(
  s: Deps,
  client: LoginOrigin,
  credentials: { username: string; password: string },
): Promise<LoginResult> {
  const now = s.clock.now()
  const at = formatTimestamp(now)
  const ip = attemptKey(client.ip)
  const username = credentials.username.trim()
  const reserve = function* (tx: Query) {
    yield* reserveAttempt(tx, ip, PASSWORD_LIMIT, now)
    const admin = yield* readAdminByName(tx, username)
    // Of a name that nobody has the same is asked: its time must not tell.
    const its = yield* knownClient(tx, admin ?? { id: 0, username }, client, now)
    const known = admin && its
    return { admin, known, guess: yield* reserveGuess(tx, { username, known }, now) }
  }
  // Who is known waits for no crowd of those who are not.
  const isKnown = await s.db.read(function* (q) {
    const admin = (yield* readAdminByName(q, username)) ?? { id: 0, username }
    return (yield* knownClient(q, admin, client, now)) !== undefined
  })
  const { admin, known, guess } = isKnown
    ? await s.db.tx(reserve)
    : await s.strangersTurn(networkKey(client.ip), () => s.db.tx(reserve))
  const stored = admin?.passwordHash ?? UNKNOWN_HASH
  const hashing = known === undefined ? s.strangersHashing : s.hashing
  const correct = await hashing(() => verifyPassword(credentials.password, stored))
  if (!admin || !correct) {
    // An unknown name is not kept: people type passwords there.
    await s.db.tx((tx) => noteFailure(tx, client, at, admin?.username ?? '', ''))
    throw wrongCredentials()
  }
  const outcome = await s.db.tx(function* (tx): Generator<unknown, LoginResult | null, unknown> {
    // The account may have got another password, or have gone, while this one was hashed.
    const present = yield* readAdmin(tx, admin.id)
    if (present?.passwordHash !== stored) return null
    yield* clearAttempts(tx, ip, PASSWORD_LIMIT.kind)
    yield* deleteAccountAttempt(tx, guess)
    if (present.totpSecret === null) return yield* openSession(tx, s, present, client, now)
    const pending = randomToken()
    const expiresAt = formatTimestamp(new Date(now.getTime() + PENDING_TTL_MS))
    yield* insertPendingLogin(tx, { token: sha256Hex(pending), adminId: admin.id, expiresAt })
    return { pending }
  })
  if (!outcome) throw wrongCredentials()
  return outcome
}

/** Counts a wrong code against the address, the account and the pending login. */
function* countWrongCode(
  tx: Query,
  client: LoginOrigin,
  admin: Admin,
  pending: PendingLogin,
  at: string,
) {
  yield* insertAttempt(tx, attemptKey(client.ip), CODE_LIMIT.kind, at)
  yield* insertAttempt(tx, accountKey(admin.id), ACCOUNT_CODE_LIMIT.kind, at)
  const wrongCodes = pending.wrongCodes + 1
  if (wrongCodes < WRONG_CODES) yield* updateWrongCodes(tx, pending.token, wrongCodes)
  else yield* deletePendingLogin(tx, pending.token)
  yield* noteFailure(tx, client, at, admin.username, 'code')
}

/** A refusal is returned where it must not undo what the transaction counted. */
type CodeResult = Cookies | { refusal: ApiError }

/**
 * Completes a login that awaits a code, of the app or a recovery code; gives what the browser is to keep. All in one transaction, so that of two requests
 * with one code, at whatever processes, one wins. Throws 401 `wrong code` or `login session expired, log in again`; 429 after
 * 10 wrong codes of the address in 5 minutes, or 30 for the account in an hour.
 */
export async function completeLogin(
  s: Pick<Services, 'db' | 'clock' | 'config' | 'strangersTurn'>,
  client: LoginOrigin,
  given: { pendingToken: string; code: string },
): Promise<Cookies> {
  const now = s.clock.now()
  const at = formatTimestamp(now)
  const ip = attemptKey(client.ip)
  const complete = function* (tx: Query): Generator<unknown, CodeResult, unknown> {
    const addressWait = yield* secondsToWait(tx, ip, CODE_LIMIT, now)
    if (addressWait !== null) throw tooMany(addressWait)
    const pending = yield* readPendingLogin(tx, sha256Hex(given.pendingToken), at)
    const admin = pending && (yield* readAdmin(tx, pending.adminId))
    if (!admin) throw refusal('login-expired')
    const accountWait = yield* secondsToWait(tx, accountKey(admin.id), ACCOUNT_CODE_LIMIT, now)
    if (accountWait !== null) throw tooMany(accountWait)
    const owner = { adminId: admin.id, actor: { admin: admin.username, ip: client.ip } }
    if (
      !(yield* acceptTotpCode(tx, admin, given.code, now)) &&
      !(yield* acceptRecoveryCode(tx, s, owner, given.code, at))
    ) {
      yield* countWrongCode(tx, client, admin, pending, at)
      return { refusal: refusal('wrong-code') }
    }
    yield* deletePendingLogin(tx, pending.token)
    yield* clearAttempts(tx, ip, CODE_LIMIT.kind)
    return yield* openSession(tx, s, admin, client, now)
  }
  // A login that awaits its code has had the right password.
  const isPending = await s.db.read(function* (q) {
    return (yield* readPendingLogin(q, sha256Hex(given.pendingToken), at)) !== undefined
  })
  const result = isPending
    ? await s.db.tx(complete)
    : await s.strangersTurn(networkKey(client.ip), () => s.db.tx(complete))
  if ('refusal' in result) throw result.refusal
  return result
}
