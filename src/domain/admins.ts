/** Admin accounts: who may log in, and with which password. */
import {
  countAdmins,
  deleteAdmin,
  insertAdmin,
  type ListedAdmin,
  readAdmin,
  readAdminByName,
  updateAdmin,
} from '#db/admins.ts'
import { clearAttempts, deleteAllAttempts, deleteLoginsOf } from '#db/logins.ts'
import type { Query } from '#db/open.ts'
import type { Admin } from '#db/schema.ts'
import { hashPassword, verifyPassword } from '#src/lib/crypto.ts'
import { badRequest, notFound, unauthorized } from '#src/lib/errors.ts'
import { randomBase32 } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { alert } from './alerts.ts'
import { accountKey, PASSWORD_LIMIT, reserveAttempt } from './attempts.ts'
import { audit } from './audit.ts'
import { type Login, requireLogin } from './sessions.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'hashing'>

/** A password that fits on a phone's keyboard: 100 random bits. */
export const generatePassword = (): string => randomBase32(20).toLowerCase()

/** Creates an account. Throws 400 when one has that name, compared without case. */
export async function createAdmin(
  s: Deps & Pick<Services, 'config'>,
  login: Login,
  { username, password }: { username: string; password: string },
): Promise<ListedAdmin> {
  const createdAt = formatTimestamp(s.clock.now())
  const passwordHash = await s.hashing(() => hashPassword(password))
  return s.db.tx(function* (tx) {
    yield* requireLogin(tx, login, createdAt)
    if (yield* readAdminByName(tx, username)) throw badRequest('this username is taken')
    const admin = yield* insertAdmin(tx, { username, passwordHash, createdAt })
    yield* audit(tx, login.actor, createdAt, { action: 'admin.create', object: username })
    yield* alert(tx, s, createdAt, { about: 'admin-created', username, ...login.actor })
    return admin
  })
}

/**
 * Removes an account with its sessions. Throws 400 for the own one and for the last one, 404 for an unknown one. Of two admins
 * who remove each other at once one stays.
 */
export async function removeAdmin(s: Deps, login: Login, id: number | null): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  if (id === login.adminId) throw badRequest("you can't delete your own account")
  await s.db.tx(function* (tx) {
    const admin = id === null ? undefined : yield* readAdmin(tx, id)
    if (!admin) throw notFound('admin not found')
    if ((yield* countAdmins(tx)) <= 1) throw badRequest("the last admin can't be deleted")
    yield* requireLogin(tx, login, at)
    yield* deleteAdmin(tx, admin.id)
    yield* audit(tx, login.actor, at, { action: 'admin.delete', object: admin.username })
  })
}

/**
 * Finds the password of a logged-in admin right; gives his account, for `requireSame` in the transaction of what he wants. Throws
 * 401 `wrong password`, or 429 after 10 attempts at his account in 15 minutes.
 */
export async function confirmPassword(s: Deps, login: Login, password: string): Promise<Admin> {
  const now = s.clock.now()
  const admin = await s.db.tx(function* (tx) {
    yield* reserveAttempt(tx, accountKey(login.adminId), PASSWORD_LIMIT, now)
    return yield* readAdmin(tx, login.adminId)
  })
  if (!admin) throw unauthorized()
  if (await s.hashing(() => verifyPassword(password, admin.passwordHash))) return admin
  await s.db.tx((tx) => audit(tx, login.actor, formatTimestamp(now), { action: 'password.failed' }))
  throw unauthorized('wrong password')
}

/** The account as it is now, its attempts cleared; throws 401 when the password or the session has ended since. */
export function* requireSame(tx: Query, login: Login, confirmed: Admin, at: string) {
  yield* requireLogin(tx, login, at)
  const present = yield* readAdmin(tx, confirmed.id)
  if (present?.passwordHash !== confirmed.passwordHash) throw unauthorized('wrong password')
  yield* clearAttempts(tx, accountKey(confirmed.id), PASSWORD_LIMIT.kind)
  return present
}

/** Gives a logged-in admin a new password and ends his other sessions. Throws as `confirmPassword` does. */
export async function changePassword(
  s: Deps,
  login: Login,
  given: { current: string; password: string },
): Promise<void> {
  const admin = await confirmPassword(s, login, given.current)
  const passwordHash = await s.hashing(() => hashPassword(given.password))
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    yield* requireSame(tx, login, admin, at)
    yield* updateAdmin(tx, admin.id, { passwordHash })
    yield* deleteLoginsOf(tx, admin.id, login.sessionId)
    yield* audit(tx, login.actor, at, { action: 'admin.password', object: admin.username })
  })
}

/**
 * The rescue of an operator who is locked out: a new password (returned), no second factor, no session, and no attempts that
 * would make him wait. Throws 404 for an unknown name.
 */
export async function resetAdmin(
  s: Pick<Services, 'db' | 'clock'>,
  username: string,
): Promise<{ username: string; password: string }> {
  const password = generatePassword()
  const passwordHash = await hashPassword(password)
  const now = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const admin = yield* readAdminByName(tx, username)
    if (!admin) throw notFound('admin not found')
    yield* updateAdmin(tx, admin.id, { passwordHash, totpSecret: null, totpLastStep: null })
    yield* deleteLoginsOf(tx, admin.id, null)
    yield* deleteAllAttempts(tx)
    yield* audit(tx, { admin: null, ip: 'shell' }, now, {
      action: 'admin.reset',
      object: admin.username,
    })
    return { username: admin.username, password }
  })
}
