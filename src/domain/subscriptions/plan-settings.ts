/** Prices and the master toggle of payments. */

import { updatePlan } from '#db/plans.ts'
import { putSetting } from '#db/settings.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { requireEnd } from './plans.ts'

export interface PlanSettings {
  paymentsEnabled?: boolean
  /** Prices by plan code. */
  prices?: Record<string, number>
}

/** Saves all of it or, where a plan is unknown or one without end would be priced (400), nothing. */
export async function savePlanSettings(
  s: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { paymentsEnabled, prices = {} }: PlanSettings,
): Promise<void> {
  if (paymentsEnabled === undefined && Object.keys(prices).length === 0) {
    throw refusal('nothing-to-change')
  }
  const at = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    const changed: string[] = []
    if (paymentsEnabled !== undefined) {
      yield* putSetting(tx, 'PAYMENTS_ENABLED', String(paymentsEnabled))
      changed.push('PAYMENTS_ENABLED')
    }
    for (const [code, price] of Object.entries(prices)) {
      const plan = yield* updatePlan(tx, code, { price })
      if (!plan) throw fieldRefusal('prices', 'prices-of-unknown-plan')
      requireEnd(plan, false)
      changed.push(`price:${code}`)
    }
    yield* audit(tx, actor, at, { action: 'settings.change', object: changed.join(' ') })
  })
}
