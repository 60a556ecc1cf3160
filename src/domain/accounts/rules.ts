/** What is asked of every account. */

import { readAdmin } from '#db/admins.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { readSettings, readSettingsIn, writeSettings } from '#src/domain/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import type { Login } from './principals.ts'
import { requireLogin } from './sessions.ts'

/** Whether an account without a second factor may do nothing but set one up. */
export const isSecondFactorRequired = (s: Pick<Services, 'db' | 'config'>): boolean =>
  readSettings(s).flag('REQUIRE_2FA')

/** Says whether all accounts need a second factor. Throws 400 when it is asked for by one that has none. */
export async function requireSecondFactor(
  s: Pick<Services, 'db' | 'clock' | 'config'>,
  login: Login,
  required: boolean,
): Promise<void> {
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    yield* requireLogin(tx, login, at)
    const admin = yield* readAdmin(tx, login.adminId)
    if (required && admin?.totpSecret === null) {
      throw refusal('own-second-factor-first')
    }
    const before = (yield* readSettingsIn(tx, s)).flag('REQUIRE_2FA')
    yield* writeSettings(tx, login.actor, at, { REQUIRE_2FA: String(required) })
    if (before !== required) {
      yield* alert(tx, s, at, { about: 'two-factor-rule', required, ...login.actor })
    }
  })
}
