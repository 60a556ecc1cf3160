/**
 * Confirmation: before what a thief of a session would do first, a session of the panel gives password or code anew. Scripts, whose
 * sessions the login page did not make, keep the contract's behaviour.
 */
import { readAdmin } from '#db/admins.ts'
import type { Query } from '#db/engine/database.ts'
import { confirmSession, deleteAttempt } from '#db/logins.ts'
import type { ApiError } from '#src/lib/errors.ts'
import { formatTimestamp, MINUTE_MS, timestampBefore } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { confirmPassword, requireUnchanged } from './admins.ts'
import type { Login } from './principals.ts'
import { noteWrongGuess, reserveSessionGuess } from './session-guesses.ts'
import { acceptTotpCode } from './two-factor.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'hashing' | 'config'>

/** How long a confirmation counts; a login is one. */
const CONFIRMED_MS = 10 * MINUTE_MS

/** Whether a session has to be confirmed first. */
export function needsConfirmation(
  s: Pick<Services, 'clock' | 'config'>,
  session: { panel: boolean; confirmedAt: string | null },
): boolean {
  if (!s.config.reauth || !session.panel) return false
  const { confirmedAt } = session
  return confirmedAt === null || confirmedAt <= timestampBefore(s.clock.now(), CONFIRMED_MS)
}

function* acceptConfirmation(tx: Query, login: Login, attempt: number, at: string) {
  yield* deleteAttempt(tx, attempt)
  yield* confirmSession(tx, login.sessionId, at)
}

async function confirmByPassword(s: Deps, login: Login, password: string, now: Date) {
  const { admin, attempt } = await confirmPassword(s, login, password, { ofAccount: false })
  const at = formatTimestamp(now)
  await s.db.tx(function* (tx) {
    yield* requireUnchanged(tx, login, admin, at)
    yield* acceptConfirmation(tx, login, attempt, at)
  })
}

async function confirmByCode(s: Deps, login: Login, code: string, now: Date) {
  // Returned: a refusal must not undo what the transaction counted.
  const refused = await s.db.tx(function* (tx): Generator<unknown, ApiError | null, unknown> {
    const attempt = yield* reserveSessionGuess(tx, login, now)
    const admin = yield* readAdmin(tx, login.adminId)
    if (admin && (yield* acceptTotpCode(tx, admin, code, now))) {
      yield* acceptConfirmation(tx, login, attempt, formatTimestamp(now))
      return null
    }
    yield* noteWrongGuess(tx, s, login, now, 'code.failed')
    return refusal('wrong-code')
  })
  if (refused) throw refused
}

/**
 * Confirms a session by the password, or a code of the authenticator app, of its admin; gives until when that counts. Throws 400
 * for neither or both, and 401 `wrong password` or `wrong code`: too many of a session within a day end it; 429 for what comes
 * beside the last.
 */
export async function confirmIdentity(
  s: Deps,
  login: Login,
  { password, code }: { password?: string | undefined; code?: string | undefined },
): Promise<string> {
  const now = s.clock.now()
  if (password !== undefined && code === undefined) {
    await confirmByPassword(s, login, password, now)
  } else if (code !== undefined && password === undefined) {
    await confirmByCode(s, login, code, now)
  } else throw refusal('password-or-code')
  return formatTimestamp(new Date(now.getTime() + CONFIRMED_MS))
}
