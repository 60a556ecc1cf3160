/** Guesses at password and code by a session: few in a day, after which it ends. */

import type { Query } from '#db/engine/database.ts'
import { deleteSessionOf } from '#db/logins.ts'
import { audit } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import {
  CONFIRMATION_LIMIT,
  isUsedUp,
  reserveAttempt,
  SCRIPT_CONFIRMATION_LIMIT,
  sessionKey,
} from './attempts.ts'
import type { Login } from './principals.ts'
import { findLogin, requireLogin } from './sessions.ts'

const limitOf = ({ panel }: { panel: boolean }) =>
  panel ? CONFIRMATION_LIMIT : SCRIPT_CONFIRMATION_LIMIT

/**
 * Reserves an attempt of a session before it is evaluated, and gives its id: one that turns out right goes again. Throws 401 when
 * the session has ended, and 429 for what comes beside its last.
 */
export function* reserveSessionGuess(tx: Query, login: Login, now: Date) {
  const session = yield* requireLogin(tx, login, formatTimestamp(now))
  return yield* reserveAttempt(tx, sessionKey(login.sessionId), limitOf(session), now)
}

/** Notes a wrong one. The last that a session has ends it, and is told: whoever guesses there is not the one who logged in. */
export function* noteWrongGuess(
  tx: Query,
  s: Pick<Services, 'config'>,
  login: Login,
  now: Date,
  action: 'password.failed' | 'code.failed',
) {
  const at = formatTimestamp(now)
  yield* audit(tx, login.actor, at, { action })
  const session = yield* findLogin(tx, login, at)
  if (!session || !(yield* isUsedUp(tx, sessionKey(login.sessionId), limitOf(session), now))) return
  yield* deleteSessionOf(tx, login.adminId, login.sessionId)
  const object = String(login.sessionId)
  yield* audit(tx, login.actor, at, { action: 'session.end', object, detail: action })
  yield* alert(tx, s, at, { about: 'session-ended', ...login.actor })
}
