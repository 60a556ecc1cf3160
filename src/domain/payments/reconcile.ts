/** Asks about pending payments by itself: what no webhook told, what a crash left half made, what waits for its node or plan. */

import { ENV_GENERATION, PAYMENTS_GENERATION } from '#db/own-settings.ts'
import {
  listDuePayments,
  listReturnedPayments,
  makeAllDue,
  postponeCheck,
  postponeProvider,
} from '#db/payments.ts'
import type { Payment } from '#db/schema.ts'
import { putSetting, readSetting } from '#db/settings.ts'
import type { Actor } from '#src/domain/audit.ts'
import { errorMessage } from '#src/lib/errors.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { addDays, formatTimestamp, parseTimestamp, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type CheckDeps, recheckPayment } from './check.ts'
import { completeCreation } from './create.ts'
import { ASK_AGAIN_MS, GONE, nextCheckAt } from './rules.ts'
import { findShop } from './shops.ts'

export type ReconcilerDeps = CheckDeps & Pick<Services, 'fatal' | 'paymentCreations'>

const RECONCILER: Actor = { admin: null, ip: 'reconciler' }

const BATCH = 20
const AT_A_TIME = 3
/** A run that finds more than it can do in this time leaves the rest to the next. */
const RUN_MS = 50 * SECOND_MS

/** Makes every pending payment due after a restore: what it knew may be old. */
async function followRestore(s: ReconcilerDeps, now: string): Promise<void> {
  await s.db.tx(function* (tx) {
    const generation = yield* readSetting(tx, ENV_GENERATION)
    if (generation === undefined || generation === (yield* readSetting(tx, PAYMENTS_GENERATION)))
      return
    yield* makeAllDue(tx, now)
    yield* putSetting(tx, PAYMENTS_GENERATION, generation)
  })
}

interface Answer {
  /** Whether asking again is any use. */
  over?: true
  /** Nobody knows what became of it: it is asked about after a week too. */
  unclear?: true
  /** How long the provider wants to be left alone. */
  retryAfterMs: number | null
}

const NO_REST: Answer = { retryAfterMs: null }

/** Asks once more for a payment whose creation a crash or an unclear answer interrupted, while the same question gets the same payment. */
async function complete(s: ReconcilerDeps, payment: Payment, now: Date): Promise<Answer> {
  const age = now.getTime() - parseTimestamp(payment.createdAt).getTime()
  const shop = findShop(s, payment)
  const askable = s.gateways[payment.provider]?.idempotent && age < ASK_AGAIN_MS
  if (!askable || !payment.order || !shop) return { over: true, retryAfterMs: null }
  const done = await completeCreation(s, payment, shop)
  if ('payment' in done || done.outcome === 'refused') return NO_REST
  return { retryAfterMs: done.retryAfterMs }
}

async function ask(s: ReconcilerDeps, payment: Payment): Promise<Answer> {
  const { found } = await recheckPayment(s, payment, { actor: RECONCILER, leaveToCaller: true })
  return found.state === 'unknown' ? { unclear: true, retryAfterMs: found.retryAfterMs } : NO_REST
}

/** Brings one payment forward. One at which something breaks does not hold up the others. */
async function bringForward(s: ReconcilerDeps, payment: Payment): Promise<Answer> {
  const unfinished = payment.externalId === ''
  try {
    return unfinished ? await complete(s, payment, s.clock.now()) : await ask(s, payment)
  } catch (error) {
    s.fatal(error)
    s.log.error('a payment could not be reconciled', {
      payment: payment.id,
      reason: errorMessage(error),
    })
    return { unclear: true, retryAfterMs: null }
  }
}

/** Brings one payment forward and says when it comes next. */
async function reconcile(s: ReconcilerDeps, payment: Payment): Promise<Answer> {
  const answer = await bringForward(s, payment)
  const at = s.clock.now()
  const regular = nextCheckAt(payment.createdAt, at, answer.retryAfterMs ?? 0)
  const next = answer.over
    ? null
    : (regular ?? (answer.unclear ? formatTimestamp(addDays(at, 1)) : null))
  await s.db.tx((tx) => postponeCheck(tx, payment, next))
  return answer
}

/** Reconciles payments, a few at a time; those of a provider that wants to be left alone wait as long as it says. */
async function reconcileAll(s: ReconcilerDeps, payments: Payment[]): Promise<void> {
  const limiter = createLimiter(AT_A_TIME)
  const resting = new Set<Payment['provider']>()
  await Promise.all(
    payments.map((payment) =>
      limiter(async () => {
        const { provider } = payment
        if (resting.has(provider)) return
        const { retryAfterMs } = await reconcile(s, payment)
        if (retryAfterMs === null || resting.has(provider)) return
        resting.add(provider)
        const until = formatTimestamp(new Date(s.clock.now().getTime() + retryAfterMs + SECOND_MS))
        await s.db.tx((tx) => postponeProvider(tx, provider, until))
      }),
    ),
  )
}

/**
 * One run: every payment that is due, then those whose node or plan is back. Payments are asked about whatever is switched off: the
 * switches stop new ones.
 */
export async function reconcilePayments(s: ReconcilerDeps): Promise<void> {
  const startedMs = s.clock.monotonicMs()
  const now = () => formatTimestamp(s.clock.now())
  await followRestore(s, now())
  for (;;) {
    const due = listDuePayments(s.db, now(), BATCH)
    if (due.length === 0) break
    await reconcileAll(s, due)
    if (s.clock.monotonicMs() - startedMs > RUN_MS) return
  }
  await reconcileAll(s, await listReturnedPayments(s.db, GONE, BATCH))
}
