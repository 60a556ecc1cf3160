/** Notices of the payment providers. Provider B and CryptoBot sign theirs; of the others' nothing is believed but the provider's own word. */
import type { Hono } from 'hono'
import { findByExternalId, findPayment, findPaymentOf } from '#db/payments.ts'
import type { Payment } from '#db/schema.ts'
import { askAgainSoon, askProvider, recheckPayment } from '#src/domain/payments/check.ts'
import { confirmPayment } from '#src/domain/payments/confirm.ts'
import { lookUpUnknown } from '#src/domain/payments/orphans.ts'
import type { PaidState } from '#src/domain/payments/rules.ts'
import { currentCredentials } from '#src/domain/payments/shops.ts'
import {
  isPlategaCallback,
  isSignedByCryptobot,
  isSignedByProviderB,
} from '#src/domain/payments/signatures.ts'
import { readSettings } from '#src/domain/settings.ts'
import { ApiError, badRequest, notFound, unauthorized } from '#src/lib/errors.ts'
import { isJsonObject, type JsonObject, jsonObject } from '#src/lib/json.ts'
import { inTime } from '#src/lib/pause.ts'
import { type AppEnv, type Context, type Http, ipOf } from './context.ts'
import type { NoticeLimits } from './notice-limits.ts'
import { readBody } from './validate.ts'

const LIMIT_BYTES = 262_144
/** Who sends a notice waits some seconds for the answer, and sends it again. */
const GATEWAY_MS = 3000

/** An id as notices have them: text, or a number. */
function idText(value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' ? value : ''
}

const EXTERNAL_ID = /^[0-9a-zA-Z-]{1,64}$/
/** As docs/gateways.md has them. */
const EXTERNAL_ID_B = /^\w[\w.:-]{0,127}$/

const ACCEPTED = new Set(['payment.succeeded', 'payment.waiting_for_capture', 'payment.canceled'])

/** Asks the provider of a payment; while enough is asked, that of a pending one is left to the reconciler. */
async function recheck(s: Http, noticeLimits: NoticeLimits, payment: Payment): Promise<void> {
  if (payment.externalId === '') return
  const { id } = payment
  if (!noticeLimits.mayAsk(payment)) {
    if (payment.status === 'pending') await askAgainSoon(s, id)
    return
  }
  try {
    await recheckPayment(s, payment, { limited: noticeLimits.limited })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 503)) throw error
    await askAgainSoon(s, id)
  }
}

/** The same of one that is not granted yet. */
async function recheckOpen(s: Http, noticeLimits: NoticeLimits, payment: Payment): Promise<void> {
  if (payment.status !== 'paid') await recheck(s, noticeLimits, payment)
}

/** What a refused notice of provider A may still be good for, looked into after the answer. */
function followUp(
  s: Http,
  noticeLimits: NoticeLimits,
  payment: Payment | undefined,
  externalId: string,
  ip: string,
): void {
  if (!EXTERNAL_ID.test(externalId)) return
  s.background.run('look up a payment', async () => {
    const known = payment ?? findByExternalId(s.db, 'provider_a', externalId)
    // The reconciler asks for it, or for its creation once more, and so learns what the provider calls it.
    if (known?.status === 'pending') await askAgainSoon(s, known.id)
    if (!known && noticeLimits.mayLookUp(ip)) await lookUpUnknown(s, externalId)
  })
}

/** A refund is no accepted event; the payment is looked at all the same. */
function noteRefund(s: Http, noticeLimits: NoticeLimits, object: JsonObject): void {
  const payment = findByExternalId(s.db, 'provider_a', idText(object.payment_id))
  if (payment?.status !== 'paid' || payment.refundedAt !== null) return
  s.background.run('look up a refund', () => recheck(s, noticeLimits, payment))
}

function requireEvent(
  s: Http,
  noticeLimits: NoticeLimits,
  notice: JsonObject,
  object: JsonObject,
): void {
  if (typeof notice.event === 'string' && ACCEPTED.has(notice.event)) return
  if (notice.event === 'refund.succeeded') noteRefund(s, noticeLimits, object)
  throw badRequest('unsupported event')
}

async function fromProviderA(s: Http, noticeLimits: NoticeLimits, c: Context): Promise<Response> {
  const notice = jsonObject(await readBody(c, LIMIT_BYTES))
  if (!notice) throw badRequest('invalid JSON')
  const object = isJsonObject(notice.object) ? notice.object : {}
  requireEvent(s, noticeLimits, notice, object)
  const id = isJsonObject(object.metadata) ? object.metadata.payment_id : undefined
  if (typeof id !== 'string' || id === '') throw badRequest('payment_id is missing')
  const found = findPayment(s.db, id)
  const payment = found?.provider === 'provider_a' ? found : undefined
  if (!payment || payment.externalId === '') {
    if (!found || payment) followUp(s, noticeLimits, payment, idText(object.id), ipOf(s, c))
    throw badRequest('unknown payment')
  }
  await recheckOpen(s, noticeLimits, payment)
  return c.json({ ok: true })
}

const PAID = new Set(['succeeded', 'success', 'paid'])

/** The first payment of a provider that one of these ids names, ours or its own. */
function findNamed(s: Http, provider: string, ids: string[]): Payment | undefined {
  for (const id of ids) {
    const payment = id === '' ? undefined : findPaymentOf(s.db, provider, id)
    if (payment) return payment
  }
  return undefined
}

/** The amount of a notice in whole units; undefined when it has none. cisPay counts in hundredths. */
function amountOf({ amount }: JsonObject, inHundredths: boolean): string | undefined {
  if (amount === undefined || amount === null) return undefined
  const text = typeof amount === 'number' || typeof amount === 'string' ? String(amount) : '?'
  if (!inHundredths) return text
  return /^\d{3,}$/.test(text) ? `${text.slice(0, -2)}.${text.slice(-2)}` : '?'
}

/** What provider B calls a payment whose creation it never answered: without it nobody can ask about the payment later. */
function toldIdOf(payment: Payment, ids: string[]): { externalId?: string } {
  const theirs = ids.find((id) => id !== payment.id && EXTERNAL_ID_B.test(id))
  return payment.externalId === '' && theirs !== undefined ? { externalId: theirs } : {}
}

/**
 * What is known of a payment for which provider B signed: its own answer where the notice leaves the amount open and the gateway
 * counts the payment as paid, too. Anything else it answers changes nothing, and no answer is waited for long: the signature counts.
 */
async function wordOfProviderB(
  s: Http,
  noticeLimits: NoticeLimits,
  payment: Payment,
  told: PaidState,
): Promise<PaidState> {
  const { amount, test } = told
  if (amount !== undefined || payment.externalId === '' || payment.status === 'paid') return told
  if (!noticeLimits.mayAsk(payment)) return told
  const answer = askProvider(s, payment, noticeLimits.limited).catch((error) => {
    // Enough is asked at the moment.
    if (error instanceof ApiError) return null
    throw error
  })
  const found = await inTime(answer, GATEWAY_MS, null)
  return found?.state === 'paid' ? { ...found, test: found.test ?? test } : told
}

async function fromProviderB(s: Http, noticeLimits: NoticeLimits, c: Context): Promise<Response> {
  const body = await readBody(c, LIMIT_BYTES)
  const { secret, preset } = currentCredentials(readSettings(s), 'provider_b')
  const signature = c.req.header('x-signature') || c.req.header('signature') || null
  if (!isSignedByProviderB(secret, body, signature)) throw unauthorized('bad signature')
  const notice = jsonObject(body)
  const status = typeof notice?.status === 'string' ? notice.status.toLowerCase() : ''
  if (!notice || !PAID.has(status)) return c.json({ ok: true })
  const ids = [notice.id, notice.paymentId].map(idText)
  const payment = findNamed(s, 'provider_b', ids)
  if (payment) {
    const cispay = preset === 'cispay'
    const told: PaidState = {
      state: 'paid',
      amount: amountOf(notice, cispay),
      currency: typeof notice.currency === 'string' ? notice.currency : undefined,
      test: cispay ? notice.is_sandbox === true : undefined,
    }
    const found = await wordOfProviderB(s, noticeLimits, payment, told)
    await confirmPayment(s, payment.id, found, toldIdOf(payment, ids))
  }
  return c.json({ ok: true })
}

async function fromPlatega(s: Http, noticeLimits: NoticeLimits, c: Context): Promise<Response> {
  const shop = currentCredentials(readSettings(s), 'provider_b')
  if (shop.preset !== 'platega') throw notFound()
  const sent = {
    merchantId: c.req.header('x-merchantid') ?? null,
    secret: c.req.header('x-secret') ?? null,
  }
  if (!isPlategaCallback(shop, sent)) throw unauthorized('bad signature')
  const notice = jsonObject(await readBody(c, LIMIT_BYTES))
  const payment = notice && findNamed(s, 'provider_b', [notice.id, notice.payload].map(idText))
  if (payment) await recheckOpen(s, noticeLimits, payment)
  return c.json({ ok: true })
}

async function fromCryptobot(s: Http, noticeLimits: NoticeLimits, c: Context): Promise<Response> {
  const body = await readBody(c, LIMIT_BYTES)
  const token = readSettings(s).ofGateway('CRYPTOBOT_TOKEN')
  const signature = c.req.header('crypto-pay-api-signature') ?? null
  if (!isSignedByCryptobot(token, body, signature)) throw unauthorized('bad signature')
  const notice = jsonObject(body)
  const invoice = isJsonObject(notice?.payload) ? notice.payload : undefined
  const payment =
    invoice && findNamed(s, 'cryptobot', [invoice.payload, invoice.invoice_id].map(idText))
  if (payment) await recheckOpen(s, noticeLimits, payment)
  return c.json({ ok: true })
}

/** Adds the routes of the providers' notices. */
export function mountWebhooks(app: Hono<AppEnv>, s: Http, noticeLimits: NoticeLimits): void {
  const base = '/payments/webhook'
  app.post(`${base}/provider_a`, (c) => fromProviderA(s, noticeLimits, c))
  app.post(`${base}/provider_b`, (c) => fromProviderB(s, noticeLimits, c))
  app.post(`${base}/platega`, (c) => fromPlatega(s, noticeLimits, c))
  app.post(`${base}/cryptobot`, (c) => fromCryptobot(s, noticeLimits, c))
}
