/** cisPay (api.cispay.app, Merchant API). Amounts are in kopecks; notices go to the address in its cabinet. */

import * as v from 'valibot'
import { cut } from '#src/lib/format.ts'
import { MINUTE_MS } from '#src/lib/time.ts'
import { webLink } from '#src/lib/values.ts'
import type { PaymentState } from '#src/ports/payment-gateway.ts'
import { idSchema, isId, moneyText } from '../gateway-call.ts'
import type { Preset } from './preset.ts'

/** An invoice that nobody pays expires after this. */
const LIFE_MS = 30 * MINUTE_MS

const createdSchema = v.object({ id: idSchema, payment_url: v.nullish(webLink) })

const stateSchema = v.object({
  id: idSchema,
  status: v.string(),
  amount: v.nullish(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  currency: v.nullish(v.string()),
  is_sandbox: v.nullish(v.boolean()),
})
type State = v.InferOutput<typeof stateSchema>

/** 19900 as `199.00`. */
const rubles = (kopecks: number) => moneyText((kopecks / 100).toFixed(2)) ?? undefined

function toState({ status, amount, currency, is_sandbox: test }: State): PaymentState | null {
  const fields = {
    amount: amount == null ? undefined : rubles(amount),
    currency: currency ?? undefined,
    test: test ?? undefined,
  }
  const states = new Map<string, PaymentState>([
    ['PENDING', { state: 'pending' }],
    ['PAID', { state: 'paid', ...fields }],
    ['REFUNDED', { state: 'paid', ...fields, refunded: true }],
    ['FAILED', { state: 'failed', reason: 'failed' }],
    ['EXPIRED', { state: 'failed', reason: 'expired' }],
  ])
  return states.get(status) ?? null
}

export const cispay: Preset = {
  headers: ({ shopId, secret }) => ({ 'x-shop-id': shopId, 'x-api-key': secret }),
  creationPath: '/payments',
  // Which of the two a shop may use is set in its cabinet.
  creations: (order) =>
    ['SBP', 'CARD'].map((method) => ({
      amount: order.amount * 100,
      currency: order.currency,
      order_id: order.paymentId,
      payment_method: method,
      customer_id: String(order.tgId),
      description: cut(order.description, 128),
      redirect_success_url: order.returnUrl,
      redirect_fail_url: order.returnUrl,
    })),
  readCreated(body) {
    const parsed = v.safeParse(createdSchema, body)
    if (!parsed.success) return null
    const { id, payment_url: payUrl } = parsed.output
    return { externalId: id, payUrl: payUrl ?? null, lifeMs: LIFE_MS }
  },
  checkPath: (externalId) =>
    isId(externalId) ? `/payments/status?id=${encodeURIComponent(externalId)}` : null,
  readState(body, externalId) {
    const parsed = v.safeParse(stateSchema, body)
    return parsed.success && parsed.output.id === externalId ? toState(parsed.output) : null
  },
}
