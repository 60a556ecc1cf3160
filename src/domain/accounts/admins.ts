/** Admin accounts: who may log in, and with which password. */

import { deleteDevicesOf } from '#db/admin-devices.ts'
import {
  countAdmins,
  deleteAdmin,
  insertAdmin,
  type ListedAdmin,
  readAdmin,
  readAdminByName,
  updateAdmin,
} from '#db/admins.ts'
import type { Query } from '#db/engine/database.ts'
import { clearAttempts, deleteAllAttempts, deleteAttempt, deleteLoginsOf } from '#db/logins.ts'
import { replaceRecoveryCodes } from '#db/recovery-codes.ts'
import type { Admin } from '#db/schema/index.ts'
import { audit } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { emitTicked, securityData } from '#src/domain/notify/events.ts'
import { requireRoom } from '#src/domain/room.ts'
import { hashPassword, sha256Hex, verifyPassword } from '#src/lib/crypto.ts'
import { randomBase32 } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { accountKey, PASSWORD_LIMIT, reserveAttempt } from './attempts.ts'
import { refuseWeakPassword } from './new-password.ts'
import type { Login } from './principals.ts'
import { noteWrongGuess, reserveSessionGuess } from './session-guesses.ts'
import { requireLogin } from './sessions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'hashing' | 'config'>

/** A password that fits on a phone's keyboard: 100 random bits. */
export const generatePassword = (): string => randomBase32(20).toLowerCase()

/** Creates an account. Throws 400 when one has that name, compared without case, and for a password that is easy to guess. */
export async function createAdmin(
  s: Deps,
  login: Login,
  { username, password }: { username: string; password: string },
): Promise<ListedAdmin> {
  refuseWeakPassword(password, username)
  const createdAt = formatTimestamp(s.clock.now())
  const passwordHash = await s.hashing(() => hashPassword(password))
  return s.db.tx(function* (tx) {
    yield* requireLogin(tx, login, createdAt)
    if (yield* readAdminByName(tx, username)) throw refusal('username-taken')
    yield* requireRoom(tx, 'admins')
    const admin = yield* insertAdmin(tx, { username, passwordHash, createdAt })
    yield* audit(tx, login.actor, createdAt, { action: 'admin.create', object: username })
    yield* alert(tx, s, createdAt, { about: 'admin-created', username, ...login.actor })
    yield* emitTicked(tx, s, createdAt, 'admin.added', securityData(login.actor, { username }))
    return admin
  })
}

/**
 * Removes an account with its sessions. Throws 400 for the own one and for the last one, 404 for an unknown one. Of two admins
 * who remove each other at once one stays.
 */
export async function removeAdmin(s: Deps, login: Login, id: number | null): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  if (id === login.adminId) throw refusal('own-account')
  await s.db.tx(function* (tx) {
    const admin = id === null ? undefined : yield* readAdmin(tx, id)
    if (!admin) throw refusal('admin-not-found')
    if ((yield* countAdmins(tx)) <= 1) throw refusal('last-admin')
    yield* requireLogin(tx, login, at)
    yield* deleteAdmin(tx, admin.id)
    yield* audit(tx, login.actor, at, { action: 'admin.delete', object: admin.username })
    const { username } = admin
    yield* alert(tx, s, at, { about: 'admin-removed', username, ...login.actor })
    yield* emitTicked(tx, s, at, 'admin.removed', securityData(login.actor, { username }))
  })
}

/** An account whose password was right, by an attempt of its session. */
interface Confirmed {
  admin: Admin
  attempt: number
}

/**
 * Finds the password of a logged-in admin right; gives what `requireSame` takes in the transaction of what they want. Throws 401
 * `wrong password`, of which too many within a day end the session, or 429 for what comes beside the last of them; and, but where
 * `ofAccount` is false, 429 after 10 attempts at their account in 15 minutes.
 */
export async function confirmPassword(
  s: Deps,
  login: Login,
  password: string,
  { ofAccount = true } = {},
): Promise<Confirmed> {
  const now = s.clock.now()
  const { admin, attempt } = await s.db.tx(function* (tx) {
    if (ofAccount) yield* reserveAttempt(tx, accountKey(login.adminId), PASSWORD_LIMIT, now)
    const attempt = yield* reserveSessionGuess(tx, login, now)
    return { attempt, admin: yield* readAdmin(tx, login.adminId) }
  })
  if (!admin) throw refusal('unauthorized')
  if (await s.hashing(() => verifyPassword(password, admin.passwordHash))) return { admin, attempt }
  await s.db.tx((tx) => noteWrongGuess(tx, s, login, now, 'password.failed'))
  throw refusal('wrong-password')
}

/** The account as it is now; throws 401 when the password or the session has ended since. */
export function* requireUnchanged(tx: Query, login: Login, confirmed: Admin, at: string) {
  yield* requireLogin(tx, login, at)
  const present = yield* readAdmin(tx, confirmed.id)
  if (present?.passwordHash !== confirmed.passwordHash) throw refusal('wrong-password')
  return present
}

/** The same, the attempts at it cleared; of those of the session the one that was right. */
export function* requireSame(tx: Query, login: Login, { admin, attempt }: Confirmed, at: string) {
  const present = yield* requireUnchanged(tx, login, admin, at)
  yield* clearAttempts(tx, accountKey(admin.id), PASSWORD_LIMIT.kind)
  yield* deleteAttempt(tx, attempt)
  return present
}

/**
 * Gives a logged-in admin a new password, ends their other sessions and forgets their other browsers. Throws as `confirmPassword`
 * does, and 400 for a password that is easy to guess.
 */
export async function changePassword(
  s: Deps,
  login: Login,
  given: { current: string; password: string; device: string | undefined },
): Promise<void> {
  refuseWeakPassword(given.password, login.actor.admin ?? '')
  const confirmed = await confirmPassword(s, login, given.current)
  const passwordHash = await s.hashing(() => hashPassword(given.password))
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const admin = yield* requireSame(tx, login, confirmed, at)
    yield* updateAdmin(tx, admin.id, { passwordHash })
    yield* deleteLoginsOf(tx, admin.id, login.sessionId)
    yield* deleteDevicesOf(tx, admin.id, given.device ? sha256Hex(given.device) : null)
    yield* audit(tx, login.actor, at, { action: 'admin.password', object: admin.username })
    yield* alert(tx, s, at, { about: 'password-changed', ...login.actor })
  })
}

/**
 * The rescue of an operator who is locked out: a new password (returned), no second factor, no session, and no attempts that
 * would make them wait. Whoever is alerted is told. Throws 404 for an unknown name.
 */
export async function resetAdmin(
  s: Pick<Services, 'db' | 'clock' | 'config'>,
  username: string,
): Promise<{ username: string; password: string }> {
  const password = generatePassword()
  const passwordHash = await hashPassword(password)
  const now = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const admin = yield* readAdminByName(tx, username)
    if (!admin) throw refusal('admin-not-found')
    yield* updateAdmin(tx, admin.id, { passwordHash, totpSecret: null, totpLastStep: null })
    yield* replaceRecoveryCodes(tx, admin.id, [], now)
    yield* deleteLoginsOf(tx, admin.id, null)
    yield* deleteDevicesOf(tx, admin.id, null)
    yield* deleteAllAttempts(tx)
    const actor = { admin: null, ip: 'shell' }
    yield* audit(tx, actor, now, { action: 'admin.reset', object: admin.username })
    yield* alert(tx, s, now, { about: 'admin-reset', username: admin.username, ...actor })
    return { username: admin.username, password }
  })
}
