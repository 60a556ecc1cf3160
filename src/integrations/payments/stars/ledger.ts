/** A bot's Star transactions, as far as they were read: Telegram can't be asked for one, only for the list from the oldest on. */
import * as v from 'valibot'
import type { Unanswered } from '#src/ports/payment-gateway.ts'

/** The most that one call gives. */
export const PAGE_SIZE = 100
/** Charges that are remembered; the oldest go first. */
const MAX_CHARGES = 50_000

/** Partners of other kinds have other fields: an invoice is paid by a user. */
const partner = v.optional(v.object({ invoice_payload: v.optional(v.string()) }))

/** core.telegram.org/bots/api#startransaction: money that comes has a source, money that goes a receiver. */
export const transactionSchema = v.object({
  id: v.string(),
  amount: v.pipe(v.number(), v.safeInteger()),
  date: v.number(),
  source: partner,
  receiver: partner,
})
type Transaction = v.InferOutput<typeof transactionSchema>

export interface Charge {
  id: string
  payload: string
  amount: number
  refunded: boolean
}

/** Transactions from the one number `offset` on, or why there are none. */
type ReadPage = (offset: number) => Promise<Transaction[] | Unanswered>

export interface StarLedger {
  /** Reads what is new. Null when all was read; what was read before a failure stays. */
  update(readPage: ReadPage): Promise<Unanswered | null>
  find(payload: string, chargeId: string): Charge | undefined
}

interface Entries {
  byPayload: Map<string, Charge>
  byId: Map<string, Charge>
  /** How many transactions were read, and the last of them. */
  count: number
  last: string
}

const noEntries = (): Entries => ({ byPayload: new Map(), byId: new Map(), count: 0, last: '' })

/** A refund has the id of its charge. */
const keyOf = ({ id, date, amount, source }: Transaction) =>
  `${id} ${date} ${amount} ${source === undefined ? 'out' : 'in'}`

function enterCharge({ byPayload, byId }: Entries, charge: Charge): void {
  // Of two charges for one payment the first counts; of the second the bot itself hears (bot/stars.ts).
  if (byPayload.has(charge.payload)) return
  byPayload.set(charge.payload, charge)
  byId.set(charge.id, charge)
  for (const oldest of byPayload.values()) {
    if (byPayload.size <= MAX_CHARGES) return
    byPayload.delete(oldest.payload)
    byId.delete(oldest.id)
  }
}

function enter(entries: Entries, one: Transaction): void {
  entries.count++
  entries.last = keyOf(one)
  const { id, amount, source, receiver } = one
  if (source?.invoice_payload !== undefined) {
    enterCharge(entries, { id, payload: source.invoice_payload, amount, refunded: false })
  }
  const returned = source === undefined && receiver && entries.byId.get(id)
  if (returned) returned.refunded = true
}

/** Whether a page begins with the last transaction that was read, which is asked for once more. */
const continues = ({ count, last }: Entries, [first]: Transaction[]) =>
  count === 0 || (first !== undefined && keyOf(first) === last)

/** A ledger of which nothing was read. Transactions are only ever added, in the order of time. */
export function createStarLedger(): StarLedger {
  let entries = noEntries()
  let updating: Promise<Unanswered | null> | null = null

  /** Takes a page over; what to say of the ledger when there is no more to read. */
  function take(page: Transaction[] | Unanswered): Unanswered | null | 'more' {
    if (!Array.isArray(page)) return page
    if (!continues(entries, page)) {
      entries = noEntries()
      return { reason: 'other transactions than before: reading them anew', retryAfterMs: null }
    }
    for (const one of entries.count === 0 ? page : page.slice(1)) enter(entries, one)
    return page.length < PAGE_SIZE ? null : 'more'
  }

  async function readOn(readPage: ReadPage): Promise<Unanswered | null> {
    for (;;) {
      const outcome = take(await readPage(Math.max(0, entries.count - 1)))
      if (outcome !== 'more') return outcome
    }
  }

  return {
    update(readPage) {
      // Whoever asks meanwhile waits for the end of the same reading.
      updating ??= readOn(readPage).finally(() => {
        updating = null
      })
      return updating
    },
    find: (payload, chargeId) => entries.byPayload.get(payload) ?? entries.byId.get(chargeId),
  }
}
