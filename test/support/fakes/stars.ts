/** Stars of a bot, as far as they are used: https://core.telegram.org/bots/payments-stars. Invoices are paid by the test. */
import type { Reply } from './system.ts'

interface Partner {
  type: 'user'
  transaction_type: 'invoice_payment'
  user: { id: number; is_bot: false; first_name: string }
  invoice_payload: string
}

/** https://core.telegram.org/bots/api#startransaction */
interface StarTransaction {
  id: string
  amount: number
  date: number
  source?: Partner
  receiver?: Partner
}

export interface FakeStars {
  /** Transactions of a bot by its token, oldest first. */
  transactions(token: string): StarTransaction[]
  /** Pays an invoice by its link; gives the `successful_payment` that the bot hears of. */
  pay(link: string, tgId: number, date?: number): SuccessfulPayment
  /** Gives the Stars of a charge back. */
  refund(token: string, chargeId: string): void
  reset(): void
}

export interface SuccessfulPayment {
  currency: 'XTR'
  total_amount: number
  invoice_payload: string
  telegram_payment_charge_id: string
  provider_payment_charge_id: string
}

const refusal = (description: string): Reply => ({
  status: 400,
  json: { ok: false, error_code: 400, description: `Bad Request: ${description}` },
})
const ok = (result: unknown): Reply => ({ status: 200, json: { ok: true, result } })

/** What Telegram says against an invoice in Stars; null: nothing. */
// biome-ignore lint/suspicious/noExplicitAny: a request's body
function faultOf(body: any): string | null {
  const within = (text: unknown, most: number) =>
    typeof text === 'string' && text.length >= 1 && text.length <= most
  if (!within(body.title, 32)) return 'INVOICE_TITLE_INVALID'
  if (!within(body.description, 255)) return 'INVOICE_DESCRIPTION_INVALID'
  if (!within(body.payload, 128)) return 'INVOICE_PAYLOAD_INVALID'
  if (body.currency !== 'XTR' || body.provider_token !== '') return 'PAYMENT_PROVIDER_INVALID'
  const [price, ...more] = body.prices ?? []
  const isPrice = Number.isSafeInteger(price?.amount) && price.amount > 0 && within(price.label, 64)
  return isPrice && more.length === 0 ? null : 'STARS_INVOICE_INVALID'
}

export function createFakeStars() {
  const invoices = new Map<string, { token: string; payload: string; amount: number }>()
  const ledgers = new Map<string, StarTransaction[]>()
  const transactions = (token: string) => {
    const ledger = ledgers.get(token) ?? []
    ledgers.set(token, ledger)
    return ledger
  }
  const fake: FakeStars = {
    transactions,
    pay(link, tgId, date = 1_772_366_484) {
      const invoice = invoices.get(link)
      if (!invoice) throw new Error(`no invoice ${link}`)
      const { token, payload, amount } = invoice
      const id = `stxn_${transactions(token).length}_${payload.slice(0, 8)}`
      const source: Partner = {
        type: 'user',
        transaction_type: 'invoice_payment',
        user: { id: tgId, is_bot: false, first_name: 'Ada' },
        invoice_payload: payload,
      }
      transactions(token).push({ id, amount, date, source })
      return {
        currency: 'XTR',
        total_amount: amount,
        invoice_payload: payload,
        telegram_payment_charge_id: id,
        provider_payment_charge_id: `${tgId}_1`,
      }
    },
    refund(token, chargeId) {
      const charge = transactions(token).find(({ id, source }) => id === chargeId && source)
      if (!charge?.source) throw new Error(`no charge ${chargeId}`)
      const { id, amount, date, source } = charge
      transactions(token).push({ id, amount, date: date + 60, receiver: source })
    },
    reset() {
      invoices.clear()
      ledgers.clear()
    },
  }
  /** The answer to a method about Stars; null for other methods. */
  // biome-ignore lint/suspicious/noExplicitAny: a request's body
  function answer(token: string, method: string, body: any): Reply | null {
    if (method === 'createInvoiceLink') {
      const fault = faultOf(body)
      if (fault) return refusal(fault)
      const link = `https://t.me/$invoice${invoices.size + 1}`
      invoices.set(link, { token, payload: body.payload, amount: body.prices[0].amount })
      return ok(link)
    }
    if (method !== 'getStarTransactions') return null
    const { offset = 0, limit = 100 } = body
    if (offset < 0 || limit < 1 || limit > 100) return refusal('LIMIT_INVALID')
    return ok({ transactions: transactions(token).slice(offset, offset + limit) })
  }
  return { fake, answer }
}
