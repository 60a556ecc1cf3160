/** Payments through Crypto Pay, the API of @CryptoBot (help.send.tg, "Crypto Pay API" 1.5): invoices in the shop's currency, paid in coins. */

import * as v from 'valibot'
import { cut } from '#src/lib/format.ts'
import type { JsonObject } from '#src/lib/json.ts'
import { HOUR_MS, SECOND_MS } from '#src/lib/time.ts'
import { webLink } from '#src/lib/values.ts'
import type {
  Created,
  GatewayParts,
  Order,
  PaymentGateway,
  PaymentState,
} from '#src/ports/payment-gateway.ts'
import {
  callGateway,
  type GatewayAnswer,
  gatewayWords,
  idSchema,
  isId,
  isRefusal,
  momentOf,
  moneySchema,
  NO_ID,
  REJECTED,
  readAnswer,
  unanswered,
  wholeUnits,
} from '../gateway-call.ts'

/** The rate that a buyer sees is the gateway's; the price holds for an hour. */
const LIFE_MS = HOUR_MS

const invoiceSchema = v.object({
  invoice_id: idSchema,
  status: v.picklist(['active', 'paid', 'expired']),
  currency_type: v.optional(v.string()),
  fiat: v.optional(v.string()),
  asset: v.optional(v.string()),
  amount: moneySchema,
  bot_invoice_url: v.optional(webLink),
  expiration_date: v.optional(v.string()),
  payload: v.optional(v.string()),
})
type Invoice = v.InferOutput<typeof invoiceSchema>

const createdSchema = v.object({ ok: v.literal(true), result: invoiceSchema })

/** The document says a list, the API gives it as `items`. */
const foundSchema = v.object({
  ok: v.literal(true),
  result: v.union([
    v.object({ items: v.array(v.unknown()) }),
    v.pipe(
      v.array(v.unknown()),
      v.transform((items) => ({ items })),
    ),
  ]),
})

const invoiceOf = (order: Order): JsonObject => ({
  currency_type: 'fiat',
  fiat: order.currency,
  amount: wholeUnits(order.amount),
  description: cut(order.description, 128),
  payload: order.paymentId,
  expires_in: LIFE_MS / SECOND_MS,
  allow_comments: false,
  ...(order.returnUrl.startsWith('https://')
    ? { paid_btn_name: 'callback', paid_btn_url: order.returnUrl }
    : {}),
})

function readCreated(invoice: Invoice): Created {
  if (invoice.bot_invoice_url === undefined) {
    return { outcome: 'refused', reason: 'the gateway gave no link to pay by' }
  }
  return {
    outcome: 'created',
    externalId: invoice.invoice_id,
    payUrl: invoice.bot_invoice_url,
    expiresAt: momentOf(invoice.expiration_date),
  }
}

function readState(invoice: Invoice): PaymentState {
  if (invoice.status === 'active') return { state: 'pending' }
  if (invoice.status === 'expired') return { state: 'failed', reason: 'expired' }
  // What was asked for: the coins that were paid are worth it by the gateway's rate.
  const currency = invoice.currency_type === 'fiat' ? invoice.fiat : invoice.asset
  return { state: 'paid', amount: invoice.amount, currency }
}

/** Whether an invoice may be the payment's: a payload that is there is its id. */
const belongs = ({ payload }: Invoice, id: string) =>
  id === '' || payload === undefined || payload === id

/** The invoice of a payment in an answer. */
function findInvoice(answer: GatewayAnswer, payment: { id: string; externalId: string }) {
  return (readAnswer(foundSchema, answer)?.result.items ?? [])
    .map((item) => v.safeParse(invoiceSchema, item))
    .map((item) => (item.success ? item.output : undefined))
    .find((invoice) => invoice?.invoice_id === payment.externalId && belongs(invoice, payment.id))
}

/** `{ok: false, error: {code, name}}` in the gateway's words. */
function refusalReason({ status, body }: { status: number; body: JsonObject }, token: string) {
  if (status === 401) return REJECTED
  const { name } = (body.error ?? {}) as { name?: unknown }
  return gatewayWords(name, [token]) || `answered ${status}`
}

/** Payments through Crypto Pay at `apiUrl`; the shop's secret is the app's token. Asked twice for an order it makes two invoices. */
export function createCryptobotGateway({
  apiUrl,
  outbound,
  timeoutMs = 10_000,
}: Omit<GatewayParts, 'clock'>): PaymentGateway {
  const call = (method: string, token: string, json: JsonObject) =>
    callGateway(outbound, {
      method: 'POST',
      url: `${apiUrl}/${method}`,
      headers: { 'crypto-pay-api-token': token },
      json,
      signal: AbortSignal.timeout(timeoutMs),
    })
  return {
    idempotent: false,

    async create(order, { secret }) {
      const answer = await call('createInvoice', secret, invoiceOf(order))
      const created = readAnswer(createdSchema, answer)
      if (created) return readCreated(created.result)
      if (isRefusal(answer) && answer.body.ok === false) {
        return { outcome: 'refused', reason: refusalReason(answer, secret) }
      }
      return { outcome: 'unknown', ...unanswered(answer) }
    },

    async check(payment, { secret }) {
      if (!isId(payment.externalId)) {
        return { state: 'unknown', reason: NO_ID, retryAfterMs: null }
      }
      const answer = await call('getInvoices', secret, { invoice_ids: payment.externalId })
      const invoice = findInvoice(answer, payment)
      return invoice ? readState(invoice) : { state: 'unknown', ...unanswered(answer) }
    },

    async verify({ secret }) {
      const answer = await callGateway(outbound, {
        method: 'GET',
        url: `${apiUrl}/getMe`,
        headers: { 'crypto-pay-api-token': secret },
        signal: AbortSignal.timeout(timeoutMs),
      })
      // `{ok, result}` or `{ok: false, error: {code, name}}`.
      const ok = answer.status === null ? undefined : answer.body?.ok
      if (ok === true && answer.status === 200) return { outcome: 'accepted' }
      if (ok === false && (answer.status === 401 || answer.status === 403)) {
        return { outcome: 'rejected' }
      }
      return { outcome: 'unreachable', reason: unanswered(answer).reason }
    },
  }
}
