/** Password login: attempts reserved before hashing, sessions that live seven days. */
import {
  clearAttempts,
  countAttempts,
  deleteSession,
  findAdminByName,
  findSession,
  insertAttempt,
  insertPendingLogin,
  insertSession,
  readAdmin,
  updateAdmin,
} from '#db/admins.ts'
import { sha256Hex, verifyPassword } from '#src/lib/crypto.ts'
import { tooMany, unauthorized } from '#src/lib/errors.ts'
import { attemptKey } from '#src/lib/ip.ts'
import { randomToken } from '#src/lib/random.ts'
import {
  formatTimestamp,
  MINUTE_MS,
  parseTimestamp,
  SECOND_MS,
  timestampBefore,
} from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { audit } from './audit.ts'
import { cleanDeviceText } from './devices.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'hashing'>

export const SESSION_TTL_SECONDS = 604_800
const PENDING_TTL_MS = 5 * MINUTE_MS

const PASSWORD_ATTEMPTS = { limit: 10, windowMs: 15 * MINUTE_MS }

/** Reserves one attempt of an address; throws 429 (not counted itself) when the limit is reached. */
async function reserveAttempt(s: Deps, ip: string, now: Date): Promise<void> {
  const { limit, windowMs } = PASSWORD_ATTEMPTS
  const retryAfter = await s.db.tx(function* (tx) {
    const since = timestampBefore(now, windowMs)
    const { count, oldest } = yield* countAttempts(tx, ip, 'password', since)
    if (count >= limit && oldest !== null) {
      return (parseTimestamp(oldest).getTime() + windowMs - now.getTime()) / SECOND_MS
    }
    yield* insertAttempt(tx, ip, 'password', formatTimestamp(now))
    return null
  })
  if (retryAfter !== null) throw tooMany(retryAfter)
}

export interface Client {
  ip: string
  userAgent: string | null
}

const wrongCredentials = () => unauthorized('wrong username or password')

/** Either a session token for the cookie, or a pending token that awaits a second factor. */
export type LoginResult = { session: string } | { pending: string }

/** A hash that no password has: unknown names must cost what known ones do. */
const UNKNOWN_HASH = `pbkdf2-sha256$200000$${'A'.repeat(22)}$${'A'.repeat(43)}`

/**
 * Logs an admin in by name (compared without case, outer spaces ignored) and password. Throws 401
 * `wrong username or password`, or 429 after 10 attempts of the address in 15 minutes.
 */
export async function login(
  s: Deps,
  client: Client,
  credentials: { username: string; password: string },
): Promise<LoginResult> {
  const now = s.clock.now()
  const at = formatTimestamp(now)
  const ip = attemptKey(client.ip)
  const username = credentials.username.trim()
  await reserveAttempt(s, ip, now)
  const admin = await findAdminByName(s.db, username)
  const stored = admin?.passwordHash ?? UNKNOWN_HASH
  const correct = await s.hashing(() => verifyPassword(credentials.password, stored))
  if (!admin || !correct) {
    await s.db.tx((tx) =>
      audit(tx, { admin: null, ip: client.ip }, at, {
        action: 'login.failed',
        // An unknown name is not kept: people type passwords there.
        object: admin?.username ?? '',
      }),
    )
    throw wrongCredentials()
  }
  const token = randomToken()
  const hashed = sha256Hex(token)
  const outcome = await s.db.tx(function* (tx) {
    // The account may have got another password, or have gone, while this one was hashed.
    const present = yield* readAdmin(tx, admin.id)
    if (present?.passwordHash !== stored) return null
    yield* clearAttempts(tx, ip, 'password')
    if (present.totpSecret !== null) {
      const expiresAt = formatTimestamp(new Date(now.getTime() + PENDING_TTL_MS))
      yield* insertPendingLogin(tx, { token: hashed, adminId: admin.id, expiresAt })
      return { pending: token }
    }
    yield* openSession(tx, admin, hashed, client, now)
    return { session: token }
  })
  if (!outcome) throw wrongCredentials()
  return outcome
}

/** Writes the session of a completed login. */
function* openSession(
  tx: Parameters<Parameters<Deps['db']['tx']>[0]>[0],
  admin: { id: number; username: string },
  hashed: string,
  client: Client,
  now: Date,
) {
  const at = formatTimestamp(now)
  yield* insertSession(tx, {
    token: hashed,
    adminId: admin.id,
    createdAt: at,
    lastSeenAt: at,
    expiresAt: formatTimestamp(new Date(now.getTime() + SESSION_TTL_SECONDS * SECOND_MS)),
    ip: client.ip,
    userAgent: cleanDeviceText(client.userAgent),
  })
  yield* updateAdmin(tx, admin.id, { lastLoginAt: at })
  yield* audit(tx, { admin: admin.username, ip: client.ip }, at, { action: 'login' })
}

/** The admin of a session cookie, or undefined. */
export function authenticate(s: Pick<Services, 'db' | 'clock'>, token: string) {
  return findSession(s.db, sha256Hex(token), formatTimestamp(s.clock.now()))
}

/** Ends the session of a cookie; one that is over already is no fault. */
export async function logout(s: Pick<Services, 'db'>, token: string): Promise<void> {
  await s.db.tx((tx) => deleteSession(tx, sha256Hex(token)))
}
