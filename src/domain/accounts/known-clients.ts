/** Whose guesses at an account are counted apart from those of strangers, so that these can't lock its owner out. */

import { hasLoggedInFrom } from '#db/audit-log.ts'
import type { Reading } from '#db/engine/database.ts'
import type { Admin } from '#db/schema/index.ts'
import { attemptKey } from '#src/lib/ip.ts'
import { DAY_MS, timestampBefore } from '#src/lib/time.ts'
import { findDevice } from './admin-devices.ts'
import type { LoginOrigin } from './sessions.ts'

/** So long an address is known after a login from there. */
const ADDRESS_MS = 30 * DAY_MS

/**
 * What the guesses of a browser, else of an address (IPv6: /64), are counted by from which an account was logged in to; undefined
 * for a stranger's.
 */
export function* knownClient(
  tx: Reading,
  admin: Pick<Admin, 'id' | 'username'>,
  client: Pick<LoginOrigin, 'ip' | 'device'>,
  now: Date,
): Generator<unknown, string | undefined, unknown> {
  const device = yield* findDevice(tx, admin.id, client.device)
  if (device !== undefined) return `device ${device}`
  const since = timestampBefore(now, ADDRESS_MS)
  const isKnown = yield* hasLoggedInFrom(tx, admin.username, client.ip, since)
  return isKnown ? `admin ${admin.id} at ${attemptKey(client.ip)}` : undefined
}
