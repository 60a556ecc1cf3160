/** What YooKassa's answers say (its OpenAPI description; yookassa.ru/developers/using-api/response-handling). */
import * as v from 'valibot'
import type { JsonObject } from '#src/lib/json.ts'
import { HOUR_MS } from '#src/lib/time.ts'
import { webLink } from '#src/lib/values.ts'
import type {
  Created,
  Order,
  PaymentState,
  Refund,
  ShopCredentials,
  SucceededPayment,
} from '#src/ports/payment-gateway.ts'
import {
  currencySchema,
  type GatewayAnswer,
  gatewayWords,
  idSchema,
  momentOf,
  moneySchema,
  REJECTED,
  UNREADABLE,
} from '../gateway-call.ts'

/** "Payment methods": a link that nobody confirms lives for an hour. */
const LINK_LIFE_MS = HOUR_MS
const money = v.object({ value: moneySchema, currency: currencySchema })

/** What we gave the payment when it was made. Other programs of the same shop write what they like. */
const metadata = v.record(v.string(), v.unknown())

export const paymentSchema = v.object({
  id: idSchema,
  status: v.picklist(['pending', 'waiting_for_capture', 'succeeded', 'canceled']),
  amount: money,
  created_at: v.nullish(v.string()),
  paid: v.nullish(v.boolean()),
  test: v.nullish(v.boolean()),
  refunded_amount: v.nullish(money),
  metadata: v.nullish(metadata),
  confirmation: v.nullish(v.object({ confirmation_url: v.nullish(webLink) })),
  cancellation_details: v.nullish(v.object({ party: v.string(), reason: v.string() })),
})
type YooPayment = v.InferOutput<typeof paymentSchema>

export const listSchema = v.object({
  items: v.array(
    v.object({
      id: idSchema,
      amount: money,
      refunded_amount: v.nullish(money),
      metadata: v.nullish(metadata),
    }),
  ),
  next_cursor: v.nullish(v.pipe(v.string(), v.nonEmpty(), v.maxLength(200))),
})

const errorSchema = v.object({
  type: v.literal('error'),
  code: v.string(),
  description: v.nullish(v.string()),
  parameter: v.nullish(v.string()),
  retry_after: v.nullish(v.pipe(v.number(), v.minValue(0))),
})

/** Their pause before the next try, in milliseconds as they give it. */
export function retryAfterMs(answer: GatewayAnswer): number | null {
  if (answer.status === null || !answer.body) return null
  const parsed = v.safeParse(errorSchema, answer.body)
  const pause = parsed.success ? parsed.output.retry_after : undefined
  return pause == null ? null : Math.min(pause, HOUR_MS)
}

/** What the admin has to know of a refusal; null when the body is not their error. */
export function refusalReason(
  order: Order,
  shop: ShopCredentials,
  body: JsonObject,
): string | null {
  const parsed = v.safeParse(errorSchema, body)
  if (!parsed.success) return null
  const { code, description, parameter } = parsed.output
  if (code === 'invalid_credentials' || code === 'forbidden') return REJECTED
  const words = gatewayWords(description, [shop.secret])
  if (parameter?.startsWith('receipt') || /receipt/i.test(words)) {
    return order.receipt
      ? `the receipt was refused, check RECEIPT_EMAIL and VAT_CODE: ${words}`
      : 'the shop demands receipts (54-FZ): set RECEIPT_MODE to on, and RECEIPT_EMAIL'
  }
  return [gatewayWords(code, [shop.secret]), gatewayWords(parameter, [shop.secret]), words]
    .filter((part) => part !== '')
    .join(': ')
}

function cancellationReason({ cancellation_details: details }: YooPayment): string {
  return details ? gatewayWords(`${details.reason} (${details.party})`, []) : 'canceled'
}

/** The life of a link counts from the payment's creation: asked again, they give the same payment. */
const linkEnd = (createdAt: string | null | undefined) => momentOf(createdAt, LINK_LIFE_MS)

/** What came of a creation. */
export function readCreated(order: Order, payment: YooPayment): Created {
  if (payment.status === 'canceled') {
    return { outcome: 'refused', reason: cancellationReason(payment) }
  }
  // A payment that was paid meanwhile has no link any more; its id is still to be kept.
  const payUrl = payment.confirmation?.confirmation_url
  if (payUrl == null && payment.status === 'pending') {
    return { outcome: 'unknown', reason: UNREADABLE, retryAfterMs: null }
  }
  return {
    outcome: 'created',
    externalId: payment.id,
    payUrl: payUrl ?? order.returnUrl,
    expiresAt: linkEnd(payment.created_at),
  }
}

/** Refunds may be partial, and several (yookassa.ru/developers/payment-acceptance/after-the-payment/refunds). */
function refundOf({
  amount,
  refunded_amount: refunded,
}: Pick<YooPayment, 'amount' | 'refunded_amount'>): Refund {
  const back = Number(refunded?.value ?? 0)
  if (back === 0) return { refunded: false }
  if (back >= Number(amount.value)) return { refunded: true }
  return { refunded: false, refundedPart: refunded?.value }
}

/** The state of a payment. */
export function readState(payment: YooPayment): PaymentState {
  if (payment.status === 'canceled') return { state: 'failed', reason: cancellationReason(payment) }
  if (payment.status !== 'succeeded') return { state: 'pending' }
  if (payment.paid === false) {
    return { state: 'unknown', reason: 'succeeded, but not paid', retryAfterMs: null }
  }
  const { value, currency } = payment.amount
  const own = payment.metadata?.payment_id
  return {
    state: 'paid',
    paymentId: own == null ? undefined : String(own),
    amount: value,
    currency,
    test: payment.test ?? undefined,
    ...refundOf(payment),
  }
}

/** A payment of the list of those that succeeded. */
export function toSucceeded(
  item: v.InferOutput<typeof listSchema>['items'][number],
): SucceededPayment {
  const paymentId = item.metadata?.payment_id
  return {
    externalId: item.id,
    paymentId: typeof paymentId === 'string' ? paymentId : null,
    amount: item.amount.value,
    currency: item.amount.currency,
    ...refundOf(item),
  }
}
