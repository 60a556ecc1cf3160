/** Holds what provider A counts as paid against our rows, once a day: money that no webhook and no check has told of. */
import { findByExternalId, findPayment, storeExternalId } from '#db/payments.ts'
import type { Payment } from '#db/schema.ts'
import { isUuid } from '#db/users.ts'
import { addDays, formatTimestamp } from '#src/lib/time.ts'
import type { ShopCredentials, SucceededPayment } from '#src/ports/payment-gateway.ts'
import { type CheckDeps, recheckPayment } from './check.ts'
import { gatewayOf } from './gateways.ts'
import { noteOrphan } from './orphans.ts'
import { listShops } from './shops.ts'

const PROVIDER = 'provider_a'
const LOOK_BACK_DAYS = 3

/** Our row of a payment; one whose creation was interrupted learns here what the provider calls it. */
async function findRow(s: CheckDeps, one: SucceededPayment): Promise<Payment | undefined> {
  const known = findByExternalId(s.db, PROVIDER, one.externalId)
  if (known || one.paymentId === null) return known
  const own = findPayment(s.db, one.paymentId)
  if (own?.provider !== PROVIDER || own.externalId !== '') return undefined
  const link = { externalId: one.externalId, nextCheckAt: formatTimestamp(s.clock.now()) }
  return s.db.tx((tx) => storeExternalId(tx, own.id, link))
}

const isSettled = (row: Payment, one: SucceededPayment): boolean =>
  row.refundedAt !== null || (row.status === 'paid' && !one.refunded && !one.refundedPart)

/** False when the provider gave no answer about this shop. */
async function auditShop(s: CheckDeps, shop: ShopCredentials): Promise<boolean> {
  const since = addDays(s.clock.now(), -LOOK_BACK_DAYS)
  const succeeded = await gatewayOf(s, PROVIDER)?.listSucceeded(since, shop)
  if (!Array.isArray(succeeded)) {
    s.log.warn('the list of paid payments could not be read', { shop: shop.shopId })
    return false
  }
  for (const one of succeeded) {
    const row = await findRow(s, one)
    if (row && !isSettled(row, one)) await recheckPayment(s, row)
    // Other programs may sell through the same shop: only ours give their payments such ids.
    if (row || one.refunded || one.paymentId === null || !isUuid(one.paymentId)) continue
    const { externalId, amount, currency } = one
    await noteOrphan(s, { provider: PROVIDER, externalId, amount, currency })
  }
  return true
}

/**
 * Goes through every shop that payments may still come from. False when the provider gave no answer about the present one: a former
 * one may never give one again. What is found is treated as if a webhook had told of it.
 */
export async function auditProviderA(s: CheckDeps): Promise<boolean> {
  const { current, former } = listShops(s, PROVIDER)
  const complete = current === null || (await auditShop(s, current))
  for (const shop of former) await auditShop(s, shop)
  return complete
}
