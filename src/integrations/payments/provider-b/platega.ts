/** Platega (docs.platega.io). It takes no address for notices: the callback is set in its cabinet. */

import * as v from 'valibot'
import { cut } from '#src/lib/format.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import { webLink } from '#src/lib/values.ts'
import type { PaymentState } from '#src/ports/payment-gateway.ts'
import { idSchema, isId, moneySchema } from '../gateway-call.ts'
import type { Preset } from './preset.ts'

/** "CreateTransactionResponse" of the second version, where the buyer chooses how to pay. */
const createdSchema = v.object({
  transactionId: idSchema,
  url: v.nullish(webLink),
  expiresIn: v.nullish(v.string()),
})

/** "TransactionStatusResponse": nothing in it is required. */
const stateSchema = v.object({
  id: idSchema,
  status: v.string(),
  paymentDetails: v.nullish(
    v.object({ amount: v.nullish(moneySchema), currency: v.nullish(v.string()) }),
  ),
})

const LIFE = /^(?:(\d{1,3})\.)?(\d{1,2}):(\d{2}):(\d{2})(?:\.\d+)?$/

/** `00:15:00`, or with days before it as .NET writes longer spans. */
function parseLife(text: string | null | undefined): number | null {
  const [, days = '0', hours, minutes, seconds] = LIFE.exec(text ?? '') ?? []
  if (hours === undefined) return null
  return (
    Number(days) * DAY_MS +
    Number(hours) * HOUR_MS +
    Number(minutes) * MINUTE_MS +
    Number(seconds) * SECOND_MS
  )
}

function toState({ status, paymentDetails }: v.InferOutput<typeof stateSchema>) {
  const amounts = {
    amount: paymentDetails?.amount ?? undefined,
    currency: paymentDetails?.currency ?? undefined,
  }
  const states = new Map<string, PaymentState>([
    ['PENDING', { state: 'pending' }],
    ['CONFIRMED', { state: 'paid', ...amounts }],
    ['CHARGEBACKED', { state: 'paid', ...amounts, refunded: true }],
    ['CANCELED', { state: 'failed', reason: 'canceled' }],
    // The two of the older documents.
    ['EXPIRED', { state: 'failed', reason: 'expired' }],
    ['FAILED', { state: 'failed', reason: 'failed' }],
  ])
  return states.get(status) ?? null
}

export const platega: Preset = {
  headers: ({ shopId, secret }) => ({ 'x-merchantid': shopId, 'x-secret': secret }),
  creationPath: '/v2/transaction/process',
  creations: (order) => [
    {
      paymentDetails: { amount: order.amount, currency: order.currency },
      description: cut(order.description, 128),
      return: order.returnUrl,
      failedUrl: order.returnUrl,
      payload: order.paymentId,
      // Without the payer's id their antifraud is off for some kinds of shops, which may be closed for it.
      metadata: {
        userId: String(order.tgId),
        userName: order.username ? `@${order.username}` : String(order.tgId),
      },
    },
  ],
  readCreated(body) {
    const parsed = v.safeParse(createdSchema, body)
    if (!parsed.success) return null
    const { transactionId, url, expiresIn } = parsed.output
    return { externalId: transactionId, payUrl: url ?? null, lifeMs: parseLife(expiresIn) }
  },
  checkPath: (externalId) => (isId(externalId) ? `/transaction/${externalId}` : null),
  readState(body, externalId) {
    const parsed = v.safeParse(stateSchema, body)
    if (!parsed.success || parsed.output.id.toLowerCase() !== externalId.toLowerCase()) return null
    return toState(parsed.output)
  },
}
