/** Money without a row: what a provider counts as paid, made by this service, and nobody here knows. */

import { insertOrphan, resolveOrphan } from '#db/orphan-payments.ts'
import { readByExternalId } from '#db/payments.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { alert } from '#src/domain/notify/alerts.ts'
import { readSettings } from '#src/domain/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { type GatewayDeps, gatewayOf } from './gateways.ts'
import { currentShopId, findShop } from './shops.ts'
import { PROVIDER_ACTOR } from './steps.ts'

type Deps = Pick<Services, 'db' | 'config' | 'clock' | 'log' | 'nudge'>

export const ORPHAN = 'paid, but no payment of ours'

/** Notes an orphan once, and tells the admins. */
export async function noteOrphan(
  s: Deps,
  orphan: {
    provider: string
    externalId: string
    amount?: string | undefined
    currency?: string | undefined
  },
): Promise<void> {
  const { provider, externalId, amount = null, currency = null } = orphan
  const now = formatTimestamp(s.clock.now())
  const isNew = await s.db.tx(function* (tx) {
    const row = { provider, externalId, amount, currency, foundAt: now }
    if (!(yield* insertOrphan(tx, row))) return false
    yield* audit(tx, PROVIDER_ACTOR, now, {
      action: 'payment.orphan',
      object: externalId,
      detail: provider,
    })
    yield* alert(tx, s, now, { about: 'payment-in-review', payment: externalId, reason: ORPHAN })
    return true
  })
  if (!isNew) return
  s.log.warn('a payment without a row', { provider, external: externalId })
  s.nudge('messages')
}

/** Asks a provider about a payment of which a notice told and no row does; an orphan is noted when it is truly paid. */
export async function lookUpUnknown(
  s: Deps & GatewayDeps,
  provider: string,
  externalId: string,
): Promise<void> {
  const shopId = currentShopId(readSettings(s), provider)
  const shop = await findShop(s, { provider, shopId })
  if (!shop) return
  const found = await gatewayOf(s, provider)?.check({ id: '', externalId }, shop)
  if (found?.state !== 'paid' || found.refunded) return
  // Its row may have learned the id meanwhile.
  if (await s.db.read((q) => readByExternalId(q, provider, externalId))) return
  const { amount, currency } = found
  await noteOrphan(s, { provider, externalId, amount, currency })
}

/** Marks an orphan as dealt with. Throws 404. */
export async function settleOrphan(
  s: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  id: number | null,
): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const resolved = id === null ? undefined : yield* resolveOrphan(tx, id, now)
    if (resolved === undefined) throw refusal('payment-not-found')
    if (resolved === null) return
    yield* audit(tx, actor, now, {
      action: 'payment.orphan-resolved',
      object: resolved.externalId,
      detail: resolved.provider,
    })
  })
}
