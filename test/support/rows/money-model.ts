/**
 * What customers have by what they paid and were given, counted apart from the service: subscriptions with their ends, payments with what became
 * of them. A history tells it what happens; the database must say the same.
 */
import { DAY } from './records.ts'

const DAY_MS = DAY * 1000

export interface ModelSubscription {
  owner: number
  active: boolean
  createdMs: number
  expiresMs: number
  heldMs: number | null
  /** The payment that created it. */
  paymentId: string | null
}

export interface ModelPayment {
  owner: number
  days: number
  /** The subscription that it is to lengthen. */
  renews: string | null
  /** What it gave or lengthened. */
  gave: string | null
  granted: boolean
  failed: boolean
  /** Whether the money went back, by the gateway's word or an admin's. */
  refunded: boolean
  /** Whether its days were taken back. */
  taken: boolean
  /** What changes of plan have made of its days. */
  seconds: number | null
  ownerDeleted: boolean
}

export interface Model {
  subscriptions: Map<string, ModelSubscription>
  payments: Map<string, ModelPayment>
}

export const createModel = (): Model => ({ subscriptions: new Map(), payments: new Map() })

/** A new subscription that begins now. */
export function give(
  { subscriptions }: Model,
  uuid: string,
  nowMs: number,
  { owner, days, paymentId = null }: { owner: number; days: number; paymentId?: string | null },
): void {
  const expiresMs = nowMs + days * DAY_MS
  const made = { owner, active: true, createdMs: nowMs, expiresMs, heldMs: null, paymentId }
  subscriptions.set(uuid, made)
}

/** Lengthens from the end on, or from now on where that has passed and no pause keeps it. */
export function lengthen(sub: ModelSubscription, nowMs: number, days: number): void {
  const from = sub.heldMs === null ? Math.max(nowMs, sub.expiresMs) : sub.expiresMs
  sub.expiresMs = from + days * DAY_MS
}

/** What a payment lengthens; undefined where it gives a new subscription. */
export function renewedBy({ subscriptions }: Model, payment: ModelPayment) {
  const sub = subscriptions.get(payment.renews ?? '')
  return sub?.active && sub.owner === payment.owner ? sub : undefined
}

/** A payment is granted; `uuid`: the new subscription where it lengthens none. */
export function grantPaid(model: Model, id: string, uuid: string, nowMs: number): void {
  const payment = model.payments.get(id) as ModelPayment
  const { owner, days, renews } = payment
  const renewed = renewedBy(model, payment)
  if (renewed) lengthen(renewed, nowMs, days)
  else give(model, uuid, nowMs, { owner, days, paymentId: id })
  payment.granted = true
  payment.failed = false
  payment.ownerDeleted = false
  payment.gave = renewed ? renews : uuid
  payment.seconds = null
}

/** What is left becomes so many days, and each payment's share of it as much of them. */
export function convert(model: Model, uuid: string, nowMs: number, days: number): void {
  const sub = model.subscriptions.get(uuid) as ModelSubscription
  const seconds = Math.floor((sub.expiresMs - nowMs) / 1000)
  for (const payment of model.payments.values()) {
    if (payment.gave !== uuid || !payment.granted || payment.taken) continue
    const given = payment.seconds ?? payment.days * DAY
    payment.seconds = Math.floor((given * days * DAY) / seconds) + 1
  }
  sub.expiresMs = nowMs + days * DAY_MS
}

/** An admin marks a payment refunded and takes back what it gave: the days, or all where nobody else has paid for it. */
export function takeBack(model: Model, id: string): void {
  const payment = model.payments.get(id) as ModelPayment
  const sub = model.subscriptions.get(payment.gave ?? '')
  if (!payment.granted || payment.taken || !sub) return
  const isShared = [...model.payments].some(
    ([other, { gave, granted, refunded, taken }]) =>
      other !== id && granted && !refunded && !taken && gave === payment.gave,
  )
  if (sub.paymentId === id && !isShared) {
    sub.active = false
    sub.heldMs = null
    return
  }
  payment.taken = true
  if (!sub.active) return
  sub.expiresMs = Math.max(
    sub.heldMs ?? sub.createdMs,
    sub.expiresMs - (payment.seconds ?? payment.days * DAY) * 1000,
  )
}

/** All of one customer becomes another's. */
export function mergeOwners({ subscriptions, payments }: Model, from: number, to: number): void {
  for (const one of [...subscriptions.values(), ...payments.values()]) {
    if (one.owner === from) one.owner = to
  }
}

export function deleteOwner({ subscriptions, payments }: Model, owner: number): void {
  for (const [uuid, sub] of subscriptions) if (sub.owner === owner) subscriptions.delete(uuid)
  for (const payment of payments.values()) {
    if (payment.owner === owner) payment.ownerDeleted = true
  }
}

/**
 * A backup takes the place of the present: subscriptions are those of then; of payments what went back stays gone, and what came since is
 * as if nothing had been given for it.
 */
export function restoreModel(present: Model, backup: Model): Model {
  const { subscriptions, payments } = structuredClone(backup)
  for (const [id, now] of present.payments) {
    const then = payments.get(id)
    if (then) then.refunded ||= now.refunded
    else {
      const renews = subscriptions.has(now.renews ?? '') ? now.renews : null
      payments.set(id, { ...now, renews, gave: null, granted: false, taken: false })
    }
  }
  return { subscriptions, payments }
}
