/** New payments: the row first, then the provider, then its link. What a crash leaves half made is completed by asking again. */
import type { Query } from '#db/engine/database.ts'
import { isUnpaidGuest } from '#db/guests.ts'
import {
  ExternalIdTaken,
  failPayment,
  insertPayment,
  readPayment,
  readRecentPayments,
  readReusable,
  type SameOrder,
  storeExternalId,
} from '#db/payments.ts'
import type { Payment } from '#db/schema/index.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { ensureCustomer, readKnownUser } from '#src/domain/customers/users.ts'
import { tooMany } from '#src/lib/errors.ts'
import { randomUuid } from '#src/lib/random.ts'
import {
  formatTimestamp,
  MINUTE_MS,
  parseTimestamp,
  SECOND_MS,
  timestampBefore,
} from '#src/lib/time.ts'
import type { Completion, Created, ShopCredentials } from '#src/ports/payment-gateway.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { type GatewayDeps, gatewayOf } from './gateways.ts'
import { reserveOrder } from './guests.ts'
import { returnTo } from './return.ts'
import { nextCheckAt, sharesOf } from './rules.ts'
import { orderOf, type PaymentRequest, readSale, type SaleOrder } from './sale.ts'
import { currentShopId, findShop } from './shops.ts'
import { PROVIDER_ACTOR, paymentStep } from './steps.ts'

export type CreationDeps = Pick<
  Services,
  'db' | 'config' | 'clock' | 'log' | 'paymentCreations' | 'creationTurns'
> &
  GatewayDeps

/** New payments of one user in `WINDOW_MS`. */
const MOST_NEW = 5
const WINDOW_MS = 10 * MINUTE_MS

/** Between two times that a provider is asked for the same payment. */
const ASK_EVERY_MS = 5 * SECOND_MS

/** How long a link is good whose provider does not say it. YooKassa: an hour (yookassa.ru/developers/payment-acceptance). */
const LINK_MS = 50 * MINUTE_MS

/** A link that ends sooner would die in the hands of the buyer who is given it: they get a new one. */
const LINK_LEFT_MS = MINUTE_MS

/** 503: there is no link yet. */
const noAnswer = (waitMs: number) => refusal('provider-no-answer').after(waitMs / SECOND_MS)

/** Throws 429 when the user has made enough payments of late. */
function* requireTurn(tx: Query, tgId: number, at: Date) {
  const recent = yield* readRecentPayments(tx, tgId, timestampBefore(at, WINDOW_MS))
  const first = recent.at(-MOST_NEW)
  if (first === undefined) return
  throw tooMany((parseTimestamp(first).getTime() + WINDOW_MS - at.getTime()) / 1000)
}

/** What is ordered, for the audit log. */
const ordered = ({ kind, node, plan, pack, renewsUuid }: SameOrder) =>
  kind === 'traffic' ? `subscription=${renewsUuid} pack=${pack}` : `node=${node} plan=${plan}`

/**
 * Writes the row of a new payment, or gives the one that serves as well. While the provider wants to be left alone there are no new
 * rows: nobody could ask for their payments, and at some providers each tap would leave one.
 */
function* begin(tx: Query, s: CreationDeps, actor: Actor, request: PaymentRequest, at: Date) {
  const now = formatTimestamp(at)
  const user =
    request.source === 'admin'
      ? yield* ensureCustomer(tx, request.tgId, now)
      : yield* readKnownUser(tx, request.tgId)
  const { settings, sale } = yield* readSale(tx, s, request, user, now)
  const { goods, provider, amount, currency } = sale
  const same: SameOrder = {
    tgId: user.tgId,
    ...goods,
    provider,
    amount,
    currency,
    shopId: currentShopId(settings, provider),
  }
  const linkUntil = formatTimestamp(new Date(at.getTime() + LINK_LEFT_MS))
  // Asked again, a provider gives the link that it gave then.
  const begunSince = s.gateways[provider]?.idempotent
    ? timestampBefore(at, LINK_MS - LINK_LEFT_MS)
    : null
  const reusable = yield* readReusable(tx, same, linkUntil, begunSince)
  if (reusable) return reusable
  yield* requireTurn(tx, user.tgId, at)
  if (request.source !== 'admin' && (yield* isUnpaidGuest(tx, user.tgId))) {
    yield* reserveOrder(tx, actor.ip, at)
  }
  const restMs = s.gatewayRests.leftMs(provider)
  if (restMs > 0) throw noAnswer(restMs)
  const id = randomUuid()
  const { source } = request
  const returnPath = returnTo(s, settings, { id, source, token: user.token })
  const payment = yield* insertPayment(tx, {
    ...same,
    id,
    source,
    order: { ...orderOf(s, settings, sale, returnPath) },
    createdAt: now,
    nextCheckAt: nextCheckAt(now, at),
  })
  yield* audit(tx, actor, now, {
    action: 'payment.create',
    object: payment.id,
    detail: `tg_id=${user.tgId} ${ordered(same)} provider=${provider}`,
  })
  return payment
}

/** Notes that the provider will not take a payment. */
async function refuse(s: CreationDeps, id: string, reason: string): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const payment = yield* readPayment(tx, id)
    // Meanwhile somebody else may have had another answer.
    if (payment?.externalId !== '') return
    if (!(yield* failPayment(tx, id, reason))) return
    yield* audit(tx, PROVIDER_ACTOR, now, { action: 'payment.fail', object: id, detail: reason })
  })
}

/** Stores the provider's link; the row as it is then, undefined when it is gone. */
async function storeLink(
  s: CreationDeps,
  payment: Payment,
  created: Extract<Created, { outcome: 'created' }>,
): Promise<Payment | undefined> {
  const at = s.clock.now()
  const expiresAt =
    created.expiresAt ?? new Date(parseTimestamp(payment.createdAt).getTime() + LINK_MS)
  return s.db.tx(function* (tx) {
    const stored = yield* storeExternalId(tx, payment.id, {
      externalId: created.externalId,
      payUrl: created.payUrl,
      payUrlExpiresAt: formatTimestamp(expiresAt),
      nextCheckAt: nextCheckAt(payment.createdAt, at),
    })
    return stored ?? (yield* readPayment(tx, payment.id))
  })
}

const lost = (reason: string): Completion => ({ outcome: 'unknown', reason, retryAfterMs: null })

async function askForPayment(
  s: CreationDeps,
  payment: Payment,
  shop: ShopCredentials,
): Promise<Completion> {
  const { id, amount, currency, tgId, provider } = payment
  const order = payment.order as SaleOrder | null
  const gateway = gatewayOf(s, provider)
  if (!order || !gateway) return lost('the order is not known any more')
  paymentStep(s, id, 'ordered')
  const created = await gateway.create({ paymentId: id, amount, currency, tgId, ...order }, shop)
  paymentStep(s, id, `order ${created.outcome}`)
  if (created.outcome === 'refused') {
    s.log.warn('a provider refused a payment', { payment: id, provider, reason: created.reason })
    await refuse(s, id, created.reason)
    return created
  }
  if (created.outcome === 'unknown') {
    s.log.warn('a provider gave no link', { payment: id, provider, reason: created.reason })
    return created
  }
  try {
    const stored = await storeLink(s, payment, created)
    paymentStep(s, id, 'link stored')
    // A restore may have come in between.
    return stored ? { payment: stored } : lost('the payment is gone')
  } catch (error) {
    if (!(error instanceof ExternalIdTaken)) throw error
    s.log.error('a provider gave two payments the same id', { payment: id, provider })
    return lost('its external id belongs to another payment')
  }
}

/** Milliseconds until a provider may be asked for this payment; 0: now, and that counts. */
const takeTurn = async (s: CreationDeps, payment: Payment, guest: boolean): Promise<number> =>
  s.gatewayRests.leftMs(payment.provider) ||
  s.creationTurns.take([payment.id, { most: 1, inMs: ASK_EVERY_MS }], ...sharesOf(payment, guest))

/**
 * Asks the provider for a payment whose row is written, and stores its link. Who wants the same payment meanwhile shares the
 * answer; who comes too soon after one is told when to come again.
 */
export const completeCreation = (
  s: CreationDeps,
  payment: Payment,
  shop: ShopCredentials,
): Promise<Completion> =>
  s.paymentCreations(payment.id, async () => {
    // Who shared nobody's answer, as it came a moment later, may find the link there.
    const { present, guest } = await s.db.read(function* (q) {
      return {
        present: yield* readPayment(q, payment.id),
        guest: yield* isUnpaidGuest(q, payment.tgId),
      }
    })
    if (present && present.externalId !== '') return { payment: present }
    const retryAfterMs = await takeTurn(s, payment, guest)
    if (retryAfterMs === 0) return askForPayment(s, payment, shop)
    return { outcome: 'unknown', reason: 'asked for a moment ago', retryAfterMs }
  }).answer

export interface NewPayment {
  id: string
  payUrl: string
}

/**
 * Makes a payment and gives the link by which it is paid; an order that can still be paid by its link gets that one. Throws 400
 * for what is not sold and where the provider refuses, 404 for an unknown user, 429 after 5 new ones in 10 minutes, 503 while the
 * provider gives no answer or wants to be left alone, and to who asks for the same again within 5 seconds.
 */
export async function createPayment(
  s: CreationDeps,
  actor: Actor,
  request: PaymentRequest,
): Promise<NewPayment> {
  const at = s.clock.now()
  const begun = await s.db.tx((tx) => begin(tx, s, actor, request, at))
  paymentStep(s, begun.id, 'row written')
  if (begun.payUrl !== null) return { id: begun.id, payUrl: begun.payUrl }
  const shop = await findShop(s, begun)
  if (!shop) throw refusal('provider-not-available')
  const done = await completeCreation(s, begun, shop)
  if ('payment' in done && done.payment.status !== 'failed' && done.payment.payUrl !== null) {
    return { id: begun.id, payUrl: done.payment.payUrl }
  }
  if (!('outcome' in done) || done.outcome === 'refused') {
    throw refusal('provider-refused')
  }
  throw noAnswer(done.retryAfterMs ?? ASK_EVERY_MS)
}
