/** Asks about pending payments by itself: what no webhook told, what a crash left half made, what waits for its node or plan. */

import { notePaymentsAsked } from '#db/instance.ts'
import {
  type DuePayment,
  listDuePayments,
  listReturnedPayments,
  makeAllDue,
  postponeCheck,
} from '#db/payments.ts'
import type { Payment } from '#db/schema/index.ts'
import type { Actor } from '#src/domain/audit.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import { addDays, formatTimestamp, parseTimestamp, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type CheckDeps, recheckPayment } from './check.ts'
import { type CreationDeps, completeCreation } from './create.ts'
import { ASK_AGAIN_MS, GONE, nextCheckAt } from './rules.ts'
import { findShop } from './shops.ts'

export type ReconcilerDeps = CheckDeps & CreationDeps & Pick<Services, 'fatal'>

const RECONCILER: Actor = { admin: null, ip: 'reconciler' }

const BATCH = 20
const AT_A_TIME = 3
/** A run that finds more than it can do in this time leaves the rest to the next. */
const RUN_MS = 50 * SECOND_MS
/** Questions of one run about payments of one customer. What is over it is due at the next. */
const MOST_OF_ONE = 20
/** The same about payments of all guests together who have bought nothing. */
const MOST_OF_GUESTS = 100
/** Between two questions about a payment, however often it is made due meanwhile. */
const ASK_EVERY_MS = 10 * SECOND_MS

/** Makes every pending payment due after a restore: what it knew may be old. */
async function followRestore(s: ReconcilerDeps, now: string): Promise<void> {
  await s.db.tx(function* (tx) {
    if (yield* notePaymentsAsked(tx)) yield* makeAllDue(tx, now)
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
  const shop = await findShop(s, payment)
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
    noteFault(s, 'error', 'a payment could not be reconciled', error, { payment: payment.id })
    return { unclear: true, retryAfterMs: null }
  }
}

/** Brings one payment forward and says when it comes next. */
async function reconcile(s: ReconcilerDeps, payment: Payment): Promise<void> {
  const answer = await bringForward(s, payment)
  const at = s.clock.now()
  const regular = nextCheckAt(payment.createdAt, at, answer.retryAfterMs ?? 0)
  const next = answer.over
    ? null
    : (regular ?? (answer.unclear ? formatTimestamp(addDays(at, 1)) : null))
  await s.db.tx((tx) => postponeCheck(tx, payment, next, 1))
}

/** What a run has asked so far. */
interface Run {
  /** When, by payment. */
  askedMs: Map<string, number>
  /** How often, by customer. */
  questions: Map<number, number>
  /** About payments of guests who have bought nothing. */
  ofGuests: number
}

/** Brings a payment forward unless it has had its share of this run, or its provider wants to be left alone: then it stays due. */
async function reconcileFairly(s: ReconcilerDeps, run: Run, payment: DuePayment): Promise<void> {
  const { id, tgId, provider, guest } = payment
  const questions = run.questions.get(tgId) ?? 0
  if (s.gatewayRests.leftMs(provider) > 0 || questions === MOST_OF_ONE) return
  if (guest && run.ofGuests === MOST_OF_GUESTS) return
  const nowMs = s.clock.monotonicMs()
  const askedMs = run.askedMs.get(id)
  const waitMs = askedMs === undefined ? 0 : askedMs + ASK_EVERY_MS - nowMs
  if (waitMs > 0) {
    // Its former answer may be older than the notice that has made it due.
    const then = formatTimestamp(new Date(s.clock.now().getTime() + waitMs + SECOND_MS))
    return s.db.tx((tx) => postponeCheck(tx, payment, then, 0))
  }
  run.askedMs.set(id, nowMs)
  run.questions.set(tgId, questions + 1)
  if (guest) run.ofGuests++
  await reconcile(s, payment)
}

/** Reconciles payments, a few at a time. */
async function reconcileAll(s: ReconcilerDeps, run: Run, payments: DuePayment[]): Promise<void> {
  const limiter = createLimiter(AT_A_TIME)
  await Promise.all(payments.map((payment) => limiter(() => reconcileFairly(s, run, payment))))
}

/** The next payments that are due and may be asked about in this run, customers in turns. */
function listNext(s: ReconcilerDeps, { questions, ofGuests }: Run): Promise<DuePayment[]> {
  const resting = Object.keys(s.gateways).filter((id) => s.gatewayRests.leftMs(id) > 0)
  const served = [...questions].filter(([, asked]) => asked === MOST_OF_ONE).map(([tgId]) => tgId)
  const now = formatTimestamp(s.clock.now())
  const guests = ofGuests < MOST_OF_GUESTS
  return s.db.read((q) => listDuePayments(q, now, BATCH, { resting, served, guests }))
}

/**
 * One run: every payment that is due, then those whose node or plan is back. Payments are asked about whatever is switched off: the
 * switches stop new ones. What has no turn, because its provider rests or its customer has had theirs, stays due as long as before.
 */
export async function reconcilePayments(s: ReconcilerDeps): Promise<void> {
  const startedMs = s.clock.monotonicMs()
  const run: Run = { askedMs: new Map(), questions: new Map(), ofGuests: 0 }
  await followRestore(s, formatTimestamp(s.clock.now()))
  for (;;) {
    const due = await listNext(s, run)
    if (due.length === 0) break
    await reconcileAll(s, run, due)
    if (s.clock.monotonicMs() - startedMs > RUN_MS) return
  }
  const returned = await s.db.read((q) => listReturnedPayments(q, GONE, BATCH))
  await reconcileAll(
    s,
    run,
    // Their money is there.
    returned.map((payment) => ({ ...payment, guest: false })),
  )
}
