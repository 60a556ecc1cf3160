/** The second factor of an account: set up, turned on with a correct code, turned off with the password. */

import { claimTotpStep, readAdmin, updateAdmin } from '#db/admins.ts'
import type { Query } from '#db/engine/database.ts'
import { deleteLoginsOf } from '#db/logins.ts'
import { replaceRecoveryCodes } from '#db/recovery-codes.ts'
import type { Admin } from '#db/schema/index.ts'
import { audit } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { readSettings } from '#src/domain/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { findTotpStep, generateTotpSecret, parseTotpSecret, totpUri } from '#src/lib/totp.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { confirmPassword, requireSame } from './admins.ts'
import type { Login } from './principals.ts'
import { requireLogin } from './sessions.ts'

/** A new secret and the URI that an authenticator app reads, named by the brand. Nothing is stored. */
export function setUpTwoFactor(s: Pick<Services, 'db' | 'config'>, username: string) {
  const secret = generateTotpSecret()
  const brand = readSettings(s).text('BRAND_NAME')
  return { secret, uri: totpUri(brand, username, secret) }
}

/** Whether a code is one of the admin's app, now used up: false for a wrong one, and for one that was used before. */
export function* acceptTotpCode(tx: Query, admin: Admin, code: string, now: Date) {
  if (admin.totpSecret === null) return false
  const step = findTotpStep(admin.totpSecret, code, now)
  return step !== null && (yield* claimTotpStep(tx, admin.id, step))
}

/**
 * Turns the second factor on once a code shows that the app has the secret, and ends the admin's other sessions. The step of
 * that code is used up. Throws 400 for an empty or malformed secret, a wrong code, and where it is on already.
 */
export async function enableTwoFactor(
  s: Pick<Services, 'db' | 'clock' | 'config'>,
  login: Login,
  given: { secret: string; code: string },
): Promise<void> {
  const now = s.clock.now()
  const at = formatTimestamp(now)
  if (given.secret.trim() === '') throw fieldRefusal('secret', 'empty')
  const secret = parseTotpSecret(given.secret)
  if (secret === null) throw fieldRefusal('secret', 'not-a-totp-secret')
  const step = findTotpStep(secret, given.code, now)
  await s.db.tx(function* (tx) {
    yield* requireLogin(tx, login, at)
    const admin = yield* readAdmin(tx, login.adminId)
    if (!admin || admin.totpSecret !== null) throw refusal('second-factor-on')
    if (step === null) throw refusal('wrong-code').with({ status: 400 })
    yield* updateAdmin(tx, admin.id, { totpSecret: secret, totpLastStep: step })
    yield* deleteLoginsOf(tx, admin.id, login.sessionId)
    yield* audit(tx, login.actor, at, { action: '2fa.enable', object: admin.username })
    yield* alert(tx, s, at, { about: 'two-factor-on', ...login.actor })
  })
}

/**
 * Turns the second factor off, recovery codes with it, and ends the admin's other sessions; where it is off already, nothing changes. Throws as
 * `confirmPassword` does.
 */
export async function disableTwoFactor(
  s: Pick<Services, 'db' | 'clock' | 'hashing' | 'config'>,
  login: Login,
  password: string,
): Promise<void> {
  const confirmed = await confirmPassword(s, login, password)
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const admin = yield* requireSame(tx, login, confirmed, at)
    if (admin.totpSecret === null) return
    yield* updateAdmin(tx, admin.id, { totpSecret: null, totpLastStep: null })
    yield* replaceRecoveryCodes(tx, admin.id, [], at)
    yield* deleteLoginsOf(tx, admin.id, login.sessionId)
    yield* audit(tx, login.actor, at, { action: '2fa.disable', object: admin.username })
    yield* alert(tx, s, at, { about: 'two-factor-off', ...login.actor })
  })
}
