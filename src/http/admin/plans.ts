/** Plans: list, create, change, order, delete. */

import * as v from 'valibot'
import { findPlan, listPlans } from '#db/plans.ts'
import {
  planCode,
  planDays,
  planHwidLimit,
  planLabel,
  price,
  priceStars,
  quotaGb,
  quotaPeriod,
  sortOrder,
} from '#db/values.ts'
import { createPlan, editPlan, orderPlans, removePlan } from '#src/domain/subscriptions/plans.ts'
import { flag } from '#src/lib/values.ts'
import { refusal } from '#src/refusals/index.ts'
import { adminOperations, operation } from '../operation.ts'
import { code, ok } from '../schemas/fields.ts'
import { adminPlan, planDeleted } from '../schemas/plan.ts'
import { ordering } from '../validate.ts'
import { adminPlanView } from '../views.ts'

const creation = v.object({
  code: planCode,
  label: planLabel,
  days: planDays,
  price,
  price_stars: v.optional(v.nullable(priceStars), null),
  sort_order: v.optional(sortOrder),
  node_group: v.optional(v.nullable(v.string('must be a string')), null),
  quota_gb: v.optional(v.nullable(quotaGb), null),
  quota_period: v.optional(quotaPeriod, 'none'),
  hwid_limit: v.optional(v.nullable(planHwidLimit), null),
})

const edition = v.object({
  label: v.optional(planLabel),
  days: v.optional(planDays),
  price: v.optional(price),
  price_stars: v.optional(v.nullable(priceStars)),
  sort_order: v.optional(sortOrder),
  node_group: v.optional(v.nullable(v.string('must be a string'))),
  quota_gb: v.optional(v.nullable(quotaGb)),
  quota_period: v.optional(quotaPeriod),
  hwid_limit: v.optional(v.nullable(planHwidLimit)),
  archived: v.optional(flag),
})

/** A plan's fields by the names that rows have. */
function fieldsOf<B extends v.InferOutput<typeof creation> | v.InferOutput<typeof edition>>(
  body: B,
) {
  const { price_stars, sort_order, node_group, quota_gb, quota_period, hwid_limit, ...rest } = body
  return {
    ...rest,
    priceStars: price_stars as B['price_stars'],
    sortOrder: sort_order as B['sort_order'],
    nodeGroup: node_group as B['node_group'],
    quotaGb: quota_gb as B['quota_gb'],
    quotaPeriod: quota_period as B['quota_period'],
    hwidLimit: hwid_limit as B['hwid_limit'],
  }
}

const planOrder = ordering('plan')

const params = { code }

export const planOperations = adminOperations('Plans', [
  operation(
    {
      method: 'get',
      path: '/plans',
      scope: 'plans:read',
      summary: 'List the plans, archived ones too',
      ok: v.array(adminPlan),
    },
    ({ s }) => listPlans(s.db).map((plan) => adminPlanView(plan, s.config.currency)),
  ),
  operation(
    {
      method: 'post',
      path: '/plans',
      scope: 'plans:write',
      summary: 'Add a plan',
      body: creation,
      ok: adminPlan,
    },
    async ({ s, actor, body }) => {
      const plan = await createPlan(s, actor, fieldsOf(await body()))
      return adminPlanView(plan, s.config.currency)
    },
  ),
  operation(
    {
      method: 'post',
      path: '/plans/reorder',
      scope: 'plans:write',
      summary: 'Put the plans in this order; every one once, archived ones too',
      body: planOrder,
      ok,
    },
    async ({ s, actor, body }) => {
      await orderPlans(s, actor, (await body()).codes)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'patch',
      path: '/plans/{code}',
      scope: 'plans:write',
      summary: 'Change a plan',
      params,
      body: edition,
      ok: adminPlan,
    },
    async ({ s, actor, params, body }) => {
      if (!findPlan(s.db, params.code)) throw refusal('plan-not-found')
      const changes = fieldsOf(await body())
      return adminPlanView(await editPlan(s, actor, params.code, changes), s.config.currency)
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/plans/{code}',
      scope: 'plans:write',
      summary: 'Delete a plan, or archive it while it is used',
      params,
      ok: planDeleted,
    },
    async ({ s, actor, params }) => {
      const outcome = await removePlan(s, actor, params.code)
      return { ok: true, archived: outcome === 'archived' }
    },
  ),
])
