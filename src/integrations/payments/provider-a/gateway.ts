/** Payments of provider A: YooKassa's API v3, by its OpenAPI description and yookassa.ru/developers. */

import { base64, utf8 } from '#src/lib/encoding.ts'
import { cut } from '#src/lib/format.ts'
import type {
  GatewayParts,
  Order,
  PaymentGateway,
  ShopCredentials,
  SucceededPayment,
} from '#src/ports/payment-gateway.ts'
import {
  callGateway,
  isId,
  isRefusal,
  LIST_LIMIT_BYTES,
  NO_ID,
  readAnswer,
  unanswered,
  wholeUnits,
} from '../gateway-call.ts'
import {
  listSchema,
  paymentSchema,
  readCreated,
  readState,
  refusalReason,
  retryAfterMs,
  toSucceeded,
} from './answers.ts'

interface Options extends Omit<GatewayParts, 'clock'> {
  /** They promise an answer to a creation within 30 s, and say that the outcome is unknown after that. */
  createTimeoutMs?: number | undefined
}

const PAGE_SIZE = 100
const MAX_PAGES = 100
const LIST_TIMEOUT_MS = 60_000

function amountOf({ amount, currency }: Order) {
  return { value: wholeUnits(amount), currency }
}

/** 54-FZ: one service for the whole amount, paid in full. */
function receiptOf(order: Order) {
  if (!order.receipt) return {}
  const item = {
    description: cut(order.description, 128),
    quantity: 1,
    amount: amountOf(order),
    vat_code: order.receipt.vatCode,
    payment_subject: 'service',
    payment_mode: 'full_payment',
  }
  return { receipt: { customer: { email: order.receipt.email }, items: [item] } }
}

const creationOf = (order: Order) => ({
  amount: amountOf(order),
  capture: true,
  confirmation: {
    type: 'redirect',
    return_url: order.returnUrl,
    locale: order.lang === 'ru' ? 'ru_RU' : 'en_US',
  },
  description: cut(order.description, 128),
  metadata: { payment_id: order.paymentId, tg_id: String(order.tgId) },
  ...receiptOf(order),
})

/** The header that says which shop asks. */
const authorization = ({ shopId, secret }: ShopCredentials): string =>
  `Basic ${base64(utf8(`${shopId}:${secret}`))}`

/** Payments through YooKassa at `apiUrl`. */
export function createProviderAGateway({
  apiUrl,
  outbound,
  timeoutMs = 10_000,
  createTimeoutMs = 20_000,
}: Options): Required<PaymentGateway> {
  const get = (
    path: string,
    shop: ShopCredentials,
    more: { maxBytes?: number; signal?: AbortSignal } = {},
  ) =>
    callGateway(outbound, {
      method: 'GET',
      url: apiUrl + path,
      headers: { authorization: authorization(shop) },
      signal: AbortSignal.timeout(timeoutMs),
      ...more,
    })
  return {
    // For 24 hours; later the same key is a new payment.
    idempotent: true,

    async create(order, shop) {
      const answer = await callGateway(outbound, {
        method: 'POST',
        url: `${apiUrl}/payments`,
        headers: { authorization: authorization(shop), 'idempotence-key': order.paymentId },
        json: creationOf(order),
        signal: AbortSignal.timeout(createTimeoutMs),
      })
      const payment = readAnswer(paymentSchema, answer)
      if (payment) return readCreated(order, payment)
      const reason = isRefusal(answer) ? refusalReason(order, shop, answer.body) : null
      if (reason !== null) return { outcome: 'refused', reason }
      return { outcome: 'unknown', ...unanswered(answer, retryAfterMs(answer)) }
    },

    async check({ externalId }, shop) {
      if (!isId(externalId)) return { state: 'unknown', reason: NO_ID, retryAfterMs: null }
      const answer = await get(`/payments/${encodeURIComponent(externalId)}`, shop)
      const payment = readAnswer(paymentSchema, answer)
      if (payment?.id === externalId) return readState(payment)
      // Not found is no reason to fail: the shop may have been exchanged for another.
      return { state: 'unknown', ...unanswered(answer, retryAfterMs(answer)) }
    },

    async verify(shop) {
      const signal = AbortSignal.timeout(timeoutMs)
      // Its description is for partners and payouts, although it answers plain shops too: where it does not, payments are asked for.
      const me = await get('/me', shop, { signal })
      const answer =
        me.status === 403 || me.status === 404
          ? await get('/payments?limit=1', shop, { signal })
          : me
      if (answer.status === 401 || answer.status === 403) return { outcome: 'rejected' }
      if (answer.status === 200 && answer.body !== null) return { outcome: 'accepted' }
      return { outcome: 'unreachable', reason: unanswered(answer).reason }
    },

    async listSucceeded(since, shop) {
      const found: SucceededPayment[] = []
      let cursor: string | undefined
      const time = AbortSignal.timeout(LIST_TIMEOUT_MS)
      for (let page = 0; page < MAX_PAGES && !time.aborted; page++) {
        const query = new URLSearchParams({
          status: 'succeeded',
          'created_at.gte': since.toISOString(),
          limit: String(PAGE_SIZE),
          ...(cursor === undefined ? {} : { cursor }),
        })
        const answer = await get(`/payments?${query}`, shop, { maxBytes: LIST_LIMIT_BYTES })
        const list = readAnswer(listSchema, answer)
        if (!list) return unanswered(answer, retryAfterMs(answer))
        found.push(...list.items.map(toSucceeded))
        if (list.next_cursor == null) return found
        cursor = list.next_cursor
      }
      return { reason: 'the list has no end', retryAfterMs: null }
    },
  }
}
