/** What strangers can have asked of a provider by their notices is bounded, for all hosts and web processes together. */
import type { Payment } from '#db/schema/index.ts'
import { sharesOf } from '#src/domain/payments/rules.ts'
import { attemptKey } from '#src/lib/ip.ts'
import { createLimiter, type Limiter, lineBefore } from '#src/lib/limiter.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import type { Rate, Share } from '#src/lib/turns.ts'
import type { Services } from '#src/services.ts'

const LOOK_UPS: Share = ['all', { most: 1, inMs: 2 * SECOND_MS }, { most: 60, inMs: HOUR_MS }]
const LOOK_UPS_OF_ONE: Rate = { most: 20, inMs: HOUR_MS }

/** A buyer's notices come in twos and threes, so those are heard at once. What is left of a settled payment is a late word or a refund. */
const RATES: Record<Payment['status'], Rate> = {
  pending: { most: 3, inMs: 10 * SECOND_MS },
  failed: { most: 1, inMs: MINUTE_MS },
  paid: { most: 3, inMs: MINUTE_MS },
}

export interface NoticeLimits {
  /** At most 16 questions of a process at a time, 8 of them about payments of guests who have bought nothing; 503 for one more. */
  limited(guest: boolean): Limiter
  /**
   * Whether a notice that nothing is known of may be looked up: one in 2 seconds, 60 an hour, 20 of them for an address (IPv6: /64).
   * Strangers at many addresses can use these up. A true one comes again for a day, as it was refused, and the daily list of what
   * was paid has its payment too.
   */
  mayLookUp(ip: string): Promise<boolean>
  /**
   * Whether a payment may be asked about once more: not too often by its status, nor by what was asked about others of its customer,
   * of all guests together who have bought nothing where it is one of them, and not while its provider wants to be left alone.
   */
  mayAsk(
    payment: Pick<Payment, 'id' | 'status' | 'provider' | 'tgId'>,
    guest: boolean,
  ): Promise<boolean>
}

/** The bounds of a process that begins. Their memory is of the last minute, of payments that exist, and of the last hour's look-ups. */
export function createNoticeLimits(s: Pick<Services, 'counts'>): NoticeLimits {
  const looked = s.counts.turnsOf('look-ups', HOUR_MS)
  const asked = s.counts.turnsOf('notices', MINUTE_MS)
  const all = createLimiter(16, 0)
  const ofGuests = lineBefore(all, 8, 0)
  return {
    limited: (guest) => (guest ? ofGuests : all),
    mayLookUp: async (ip) =>
      (await looked.take(LOOK_UPS, [`of ${attemptKey(ip)}`, LOOK_UPS_OF_ONE])) === 0,
    async mayAsk(payment, guest) {
      const { id, status, provider } = payment
      if (s.counts.rests.leftMs(provider) > 0) return false
      const shares = sharesOf(payment, guest)
      return (await asked.take([`${status} ${id}`, RATES[status]], ...shares)) === 0
    },
  }
}
