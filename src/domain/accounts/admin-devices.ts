/**
 * Browsers in which an admin has logged in before. They keep their way in while strangers guess at the account, so that nobody can
 * lock its owner out (owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies).
 */
import { insertDevice, readDevice, touchDevice } from '#db/admin-devices.ts'
import type { Query, Reading } from '#db/engine/database.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { randomToken } from '#src/lib/random.ts'

/** As long as browsers keep a cookie at most (RFC 6265bis, 5.5). */
export const DEVICE_TTL_SECONDS = 400 * 86_400
/** Of one admin; the one that was not seen for the longest time makes room. */
const MOST_DEVICES = 20

/** The id of an admin's device by the cookie that a browser brought; undefined where it brought none, or another admin's. */
export function* findDevice(tx: Reading, adminId: number, token: string | undefined) {
  return token === undefined ? undefined : yield* readDevice(tx, adminId, sha256Hex(token))
}

/** Notes that an admin has logged in with a browser; gives the token that it is to keep. */
export function* rememberDevice(
  tx: Query,
  adminId: number,
  token: string | undefined,
  at: string,
): Generator<unknown, string, unknown> {
  const known = yield* findDevice(tx, adminId, token)
  if (known !== undefined && token !== undefined) {
    yield* touchDevice(tx, known, at)
    return token
  }
  // Never one that the browser brought and nobody knows: it may be of somebody's choice.
  const fresh = randomToken()
  yield* insertDevice(tx, { adminId, token: sha256Hex(fresh), at }, MOST_DEVICES)
  return fresh
}
