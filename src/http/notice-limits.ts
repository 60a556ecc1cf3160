/** What strangers can have asked of a provider by their notices is bounded, for all hosts of a process together. */
import type { Payment } from '#db/schema.ts'
import { createLimiter, type Limiter } from '#src/lib/limiter.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import type { Http } from './context.ts'

const LOOK_UP_EVERY_MS = 2 * SECOND_MS
const LOOK_UPS_PER_HOUR = 60

interface Rate {
  most: number
  inMs: number
}

/** A buyer's notices come in twos and threes, so those are heard at once. What is left of a settled payment is a late word or a refund. */
const RATES: Record<Payment['status'], Rate> = {
  pending: { most: 3, inMs: 10 * SECOND_MS },
  failed: { most: 1, inMs: MINUTE_MS },
  paid: { most: 3, inMs: MINUTE_MS },
}

export interface NoticeLimits {
  /** At most 16 questions at a time; 503 for one more. */
  limited: Limiter
  /** Whether a notice that nothing is known of may be looked up: one in 2 seconds, 60 an hour. */
  mayLookUp(): boolean
  /** Whether a payment may be asked about once more: not too often by its status, and not while its provider is to be left alone. */
  mayAsk(payment: Pick<Payment, 'id' | 'status' | 'provider'>): boolean
  /** Leaves a provider alone for so long. */
  rest(provider: string, ms: number): void
}

/** When something was done, oldest first; what was done `inMs` ago or earlier is forgotten. */
function forgetOld(times: number[], now: number, inMs: number): void {
  while (times[0] !== undefined && times[0] <= now - inMs) times.shift()
}

/** The bounds of a process that begins. Their memory is of the last minute, of payments that exist, and of the last hour's look-ups. */
export function createNoticeLimits(s: Pick<Http, 'clock'>): NoticeLimits {
  const looked: number[] = []
  /** By payment and status; the one that was asked about last is at the end. */
  const asked = new Map<string, number[]>()
  const restingUntil = new Map<string, number>()

  const forgetAsked = (now: number) => {
    for (const [key, times] of asked) {
      if ((times.at(-1) as number) > now - MINUTE_MS) return
      asked.delete(key)
    }
  }
  return {
    limited: createLimiter(16, 0),
    mayLookUp() {
      const now = s.clock.monotonicMs()
      forgetOld(looked, now, HOUR_MS)
      const last = looked.at(-1)
      if (last !== undefined && now - last < LOOK_UP_EVERY_MS) return false
      if (looked.length >= LOOK_UPS_PER_HOUR) return false
      looked.push(now)
      return true
    },
    mayAsk({ id, status, provider }) {
      const now = s.clock.monotonicMs()
      if ((restingUntil.get(provider) ?? now) > now) return false
      forgetAsked(now)
      const key = `${status} ${id}`
      const times = asked.get(key) ?? []
      const { most, inMs } = RATES[status]
      forgetOld(times, now, inMs)
      if (times.length >= most) return false
      times.push(now)
      asked.delete(key)
      asked.set(key, times)
      return true
    },
    rest(provider, ms) {
      const until = s.clock.monotonicMs() + ms
      restingUntil.set(provider, Math.max(until, restingUntil.get(provider) ?? until))
    },
  }
}
