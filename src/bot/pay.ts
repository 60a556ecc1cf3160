/** The payment itself: its link, and what "I have paid" finds. */
import { InlineKeyboard } from 'grammy/web'
import { readPayment } from '#db/payments.ts'
import type { Payment } from '#db/schema/index.ts'
import { BOT_ACTOR } from '#src/domain/audit.ts'
import { checkPayment } from '#src/domain/payments/check.ts'
import { createPayment, type NewPayment } from '#src/domain/payments/create.ts'
import type { Wanted } from '#src/domain/payments/sale.ts'
import { ApiError } from '#src/lib/errors.ts'
import { sizeText } from '#src/lib/sizes.ts'
import { MINUTE_MS, SECOND_MS } from '#src/lib/time.ts'
import { tapData } from './callback-data.ts'
import { addLinkRow, single } from './keyboards.ts'
import { legalUrl, showStale, supportLines } from './menu.ts'
import { type BotRequest, say, show, type Work } from './request.ts'
import { priceText, type Way } from './sale.ts'
import { findOwn } from './subscriptions.ts'

/** Between two questions of a user about their payments. */
const CHECK_EVERY_MS = 5 * SECOND_MS

/** Why a subscription can't use more traffic. */
const UNUSABLE = new Set<ApiError['code']>(['no-quota', 'subscription-expired'])

/** What to say of a refusal. */
function refusalText(v: BotRequest, { status, code, headers }: ApiError): string {
  const { t } = v
  if (status === 429) {
    const waitMs = Number(headers['Retry-After'] ?? 0) * SECOND_MS
    return t.tooManyPayments(Math.max(1, Math.ceil(waitMs / MINUTE_MS)))
  }
  if (status === 503) return t.noAnswer
  if (code === 'provider-refused') return t.providerRefused
  return UNUSABLE.has(code) ? t.packUnusable : t.notSold
}

/** What is bought, and how that is said. */
export interface Bill {
  wanted: Wanted
  text(price: string): string
  /** The button that leads back. */
  back: string
}

/** Makes a payment; who taps twice at once gets the same one. Null when it was refused, of which the user is told. */
async function make(v: BotRequest, wanted: Wanted, way: Way): Promise<NewPayment | null> {
  const order = { ...wanted, tgId: v.user.tgId, provider: way.id, source: 'bot' as const }
  const key = JSON.stringify(order)
  try {
    return await v.memory.making(key, () => createPayment(v.s, BOT_ACTOR, order)).answer
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await say(v, refusalText(v, error))
    return null
  }
}

/** Shows what is bought, for how much, and the button by which it is paid. */
export async function pay(v: BotRequest, way: Way, { wanted, text, back }: Bill): Promise<void> {
  const made = await make(v, wanted, way)
  if (!made) return
  const { t } = v
  const price = priceText(v, (await v.s.db.read((q) => readPayment(q, made.id))) ?? way)
  const keyboard = new InlineKeyboard()
    .url(t.pay(price), made.payUrl)
    .row()
    .text(t.paid, tapData('paid', made.id))
    .row()
    .text(t.back, back)
  const accept = t.accept(legalUrl(v, 'offer'), legalUrl(v, 'privacy'))
  await show(v, `${text(price)}\n\n${accept}`, keyboard)
}

/** Whether this user may ask now; if so it counts. */
function takeTurn({ memory, user }: BotRequest): boolean {
  const now = memory.s.clock.monotonicMs()
  for (const [tgId, at] of memory.checkedAtMs) {
    if (now - at < CHECK_EVERY_MS) break
    memory.checkedAtMs.delete(tgId)
  }
  if (memory.checkedAtMs.has(user.tgId)) return false
  memory.checkedAtMs.set(user.tgId, now)
  return true
}

async function showPaid(v: BotRequest, payment: Payment): Promise<void> {
  const { subscriptionUuid: uuid, kind, extraBytes } = payment
  const found = uuid === null ? null : await findOwn(v, uuid)
  const keyboard = addLinkRow(v, new InlineKeyboard()).text(v.t.my, tapData('s'))
  const text =
    kind === 'traffic'
      ? v.t.packDone(sizeText(extraBytes ?? 0, v.lang))
      : found && found.shown.term === undefined
        ? v.t.paidDone(found.shown)
        : v.t.paidBefore
  await show(v, text, keyboard)
}

/** In place of the bill, which is not to be paid now. */
async function showInstead(v: BotRequest, text: string, keyboard: InlineKeyboard): Promise<void> {
  await show(v, [text, supportLines(v)].filter(Boolean).join('\n\n'), keyboard)
}

/** Tells what became of a payment. */
async function tellOf(v: BotRequest, payment: Payment): Promise<void> {
  if (payment.refundedAt !== null) return say(v, v.t.refunded)
  if (payment.status === 'paid') return showPaid(v, payment)
  if (payment.reviewReason !== null) return showInstead(v, v.t.inReview, single(v.t.back, 'menu'))
  return payment.status === 'failed'
    ? showInstead(v, v.t.failed, single(v.t.buyAgain, 'buy'))
    : say(v, v.t.notPaidYet)
}

/** "I have paid": asks the provider, and shows what came of it. */
export const check: Work = async (v, [id = '']) => {
  const { db } = v.s
  const find = () => db.read((q) => readPayment(q, id))
  const known = await find()
  if (known?.tgId !== v.user.tgId) return showStale(v)
  if (known.status === 'pending') {
    if (!takeTurn(v)) return say(v, v.t.checkedJustNow)
    await checkPayment(v.s, id, BOT_ACTOR)
  }
  await tellOf(v, (await find()) ?? known)
}
