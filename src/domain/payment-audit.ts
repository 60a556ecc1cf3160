/** Holds what provider A counts as paid against our rows, once a day: money that no webhook and no check has told of. */
import { findByExternalId, findPayment, storeExternalId } from '#db/payments.ts'
import type { Payment } from '#db/schema.ts'
import { isUuid } from '#db/users.ts'
import { addDays, formatTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { noteOrphan } from './orphan-payments.ts'
import { type CheckDeps, recheckPayment } from './payment-checks.ts'
import { currentShopId, findShop } from './payment-shops.ts'
import { readSettings } from './settings.ts'

type Deps = CheckDeps & Pick<Services, 'gateways'>

type Succeeded = NonNullable<
  Awaited<ReturnType<Services['gateways']['provider_a']['listSucceeded']>>
>[number]

const PROVIDER = 'provider_a'
const LOOK_BACK_DAYS = 3

/** Our row of a payment; one whose creation was interrupted learns here what the provider calls it. */
async function findRow(s: Deps, one: Succeeded): Promise<Payment | undefined> {
  const known = findByExternalId(s.db, PROVIDER, one.externalId)
  if (known || one.paymentId === null) return known
  const own = findPayment(s.db, one.paymentId)
  if (own?.provider !== PROVIDER || own.externalId !== '') return undefined
  const link = { externalId: one.externalId, nextCheckAt: formatTimestamp(s.clock.now()) }
  return s.db.tx((tx) => storeExternalId(tx, own.id, link))
}

const isSettled = (row: Payment, one: Succeeded): boolean =>
  row.status === 'paid' && (!one.refunded || row.refundedAt !== null)

/** False when the provider gave no answer. What is found is treated as if a webhook had told of it. */
export async function auditProviderA(s: Deps): Promise<boolean> {
  const shopId = currentShopId(readSettings(s), PROVIDER)
  const shop = shopId === '' ? undefined : findShop(s, { provider: PROVIDER, shopId })
  if (!shop) return true
  const since = addDays(s.clock.now(), -LOOK_BACK_DAYS)
  const succeeded = await s.gateways[PROVIDER].listSucceeded(since, shop)
  if (!succeeded) return false
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
