/** Sessions of admins: seven days from the login, ended by their admin, by a new password or by a change of the second factor. */

import { updateAdmin } from '#db/admins.ts'
import { hasLoggedInFrom } from '#db/audit-log.ts'
import type { Query } from '#db/engine/database.ts'
import {
  deleteSession,
  deleteSessionOf,
  deleteSessionsOf,
  insertSession,
  readSession,
  readSessionByToken,
  touchSession,
} from '#db/logins.ts'
import type { Admin } from '#db/schema/index.ts'
import { audit } from '#src/domain/audit.ts'
import { adminTgIds, alert } from '#src/domain/notify/alerts.ts'
import { emitTicked, securityData, tickedEvents } from '#src/domain/notify/events.ts'
import { readSettingsIn } from '#src/domain/settings.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { cleanDeviceText } from '#src/lib/device-text.ts'
import { randomToken } from '#src/lib/random.ts'
import { formatTimestamp, MINUTE_MS, SECOND_MS, timestampBefore } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { rememberDevice } from './admin-devices.ts'
import type { Login } from './principals.ts'

type Deps = Pick<Services, 'db' | 'clock'>

export const SESSION_TTL_SECONDS = 604_800
/** `last_seen_at` is written at most this often. */
const SEEN_MS = MINUTE_MS

/** Where a login comes from. */
export interface LoginOrigin {
  ip: string
  userAgent: string | null
  /** The session cookie that the browser brought: it ends when another takes its place. */
  formerSession?: string | undefined
  /** The device cookie that it brought. */
  device?: string | undefined
  /** Whether the panel's login page asks: its browser is known from then on. */
  panel?: boolean | undefined
}

/** What a browser is to keep; `device` null: as it is. */
export interface Cookies {
  session: string
  device: string | null
}

/** Tells of a login from where this admin has never logged in; their first login is from a new address anyway. */
function* watchAddress(
  tx: Query,
  s: Pick<Services, 'config'>,
  admin: Opening,
  ip: string,
  at: string,
) {
  if (admin.lastLoginAt === null) return
  const settings = yield* readSettingsIn(tx, s)
  const isTold = tickedEvents(settings).includes('login.new_address')
  if (adminTgIds(settings).length === 0 && !isTold) return
  if (yield* hasLoggedInFrom(tx, admin.username, ip)) return
  const actor = { admin: admin.username, ip }
  yield* alert(tx, s, at, { about: 'new-address', ...actor })
  yield* emitTicked(tx, s, at, 'login.new_address', securityData(actor))
}

type Opening = Pick<Admin, 'id' | 'username' | 'lastLoginAt'>

/** Opens the session of a completed login. */
export function* openSession(
  tx: Query,
  s: Pick<Services, 'config'>,
  admin: Opening,
  client: LoginOrigin,
  now: Date,
): Generator<unknown, Cookies, unknown> {
  const at = formatTimestamp(now)
  const token = randomToken()
  if (client.formerSession) yield* deleteSession(tx, sha256Hex(client.formerSession))
  yield* insertSession(tx, {
    token: sha256Hex(token),
    adminId: admin.id,
    createdAt: at,
    lastSeenAt: at,
    expiresAt: formatTimestamp(new Date(now.getTime() + SESSION_TTL_SECONDS * SECOND_MS)),
    ip: client.ip,
    userAgent: cleanDeviceText(client.userAgent),
    panel: client.panel ?? false,
    confirmedAt: at,
  })
  yield* updateAdmin(tx, admin.id, { lastLoginAt: at })
  yield* watchAddress(tx, s, admin, client.ip, at)
  yield* audit(tx, { admin: admin.username, ip: client.ip }, at, { action: 'login' })
  const device = client.panel ? yield* rememberDevice(tx, admin.id, client.device, at) : null
  return { session: token, device }
}

/** The admin of a session cookie, or undefined. */
export function authenticate(s: Deps, token: string) {
  const now = formatTimestamp(s.clock.now())
  return s.db.read((q) => readSessionByToken(q, sha256Hex(token), now))
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

/** The session of a request as it is now; undefined when it has ended since the request was let in. */
export const findLogin = (tx: Query, login: Login, at: string) =>
  readSession(tx, login.sessionId, at)

/** The same; throws 401 when it has ended: what it was about to change decides who may log in, so another's change must win. */
export function* requireLogin(tx: Query, login: Login, at: string) {
  const session = yield* findLogin(tx, login, at)
  if (!session) throw refusal('unauthorized')
  return session
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
      throw refusal('session-not-found')
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
