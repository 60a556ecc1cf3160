/** Guests: whoever buys on the site without a link or a bot. They get a link before they pay, and are forgotten where they never do. */
import { listIdleGuests, settleGuests } from '#db/guests.ts'
import { deleteUser, insertCustomer, updateUser } from '#db/users.ts'
import { type AttemptLimit, reserveAttempt } from '#src/domain/accounts/attempts.ts'
import { readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import { attemptKey } from '#src/lib/ip.ts'
import { pause } from '#src/lib/pause.ts'
import { randomToken } from '#src/lib/random.ts'
import { DAY_MS, formatTimestamp, HOUR_MS, timestampBefore } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

/** Of an address. */
const LIMIT: AttemptLimit = { kind: 'guest', limit: 5, windowMs: HOUR_MS }
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

/** Whether guests are sold to. */
export const sellsToGuests = (settings: Settings): boolean => settings.flag('GUEST_SALES')

/**
 * Makes a guest and gives the token of their link. Throws 404 where none are sold to, 429 where enough have come from an address (IPv6:
 * /64).
 */
export async function createGuest(
  s: Pick<Services, 'db' | 'config' | 'clock'>,
  ip: string,
  lang: string | null,
): Promise<string> {
  const at = s.clock.now()
  const now = formatTimestamp(at)
  const token = randomToken()
  await s.db.tx(function* (tx) {
    if (!sellsToGuests(yield* readSettingsIn(tx, s))) throw refusal('not-found')
    yield* reserveAttempt(tx, guestKey(ip), LIMIT, at)
    const { tgId } = yield* insertCustomer(tx, token, now)
    yield* updateUser(tx, tgId, { guestAt: now, lang })
  })
  return token
}

/**
 * Deletes the guests of more than a week ago who have bought nothing and may not be paying; their payments stay, as of all who are deleted.
 * Who has bought by then is a customer like all others.
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
