/** Notices of the payment providers. Provider B and CryptoBot sign theirs; of the others' nothing is believed but the provider's own word. */
import type { Hono } from 'hono'
import { findByExternalId, findPayment, findPaymentOf, type ProviderName } from '#db/payments.ts'
import type { Payment } from '#db/schema.ts'
import { lookUpUnknown } from '#src/domain/orphan-payments.ts'
import { askAgainSoon, recheckPayment } from '#src/domain/payment-checks.ts'
import { confirmPayment } from '#src/domain/payments.ts'
import { providerB } from '#src/domain/providers.ts'
import { readSettings } from '#src/domain/settings.ts'
import {
  isPlategaCallback,
  isSignedByCryptobot,
  isSignedByProviderB,
} from '#src/domain/signatures.ts'
import { ApiError, badRequest, notFound, unauthorized } from '#src/lib/errors.ts'
import { createLimiter, type Limiter } from '#src/lib/limiter.ts'
import { HOUR_MS } from '#src/lib/time.ts'
import type { AppEnv, Context, Http } from './context.ts'
import { readBody } from './validate.ts'

const LIMIT_BYTES = 262_144

type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

/** The JSON object of a body; undefined when it is none. */
function parseBody(body: Uint8Array): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(strictUtf8.decode(body))
    return isObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** An id as notices have them: text, or a number. */
function idText(value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value)
  return typeof value === 'string' ? value : ''
}

const EXTERNAL_ID = /^[0-9a-zA-Z-]{1,64}$/

const ACCEPTED = new Set(['payment.succeeded', 'payment.waiting_for_capture', 'payment.canceled'])

const LOOK_UP_EVERY_MS = 2000
const LOOK_UPS_PER_HOUR = 60

/** What strangers can have asked of a provider is bounded, for all hosts of a process together. */
export interface Asking {
  /** At most 16 questions at a time; 503 for one more. */
  limited: Limiter
  /** Whether a notice that nothing is known of may be looked up: one in 2 seconds, 60 an hour. */
  mayLookUp(): boolean
}

export function createAsking(s: Pick<Http, 'clock'>): Asking {
  const looked: number[] = []
  return {
    limited: createLimiter(16, 0),
    mayLookUp() {
      const now = s.clock.monotonicMs()
      while (looked[0] !== undefined && looked[0] <= now - HOUR_MS) looked.shift()
      const last = looked.at(-1)
      if (last !== undefined && now - last < LOOK_UP_EVERY_MS) return false
      if (looked.length >= LOOK_UPS_PER_HOUR) return false
      looked.push(now)
      return true
    },
  }
}

/** Asks the provider of a payment that is not paid yet; while enough is asked, that is left to the reconciler. */
async function recheck(s: Http, { limited }: Asking, payment: Payment): Promise<void> {
  if (payment.status === 'paid' || payment.externalId === '') return
  try {
    await recheckPayment(s, payment, { limited })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 503)) throw error
    await askAgainSoon(s, payment.id)
  }
}

/** What a refused notice of provider A may still be good for, looked into after the answer. */
function followUp(s: Http, asking: Asking, payment: Payment | undefined, externalId: string): void {
  if (!EXTERNAL_ID.test(externalId) || !asking.mayLookUp()) return
  s.background.run('look up a payment', async () => {
    if (!payment) return lookUpUnknown(s, externalId)
    // The reconciler asks for it once more, and so learns what the provider calls it.
    if (payment.externalId === '') await askAgainSoon(s, payment.id)
  })
}

/** A refund is no accepted event; the payment is looked at all the same. */
function noteRefund(s: Http, asking: Asking, object: JsonObject): void {
  const payment = findByExternalId(s.db, 'provider_a', idText(object.payment_id))
  if (payment?.status !== 'paid' || payment.refundedAt !== null || !asking.mayLookUp()) return
  s.background.run('look up a refund', () => recheckPayment(s, payment))
}

function requireEvent(s: Http, asking: Asking, notice: JsonObject, object: JsonObject): void {
  if (typeof notice.event === 'string' && ACCEPTED.has(notice.event)) return
  if (notice.event === 'refund.succeeded') noteRefund(s, asking, object)
  throw badRequest('unsupported event')
}

async function fromProviderA(s: Http, asking: Asking, c: Context): Promise<Response> {
  const notice = parseBody(await readBody(c.req.raw, LIMIT_BYTES))
  if (!notice) throw badRequest('invalid JSON')
  const object = isObject(notice.object) ? notice.object : {}
  requireEvent(s, asking, notice, object)
  const id = isObject(object.metadata) ? object.metadata.payment_id : undefined
  if (typeof id !== 'string' || id === '') throw badRequest('payment_id is missing')
  const found = findPayment(s.db, id)
  const payment = found?.provider === 'provider_a' ? found : undefined
  if (!payment || payment.externalId === '') {
    if (!found || payment) followUp(s, asking, payment, idText(object.id))
    throw badRequest('unknown payment')
  }
  await recheck(s, asking, payment)
  return c.json({ ok: true })
}

const PAID = new Set(['succeeded', 'success', 'paid'])

/** The first payment of a provider that one of these ids names, ours or its own. */
function findNamed(s: Http, provider: ProviderName, ids: unknown[]): Payment | undefined {
  for (const id of ids.map(idText)) {
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

async function fromProviderB(s: Http, c: Context): Promise<Response> {
  const body = await readBody(c.req.raw, LIMIT_BYTES)
  const { secret, preset } = providerB(readSettings(s))
  const signature = c.req.header('x-signature') || c.req.header('signature') || null
  if (!isSignedByProviderB(secret, body, signature)) throw unauthorized('bad signature')
  const notice = parseBody(body)
  const status = typeof notice?.status === 'string' ? notice.status.toLowerCase() : ''
  if (!notice || !PAID.has(status)) return c.json({ ok: true })
  const payment = findNamed(s, 'provider_b', [notice.id, notice.paymentId])
  if (payment) {
    const currency = typeof notice.currency === 'string' ? notice.currency : undefined
    const amount = amountOf(notice, preset === 'cispay')
    await confirmPayment(s, payment.id, { state: 'paid', amount, currency })
  }
  return c.json({ ok: true })
}

async function fromPlatega(s: Http, asking: Asking, c: Context): Promise<Response> {
  const shop = providerB(readSettings(s))
  if (shop.preset !== 'platega') throw notFound()
  const sent = {
    merchantId: c.req.header('x-merchantid') ?? null,
    secret: c.req.header('x-secret') ?? null,
  }
  if (!isPlategaCallback(shop, sent)) throw unauthorized('bad signature')
  const notice = parseBody(await readBody(c.req.raw, LIMIT_BYTES))
  const payment = notice && findNamed(s, 'provider_b', [notice.id, notice.payload])
  if (payment) await recheck(s, asking, payment)
  return c.json({ ok: true })
}

async function fromCryptobot(s: Http, asking: Asking, c: Context): Promise<Response> {
  const body = await readBody(c.req.raw, LIMIT_BYTES)
  const token = readSettings(s).text('CRYPTOBOT_TOKEN')
  const signature = c.req.header('crypto-pay-api-signature') ?? null
  if (!isSignedByCryptobot(token, body, signature)) throw unauthorized('bad signature')
  const notice = parseBody(body)
  const invoice = isObject(notice?.payload) ? notice.payload : undefined
  const payment = invoice && findNamed(s, 'cryptobot', [invoice.payload, invoice.invoice_id])
  if (payment) await recheck(s, asking, payment)
  return c.json({ ok: true })
}

/** Adds the routes of the providers' notices. */
export function mountWebhooks(app: Hono<AppEnv>, s: Http, asking: Asking): void {
  const base = '/payments/webhook'
  app.post(`${base}/provider_a`, (c) => fromProviderA(s, asking, c))
  app.post(`${base}/provider_b`, (c) => fromProviderB(s, c))
  app.post(`${base}/platega`, (c) => fromPlatega(s, asking, c))
  app.post(`${base}/cryptobot`, (c) => fromCryptobot(s, asking, c))
}
