/** Any gateway that speaks the small API of docs/gateways.md. */

import * as v from 'valibot'
import { cut } from '#src/lib/format.ts'
import { webLink } from '#src/lib/values.ts'
import type { PaymentState } from '#src/ports/payment-gateway.ts'
import { idSchema, isId, moneySchema, wholeUnits } from '../gateway-call.ts'
import type { Preset } from './preset.ts'

const createdSchema = v.object({ id: idSchema, payment_url: v.nullish(webLink) })

const stateSchema = v.object({
  id: idSchema,
  status: v.pipe(v.string(), v.toLowerCase()),
  amount: v.nullish(moneySchema),
  currency: v.nullish(v.string()),
})

const PENDING = ['pending', 'created', 'new', 'waiting', 'processing']
const PAID = ['succeeded', 'success', 'paid', 'confirmed']
const REFUNDED = ['refunded', 'chargeback']
const FAILED = ['failed', 'canceled', 'cancelled', 'expired', 'declined']

function toState({ status, amount, currency }: v.InferOutput<typeof stateSchema>) {
  const paid = {
    state: 'paid',
    amount: amount ?? undefined,
    currency: currency ?? undefined,
  } as const
  const states: [words: string[], state: PaymentState][] = [
    [PENDING, { state: 'pending' }],
    [PAID, paid],
    [REFUNDED, { ...paid, refunded: true }],
    [FAILED, { state: 'failed', reason: status }],
  ]
  return states.find(([words]) => words.includes(status))?.[1] ?? null
}

export const generic: Preset = {
  headers: ({ shopId, secret }) => ({ authorization: `Bearer ${secret}`, 'x-merchant-id': shopId }),
  creationPath: '/payments',
  creations: (order) => [
    {
      order_id: order.paymentId,
      amount: wholeUnits(order.amount),
      currency: order.currency,
      description: cut(order.description, 128),
      return_url: order.returnUrl,
      webhook_url: order.noticeUrl,
      customer_id: String(order.tgId),
    },
  ],
  readCreated(body) {
    const parsed = v.safeParse(createdSchema, body)
    if (!parsed.success) return null
    const { id, payment_url: payUrl } = parsed.output
    return { externalId: id, payUrl: payUrl ?? null, lifeMs: null }
  },
  checkPath: (externalId) =>
    isId(externalId) ? `/payments/${encodeURIComponent(externalId)}` : null,
  readState(body, externalId) {
    const parsed = v.safeParse(stateSchema, body)
    return parsed.success && parsed.output.id === externalId ? toState(parsed.output) : null
  },
}
