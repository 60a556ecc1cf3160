/** Asks a payment's provider what became of it, and does what the answer means. */
import { checkSoon, readPayment } from '#db/payments.ts'
import type { Payment } from '#db/schema/index.ts'
import type { Actor } from '#src/domain/audit.ts'
import type { Limiter } from '#src/lib/limiter.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { PaymentState } from '#src/ports/payment-gateway.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { type Confirmation, confirmPayment } from './confirm.ts'
import { type GatewayDeps, gatewayOf } from './gateways.ts'
import type { ConfirmDeps } from './grant.ts'
import { findShop } from './shops.ts'
import { paymentStep } from './steps.ts'

export type CheckDeps = ConfirmDeps & GatewayDeps & Pick<Services, 'paymentChecks'>

/**
 * The provider's word on a payment, and nothing is done about it. Who asks while the same question is under way shares its answer; unless that is
 * `pending`: it may have been given before the payment was made of which the caller has heard.
 */
export async function askProvider(
  s: CheckDeps,
  payment: Payment,
  limited: Limiter,
): Promise<PaymentState> {
  const { id, externalId, provider } = payment
  const shop = await findShop(s, payment)
  const gateway = gatewayOf(s, provider)
  if (!shop || !gateway) {
    const reason = 'nobody has the credentials of its shop'
    return { state: 'unknown', reason, retryAfterMs: null }
  }
  const ask = () => limited(() => gateway.check({ id, externalId }, shop))
  const first = s.paymentChecks(id, ask)
  const found = await first.answer
  if (!first.joined || found.state !== 'pending') return found
  return s.paymentChecks(id, ask).answer
}

interface CheckOptions {
  actor?: Actor
  /** Bounds how many questions are asked at a time; what it throws is thrown on. */
  limited?: Limiter
  /** When to ask again is for whoever asks to decide. */
  leaveToCaller?: boolean
}

/**
 * Asks about a payment that the provider knows, and does what the answer means. An unclear answer is left to the reconciler, which
 * asks again at its next run.
 */
export async function recheckPayment(
  s: CheckDeps,
  payment: Payment,
  { actor, limited = (work) => work(), leaveToCaller = false }: CheckOptions = {},
): Promise<Confirmation & { found: PaymentState }> {
  paymentStep(s, payment.id, 'asked')
  const found = await askProvider(s, payment, limited)
  paymentStep(s, payment.id, 'answered')
  if (found.state === 'unknown') {
    s.log.info('a payment could not be checked', {
      payment: payment.id,
      provider: payment.provider,
      reason: found.reason,
    })
    if (!leaveToCaller) await askAgainSoon(s, payment.id)
  }
  return { ...(await confirmPayment(s, payment.id, found, actor ? { actor } : {})), found }
}

/** Has a payment asked about at the reconciler's next run. */
export async function askAgainSoon(s: Pick<CheckDeps, 'db' | 'clock'>, id: string): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx((tx) => checkSoon(tx, id, now))
}

/** `answered`: false where the provider was to be asked and gave no answer, which says nothing of the money. */
interface Checked {
  status: Payment['status']
  answered: boolean
}

/**
 * The status of a payment after asking its provider, where it is pending and the provider knows it. Throws 404 for an unknown
 * payment.
 */
export async function checkPayment(s: CheckDeps, id: string, actor: Actor): Promise<Checked> {
  const payment = await s.db.read((q) => readPayment(q, id))
  if (!payment) throw refusal('payment-not-found')
  if (payment.status !== 'pending' || payment.externalId === '') {
    return { status: payment.status, answered: true }
  }
  const { status, found } = await recheckPayment(s, payment, { actor })
  return { status, answered: found.state !== 'unknown' }
}
