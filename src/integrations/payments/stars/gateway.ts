/** Payments in Telegram Stars (core.telegram.org/bots/payments-stars): invoice links, and the bot's own ledger to look them up in. */

import * as v from 'valibot'
import { sha256Hex } from '#src/lib/crypto.ts'
import { cut } from '#src/lib/format.ts'
import type { JsonObject } from '#src/lib/json.ts'
import { HOUR_MS } from '#src/lib/time.ts'
import { webLink } from '#src/lib/values.ts'
import type {
  GatewayParts,
  Order,
  PaymentGateway,
  PaymentState,
  Unanswered,
} from '#src/ports/payment-gateway.ts'
import { callBotApi, retryAfterMs } from '../../bot-api.ts'
import { failureReason } from '../../outbound.ts'
import {
  type GatewayAnswer,
  gatewayWords,
  isRefusal,
  LIST_LIMIT_BYTES,
  REJECTED,
  readAnswer,
  unanswered,
  wholeUnits,
} from '../gateway-call.ts'
import {
  type Charge,
  createStarLedger,
  PAGE_SIZE,
  type StarLedger,
  transactionSchema,
} from './ledger.ts'

const linkAnswer = v.object({ ok: v.literal(true), result: webLink })

const pageSchema = v.object({
  ok: v.literal(true),
  result: v.object({ transactions: v.array(transactionSchema) }),
})

/** How long Telegram wants to be left alone, as far as it says. */
function restMs(answer: GatewayAnswer): number | null {
  const wanted = answer.status === null ? null : retryAfterMs(answer.body)
  return wanted === null ? null : Math.min(wanted, HOUR_MS)
}

const isRejection = (answer: GatewayAnswer) => answer.status === 401 || answer.status === 404

function invoiceOf(order: Order): JsonObject {
  const title = cut(order.description, 32)
  return {
    title,
    description: cut(order.description, 255),
    payload: order.paymentId,
    provider_token: '',
    currency: 'XTR',
    prices: [{ label: title, amount: order.amount }],
  }
}

const toState = ({ amount, refunded }: Charge): PaymentState => ({
  state: 'paid',
  amount: wholeUnits(amount),
  currency: 'XTR',
  refunded,
})

/**
 * Payments through the bot whose token is the shop's secret. `externalId` is the payment's own id until the bot hears of the
 * charge: an invoice link has none. A check reads what is new in the bot's transactions, since Stars can't be asked for one.
 */
export function createStars({
  apiUrl,
  timeoutMs = 10_000,
}: Pick<GatewayParts, 'apiUrl' | 'timeoutMs'>): PaymentGateway {
  const ledgers = new Map<string, StarLedger>()

  async function call(
    token: string,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<GatewayAnswer> {
    try {
      return await callBotApi({
        apiUrl,
        token,
        method,
        params,
        signal,
        maxBytes: LIST_LIMIT_BYTES,
      })
    } catch (error) {
      return { status: null, reason: failureReason(error, signal) }
    }
  }

  /** Reads what is new in the bot's transactions, within the time of one call. */
  async function update(token: string, ledger: StarLedger): Promise<Unanswered | null> {
    const signal = AbortSignal.timeout(timeoutMs)
    return ledger.update(async (offset) => {
      const params = { offset, limit: PAGE_SIZE }
      const answer = await call(token, 'getStarTransactions', params, signal)
      const page = readAnswer(pageSchema, answer)
      return page?.result.transactions ?? unanswered(answer, restMs(answer))
    })
  }

  return {
    // Every link of a payment carries its id, and the bot takes money for it once.
    idempotent: true,

    async create(order, { secret: token }) {
      const signal = AbortSignal.timeout(timeoutMs)
      const answer = await call(token, 'createInvoiceLink', invoiceOf(order), signal)
      const payUrl = readAnswer(linkAnswer, answer)?.result
      if (payUrl !== undefined) {
        return { outcome: 'created', externalId: order.paymentId, payUrl, expiresAt: null }
      }
      if (!isRefusal(answer) || answer.body.ok !== false) {
        return { outcome: 'unknown', ...unanswered(answer, restMs(answer)) }
      }
      const words = gatewayWords(answer.body.description, [token])
      return { outcome: 'refused', reason: isRejection(answer) ? REJECTED : words }
    },

    async check({ id, externalId }, { secret: token }) {
      const key = sha256Hex(token)
      const ledger = ledgers.get(key) ?? createStarLedger()
      ledgers.set(key, ledger)
      const failure = await update(token, ledger)
      const charge = ledger.find(id, externalId)
      if (charge) return toState(charge)
      // An invoice link does not expire: only money that came is news.
      return failure ? { state: 'unknown', ...failure } : { state: 'pending' }
    },
  }
}
