/** Payments in Telegram Stars: Telegram asks before it takes them, and tells when it has (core.telegram.org/bots/payments-stars). */
import type { Context } from 'grammy/web'
import { isPassing } from '#db/engine/failures.ts'
import { readPayment } from '#db/payments.ts'
import type { Payment, Plan } from '#db/schema/index.ts'
import { readUser } from '#db/users.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { priceAt } from '#src/domain/payments/offer.ts'
import { noteOrphan } from '#src/domain/payments/orphans.ts'
import { listProviders } from '#src/domain/payments/providers.ts'
import { readToppedUp } from '#src/domain/payments/top-up.ts'
import { subscriptionState } from '#src/domain/subscriptions/subscriptions.ts'
import { takesTraffic } from '#src/domain/traffic-packs.ts'
import { ApiError, errorMessage } from '#src/lib/errors.ts'
import { pause } from '#src/lib/pause.ts'
import { GB } from '#src/lib/sizes.ts'
import { formatTimestamp, SECOND_MS } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { type BotMemory, langOf, refusedAs } from './request.ts'
import { type Texts, textsOf } from './texts.ts'

type Query = NonNullable<Context['preCheckoutQuery']>

/** Whether what the payment is for is offered as it was when the bill was made. */
function isOffered({ s, catalogue }: BotMemory, payment: Payment): boolean {
  const { nodes, plans, packs, settings } = catalogue()
  const { kind, node, plan, pack, extraBytes, amount, provider } = payment
  const known = listProviders(settings).find(({ id }) => id === provider)
  const isSame = (goods: Pick<Plan, 'price' | 'priceStars'>) =>
    known?.enabled === true && priceAt(goods, known, s.config.currency).amount === amount
  if (kind === 'traffic') {
    const sold = packs.get(pack ?? '')
    return sold !== undefined && sold.gb * GB === extraBytes && isSame(sold)
  }
  const sold = plans.get(plan)
  return sold !== undefined && nodes.has(node) && isSame(sold)
}

/** Whether what is paid for can be used: traffic for what has ended or is off meanwhile is not sold either. */
async function isOfUse({ db, clock }: Services, payment: Payment): Promise<boolean> {
  if (payment.kind !== 'traffic') return true
  const row = (await db.read((q) => readToppedUp(q, payment)))?.row
  const now = formatTimestamp(clock.now())
  return row !== undefined && takesTraffic(row, subscriptionState(row, now))
}

/** Why Telegram is not to take the Stars, in the payer's language; null: it may. */
async function objectionOf(memory: BotMemory, query: Query, t: Texts): Promise<string | null> {
  const { db } = memory.s
  const { currency, total_amount: amount, invoice_payload: id, from } = query
  const payment = await db.read((q) => readPayment(q, id))
  const isBill = payment?.provider === 'stars' && payment.status === 'pending'
  const isOpen = isBill && payment.reviewReason === null && payment.refundedAt === null
  if (!isOpen || payment.deletedUser) return t.starsNotPending
  if (currency !== payment.currency || amount !== payment.amount) return t.starsNotPending
  const isBanned = await db.read(function* (q) {
    const users = [yield* readUser(q, from.id), yield* readUser(q, payment.tgId)]
    return users.some((user) => user && user.bannedAt !== null)
  })
  if (isBanned) return t.banned
  if (!isOffered(memory, payment)) return t.starsChanged
  return (await isOfUse(memory.s, payment)) ? null : t.packUnusable
}

/** Says whether Telegram may take the Stars. It waits 10 seconds for that: nothing outside is asked. */
export async function answerPreCheckout(memory: BotMemory, ctx: Context): Promise<void> {
  const query = ctx.preCheckoutQuery
  if (!query) return
  const payer = await memory.s.db.read((q) => readUser(q, query.from.id))
  const lang = langOf(memory.s, payer?.lang ?? query.from.language_code)
  const objection = await objectionOf(memory, query, textsOf(lang))
  try {
    await (objection === null
      ? ctx.answerPreCheckoutQuery(true)
      : ctx.answerPreCheckoutQuery(false, { error_message: objection }))
  } catch (error) {
    // Delivered again after an answer, or too late: nothing is taken without one.
    if (!refusedAs(error, 400)) throw error
  }
}

interface Charge {
  currency: string
  total_amount: number
  invoice_payload: string
  telegram_payment_charge_id: string
}

const FIRST_WAIT_MS = 250
const LAST_WAIT_MS = 30 * SECOND_MS

/** Does what a charge means as soon as the database takes it: Telegram tells of it once, and is not told that it was heard until then. */
async function settle({ s }: BotMemory, charge: Charge, refunded: boolean): Promise<boolean> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LAST_WAIT_MS)) {
    try {
      return await settleNow(s, charge, refunded)
    } catch (error) {
      if (!isPassing(error)) throw error
      const fields = { payment: charge.invoice_payload, reason: errorMessage(error) }
      s.log.warn('Stars wait for the database', fields)
      await pause(waitMs)
    }
  }
}

/** Does what a charge means, or that it was given back; false when a person has to look at it. */
async function settleNow(s: Services, charge: Charge, refunded: boolean): Promise<boolean> {
  const { currency, telegram_payment_charge_id: externalId } = charge
  const amount = String(charge.total_amount)
  const id = charge.invoice_payload
  const found = { state: 'paid', amount, currency, refunded } as const
  try {
    const by = { provider: 'stars', externalId } as const
    const { status } = await confirmPayment(s, id, found, by)
    const payment = await s.db.read((q) => readPayment(q, id))
    if (payment?.externalId === externalId) return status === 'paid'
    // The link was paid twice at once: the other charge has settled it.
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    // Made before a restore, or by another program with this bot.
  }
  if (!refunded) await noteOrphan(s, { provider: 'stars', externalId, amount, currency })
  return false
}

/** Grants what was paid for; the message about it goes the way of every grant. */
export async function takeStars(memory: BotMemory, ctx: Context): Promise<void> {
  const charge = ctx.message?.successful_payment
  if (!charge || (await settle(memory, charge, false))) return
  const { from } = ctx
  const payer = from && (await memory.s.db.read((q) => readUser(q, from.id)))
  const lang = payer?.lang ?? from?.language_code
  await ctx.reply(textsOf(langOf(memory.s, lang)).inReview)
}

/** Marks a payment whose Stars went back. */
export async function noteRefund(memory: BotMemory, ctx: Context): Promise<void> {
  const charge = ctx.message?.refunded_payment
  if (charge) await settle(memory, charge, true)
}
