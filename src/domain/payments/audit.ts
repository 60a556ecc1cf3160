/** Holds what gateways that list it count as paid against our rows, once a day: money that no webhook and no check has told of. */
import { readByExternalId, readPayment, storeExternalId } from '#db/payments.ts'
import type { Payment } from '#db/schema/index.ts'
import { isUuid } from '#db/users.ts'
import { addDays, formatTimestamp } from '#src/lib/time.ts'
import type { ShopCredentials, SucceededPayment } from '#src/ports/payment-gateway.ts'
import { type CheckDeps, recheckPayment } from './check.ts'
import { gatewayOf } from './gateways.ts'
import { noteOrphan } from './orphans.ts'
import { listShops } from './shops.ts'

const LOOK_BACK_DAYS = 3

/** Our row of a payment; one whose creation was interrupted learns here what the provider calls it. */
async function findRow(
  s: CheckDeps,
  provider: string,
  one: SucceededPayment,
): Promise<Payment | undefined> {
  const { paymentId, externalId } = one
  const known = await s.db.read((q) => readByExternalId(q, provider, externalId))
  if (known || paymentId === null) return known
  const own = await s.db.read((q) => readPayment(q, paymentId))
  if (own?.provider !== provider || own.externalId !== '') return undefined
  const link = { externalId, nextCheckAt: formatTimestamp(s.clock.now()) }
  return s.db.tx((tx) => storeExternalId(tx, own.id, link))
}

const isSettled = (row: Payment, one: SucceededPayment): boolean =>
  row.refundedAt !== null || (row.status === 'paid' && !one.refunded && !one.refundedPart)

/** False when the provider gave no answer about this shop. */
async function auditShop(s: CheckDeps, provider: string, shop: ShopCredentials): Promise<boolean> {
  const since = addDays(s.clock.now(), -LOOK_BACK_DAYS)
  const succeeded = await gatewayOf(s, provider)?.listSucceeded(since, shop)
  if (!Array.isArray(succeeded)) {
    s.log.warn('the list of paid payments could not be read', { shop: shop.shopId })
    return false
  }
  for (const one of succeeded) {
    const row = await findRow(s, provider, one)
    if (row && !isSettled(row, one)) await recheckPayment(s, row)
    // Other programs may sell through the same shop: only ours give their payments such ids.
    if (row || one.refunded || one.paymentId === null || !isUuid(one.paymentId)) continue
    const { externalId, amount, currency } = one
    await noteOrphan(s, { provider, externalId, amount, currency })
  }
  return true
}

/** The same of all shops of a provider that payments may still come from; of a former one, which may never give an answer again, true. */
async function auditProvider(s: CheckDeps, provider: string): Promise<boolean> {
  const { current, former } = await listShops(s, provider)
  const complete = current === null || (await auditShop(s, provider, current))
  for (const shop of former) await auditShop(s, provider, shop)
  return complete
}

/**
 * Goes through the lists of all gateways that have one. False when one gave no answer about its present shop. What is found is
 * treated as if a webhook had told of it.
 */
export async function auditPayments(s: CheckDeps): Promise<boolean> {
  let complete = true
  for (const [provider, { listSucceeded }] of Object.entries(s.gateways)) {
    if (listSucceeded && !(await auditProvider(s, provider))) complete = false
  }
  return complete
}
