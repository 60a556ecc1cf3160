/** Sessions of admins: seven days from the login, ended by their admin, by a new password or by a change of the second factor. */
import { updateAdmin } from '#db/admins.ts'
import { readLoginAddresses } from '#db/history.ts'
import {
  deleteSession,
  deleteSessionOf,
  deleteSessionsOf,
  findSession,
  hasSession,
  insertSession,
  touchSession,
} from '#db/logins.ts'
import type { Query } from '#db/open.ts'
import type { Admin } from '#db/schema.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { notFound, unauthorized } from '#src/lib/errors.ts'
import { attemptKey } from '#src/lib/ip.ts'
import { randomToken } from '#src/lib/random.ts'
import { formatTimestamp, MINUTE_MS, SECOND_MS, timestampBefore } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { adminTgIds, alert } from './alerts.ts'
import { type Actor, audit } from './audit.ts'
import { cleanDeviceText } from './devices.ts'
import { readSettingsIn } from './settings.ts'

type Deps = Pick<Services, 'db' | 'clock'>

export const SESSION_TTL_SECONDS = 604_800
/** `last_seen_at` is written at most this often. */
const SEEN_MS = MINUTE_MS

/** Where a login comes from. */
export interface Client {
  ip: string
  userAgent: string | null
}

/** A logged-in admin, and the session by which he is. */
export interface Login {
  adminId: number
  sessionId: number
  actor: Actor
}

/** Alerts of a login from where this admin has never logged in; his first login is from a new address anyway. */
function* watchAddress(
  tx: Query,
  s: Pick<Services, 'config'>,
  admin: Opening,
  ip: string,
  at: string,
) {
  if (admin.lastLoginAt === null || adminTgIds(yield* readSettingsIn(tx, s)).length === 0) return
  const known = (yield* readLoginAddresses(tx, admin.username)).map(attemptKey)
  if (known.includes(attemptKey(ip))) return
  yield* alert(tx, s, at, { about: 'new-address', admin: admin.username, ip })
}

type Opening = Pick<Admin, 'id' | 'username' | 'lastLoginAt'>

/** Opens the session of a completed login; gives the token for the cookie. */
export function* openSession(
  tx: Query,
  s: Pick<Services, 'config'>,
  admin: Opening,
  client: Client,
  now: Date,
) {
  const at = formatTimestamp(now)
  const token = randomToken()
  yield* insertSession(tx, {
    token: sha256Hex(token),
    adminId: admin.id,
    createdAt: at,
    lastSeenAt: at,
    expiresAt: formatTimestamp(new Date(now.getTime() + SESSION_TTL_SECONDS * SECOND_MS)),
    ip: client.ip,
    userAgent: cleanDeviceText(client.userAgent),
  })
  yield* updateAdmin(tx, admin.id, { lastLoginAt: at })
  yield* watchAddress(tx, s, admin, client.ip, at)
  yield* audit(tx, { admin: admin.username, ip: client.ip }, at, { action: 'login' })
  return token
}

/** The admin of a session cookie, or undefined. */
export function authenticate(s: Deps, token: string) {
  return findSession(s.db, sha256Hex(token), formatTimestamp(s.clock.now()))
}

/** Notes after the answer that a session was used, when the last note is a minute old. */
export function noteSeen(
  s: Pick<Services, 'db' | 'clock' | 'background'>,
  session: { id: number; lastSeenAt: string },
): void {
  const now = s.clock.now()
  const cutoff = timestampBefore(now, SEEN_MS)
  if (session.lastSeenAt > cutoff) return
  s.background.run('session seen', () =>
    s.db.tx((tx) => touchSession(tx, session.id, formatTimestamp(now), cutoff)),
  )
}

/**
 * Throws 401 when the session of a request has ended since the request was let in: what it was about to change decides who may
 * log in, so another's change must win.
 */
export function* requireLogin(tx: Query, login: Login, at: string) {
  if (!(yield* hasSession(tx, login.sessionId, at))) throw unauthorized()
}

/** Ends the session of a cookie; one that is over already is no fault. */
export async function logout(s: Pick<Services, 'db'>, token: string): Promise<void> {
  await s.db.tx((tx) => deleteSession(tx, sha256Hex(token)))
}

/** Ends one of the admin's own sessions. Throws 404 for any other. */
export async function endSession(s: Deps, login: Login, id: number | null): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    if (id === null || !(yield* deleteSessionOf(tx, login.adminId, id))) {
      throw notFound('session not found')
    }
    yield* audit(tx, login.actor, at, { action: 'session.end', object: String(id) })
  })
}

/** Ends all sessions of the admin but the one that asks. */
export async function endOtherSessions(s: Deps, login: Login): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    yield* requireLogin(tx, login, at)
    yield* deleteSessionsOf(tx, login.adminId, login.sessionId)
    yield* audit(tx, login.actor, at, { action: 'session.end-others' })
  })
}
