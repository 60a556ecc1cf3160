/** Guests: whoever buys on the site without a link or a bot. They get a link before they pay, and are forgotten where they never do. */

import type { Query } from '#db/engine/database.ts'
import { listIdleGuests, settleGuests } from '#db/guests.ts'
import { insertAttempt } from '#db/logins.ts'
import { deleteUser, insertCustomer, updateUser } from '#db/users.ts'
import { type AttemptLimit, secondsToWait } from '#src/domain/accounts/attempts.ts'
import { readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { attemptKey, networkKey } from '#src/lib/ip.ts'
import { pause } from '#src/lib/pause.ts'
import { randomToken } from '#src/lib/random.ts'
import { DAY_MS, formatTimestamp, HOUR_MS, MINUTE_MS, timestampBefore } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

const within = (limit: number, windowMs: number): AttemptLimit => ({
  kind: 'guest',
  limit,
  windowMs,
})

/**
 * Guests cost whoever makes them nothing, so what they may be and order is bounded for all together too, and for the network around an
 * address (IPv4: /24, IPv6: /48). Strangers of many networks can use that up, and hold up guests alone.
 */
const LIMITS = {
  ofAddress: within(5, HOUR_MS),
  ofNetwork: within(20, HOUR_MS),
  ofAll: within(50, 10 * MINUTE_MS),
  ordersOfNetwork: within(60, HOUR_MS),
  ordersOfAll: within(100, 10 * MINUTE_MS),
}
/** How long they, and the last of their orders, are kept. */
const KEPT_MS = 7 * DAY_MS
const BATCH = 100
/** Between two batches, so that other writers get their turn. */
const PAUSE_MS = 5

/**
 * What guests of an address are counted by: 24 bits of its hash, of which two visitors of an hour hardly have the same. Addresses of
 * customers are not kept.
 */
const guestKey = (ip: string): string => `guest ${sha256Hex(attemptKey(ip)).slice(0, 6)}`
/** The same of its network: 16 bits, as there are few networks. */
const networkHash = (ip: string): string => sha256Hex(networkKey(ip)).slice(0, 4)

type Place = [key: string, limit: AttemptLimit]

/** Reserves all these places. Throws 429, with what else a buyer can do, where one of them is taken. */
function* reserve(tx: Query, places: Place[], at: Date) {
  for (const [key, limit] of places) {
    const wait = yield* secondsToWait(tx, key, limit, at)
    if (wait !== null) throw refusal('too-many-guests').after(wait)
  }
  const now = formatTimestamp(at)
  for (const [key, { kind }] of places) yield* insertAttempt(tx, key, kind, now)
}

/** Reserves a new order of a guest who has bought nothing. Throws 429. */
export const reserveOrder = (tx: Query, ip: string, at: Date) =>
  reserve(
    tx,
    [
      [`orders near ${networkHash(ip)}`, LIMITS.ordersOfNetwork],
      ['orders of guests', LIMITS.ordersOfAll],
    ],
    at,
  )

/** Whether guests are sold to. */
export const sellsToGuests = (settings: Settings): boolean => settings.flag('GUEST_SALES')

/**
 * Makes a guest and gives the token of their link. Throws 404 where none are sold to, 429 where enough have come from an address (IPv6:
 * /64), from its network, or at all.
 */
export async function createGuest(
  s: Pick<Services, 'db' | 'config' | 'clock' | 'strangersTurn'>,
  ip: string,
  lang: string | null,
): Promise<string> {
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const token = randomToken()
  const make = function* (tx: Query) {
    if (!sellsToGuests(yield* readSettingsIn(tx, s))) throw refusal('not-found')
    const places: Place[] = [
      [guestKey(ip), LIMITS.ofAddress],
      [`guests near ${networkHash(ip)}`, LIMITS.ofNetwork],
      ['guests', LIMITS.ofAll],
    ]
    yield* reserve(tx, places, at)
    const { tgId } = yield* insertCustomer(tx, token, now)
    yield* updateUser(tx, tgId, { guestAt: now, lang })
  }
  await s.strangersTurn(networkKey(ip), () => s.db.tx(make))
  return token
}

/**
 * Deletes the guests of more than a week ago who have bought nothing and whose orders are older, and asked about no more: only gateways
 * whose bills never end have such ones. Their payments stay, as of all who are deleted: what is paid for one all the same is for an admin
 * to review. Who has bought by then is a customer like all others.
 */
export async function forgetGuests(s: Pick<Services, 'db' | 'clock'>): Promise<void> {
  const before = timestampBefore(s.clock.now(), KEPT_MS)
  const forget = () =>
    s.db.tx(function* (tx) {
      const settled = yield* settleGuests(tx, before, BATCH)
      const guests = yield* listIdleGuests(tx, before, BATCH)
      for (const guest of guests) yield* deleteUser(tx, guest)
      return settled === BATCH || guests.length === BATCH
    })
  while (await forget()) await pause(PAUSE_MS)
}
