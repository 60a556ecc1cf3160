/** Recovery codes: a second factor on paper, for whoever loses the authenticator app. */

import { findAdmin } from '#db/admins.ts'
import type { Query } from '#db/engine/database.ts'
import { claimRecoveryCode, countRecoveryCodes, replaceRecoveryCodes } from '#db/recovery-codes.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { randomBase32 } from '#src/lib/random.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { confirmPassword, requireSame } from './admins.ts'
import type { Login } from './principals.ts'

const CODES = 10
/** 80 random bits: no hash of one can be searched for. */
const CODE = /^[A-Z2-7]{16}$/

/** A code as it is compared: without dashes and spaces, in capitals; null for what can't be one. */
function normalCode(text: string): string | null {
  const code = text.replace(/[\s-]/g, '').toUpperCase()
  return CODE.test(code) ? code : null
}

/** In groups of four, as people copy it. */
const shownCode = (code: string) => (code.toLowerCase().match(/.{4}/g) as string[]).join('-')

/**
 * Makes ten codes for a logged-in admin, which are never shown again; those that they had end. Throws as `confirmPassword` does, and
 * 400 while two-factor login is off, whatever the password: nothing is to be learned of it there.
 */
export async function makeRecoveryCodes(
  s: Pick<Services, 'db' | 'clock' | 'hashing' | 'config'>,
  login: Login,
  password: string,
): Promise<string[]> {
  const isOff = () => refusal('second-factor-off')
  if (!(await s.db.read((q) => findAdmin(q, login.adminId)))?.totpEnabled) throw isOff()
  const confirmed = await confirmPassword(s, login, password)
  const codes = Array.from({ length: CODES }, () => randomBase32(16))
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const { id, totpSecret, username } = yield* requireSame(tx, login, confirmed, at)
    if (totpSecret === null) throw isOff()
    yield* replaceRecoveryCodes(tx, id, codes.map(sha256Hex), at)
    yield* audit(tx, login.actor, at, { action: '2fa.recovery-codes', object: username })
    yield* alert(tx, s, at, { about: 'recovery-codes-made', ...login.actor })
  })
  return codes.map(shownCode)
}

/** Uses a code up in the transaction of the login that it completes, and tells of it. False when it is none. */
export function* acceptRecoveryCode(
  tx: Query,
  s: Pick<Services, 'config'>,
  { adminId, actor }: { adminId: number; actor: Actor },
  text: string,
  at: string,
) {
  const code = normalCode(text)
  if (code === null || !(yield* claimRecoveryCode(tx, adminId, sha256Hex(code), at))) return false
  const left = yield* countRecoveryCodes(tx, adminId)
  yield* audit(tx, actor, at, { action: '2fa.recovery-code', detail: `${left} left` })
  yield* alert(tx, s, at, { about: 'recovery-code-used', left, ...actor })
  return true
}
