/** Plans as an admin manages them. What was sold keeps its plan: one in use is archived, not deleted. */

import { isUniqueViolation } from '#db/engine/failures.ts'
import {
  countPlans,
  deletePlan,
  insertPlan,
  isPlanUsed,
  readPlan,
  readPlanCodes,
  reorderPlans,
  updatePlan,
} from '#db/plans.ts'
import type { Plan } from '#db/schema/index.ts'
import { MAX_DAYS } from '#db/values.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { checkOrder } from '#src/domain/ordering.ts'
import { requireRoom } from '#src/domain/room.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import { requireSoldGroup } from './homes.ts'

type Deps = Pick<Services, 'db' | 'clock'>

type PlanFields = Omit<Plan, 'code'>
type PlanChanges = { [K in keyof PlanFields]?: PlanFields[K] | undefined }

/** Throws 400 for periods of a quota that there is not. */
function requireQuota({ quotaGb, quotaPeriod }: Pick<Plan, 'quotaGb' | 'quotaPeriod'>): void {
  if (quotaGb === null && quotaPeriod !== 'none') throw fieldRefusal('quota_gb', 'missing')
}

/** Throws 400 for a plan without end that has a price. `asked`: it is this request that takes its end away. */
export function requireEnd(
  { days, price, priceStars }: Pick<Plan, 'days' | 'price' | 'priceStars'>,
  asked: boolean,
): void {
  if (days > 0 || (price === 0 && priceStars === null)) return
  if (asked) throw fieldRefusal('days', 'not-in-range', { least: 1, most: MAX_DAYS })
  throw refusal('plan-without-end-priced')
}

/** Creates a plan, at the end of the display order unless it names its place. Throws 400 when the code is taken, or a plan without end has a price. */
export async function createPlan(
  s: Deps,
  actor: Actor,
  {
    sortOrder,
    ...fields
  }: Omit<Plan, 'sortOrder' | 'archived'> & { sortOrder?: number | undefined },
): Promise<Plan> {
  const now = formatTimestamp(s.clock.now())
  requireEnd(fields, true)
  try {
    return await s.db.tx(function* (tx) {
      yield* requireRoom(tx, 'plans')
      yield* requireSoldGroup(tx, fields.nodeGroup)
      requireQuota(fields)
      const plan = yield* insertPlan(tx, { ...fields, ...omitUndefined({ sortOrder }) })
      yield* audit(tx, actor, now, {
        action: 'plan.create',
        object: plan.code,
        detail: `days=${plan.days} price=${plan.price}`,
      })
      return plan
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw refusal('plan-code-taken')
    throw error
  }
}

/** Changes fields of a plan; without any it stays as it is. What was sold before keeps its days. Throws 404, or 400 where it would be without end and priced. */
export async function editPlan(
  s: Deps,
  actor: Actor,
  code: string,
  changes: PlanChanges,
): Promise<Plan> {
  const now = formatTimestamp(s.clock.now())
  const fields = omitUndefined(changes)
  // Its periods go with a quota.
  if (fields.quotaGb === null) fields.quotaPeriod ??= 'none'
  return s.db.tx(function* (tx) {
    const present = yield* readPlan(tx, code)
    if (!present) throw refusal('plan-not-found')
    const keys = Object.keys(fields)
    if (keys.length === 0) return present
    yield* requireSoldGroup(tx, fields.nodeGroup ?? null)
    requireQuota({ ...present, ...fields })
    const updated = (yield* updatePlan(tx, code, fields)) as Plan
    requireEnd(updated, fields.days !== undefined)
    yield* audit(tx, actor, now, { action: 'plan.edit', object: code, detail: keys.join(' ') })
    return updated
  })
}

/** Gives the plans a new display order. Throws 400 unless `codes` names every plan, archived ones too, exactly once. */
export async function orderPlans(s: Deps, actor: Actor, codes: string[]): Promise<void> {
  const now = formatTimestamp(s.clock.now())
  await s.db.tx(function* (tx) {
    checkOrder(codes, yield* readPlanCodes(tx), 'plan')
    yield* reorderPlans(tx, codes)
    yield* audit(tx, actor, now, { action: 'plan.reorder' })
  })
}

/** Deletes a plan, or archives it where a subscription, a payment or an unused gift code names it, or it is the last. Throws 404. */
export async function removePlan(
  s: Deps,
  actor: Actor,
  code: string,
): Promise<'deleted' | 'archived'> {
  const now = formatTimestamp(s.clock.now())
  return s.db.tx(function* (tx) {
    const plan = yield* readPlan(tx, code)
    if (!plan) throw refusal('plan-not-found')
    // Where there is no plan at all the next start seeds the first ones.
    const used = (yield* isPlanUsed(tx, code, now)) || (yield* countPlans(tx)) === 1
    if (used && plan.archived) return 'archived'
    if (used) yield* updatePlan(tx, code, { archived: true })
    else yield* deletePlan(tx, code)
    yield* audit(tx, actor, now, { action: used ? 'plan.archive' : 'plan.delete', object: code })
    return used ? 'archived' : 'deleted'
  })
}
