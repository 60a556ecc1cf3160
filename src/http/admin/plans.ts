/** Plans: list, create, change, order, delete. */

import * as v from 'valibot'
import { findPlan, listPlans } from '#db/plans.ts'
import { planCode, planDays, planLabel, price, priceStars, sortOrder } from '#db/values.ts'
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
})

const edition = v.object({
  label: v.optional(planLabel),
  days: v.optional(planDays),
  price: v.optional(price),
  price_stars: v.optional(v.nullable(priceStars)),
  sort_order: v.optional(sortOrder),
  node_group: v.optional(v.nullable(v.string('must be a string'))),
  archived: v.optional(flag),
})

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
      const {
        price_stars: priceStars,
        sort_order: sortOrder,
        node_group: nodeGroup,
        ...rest
      } = await body()
      const fields = { ...rest, priceStars, sortOrder, nodeGroup }
      return adminPlanView(await createPlan(s, actor, fields), s.config.currency)
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
      const {
        price_stars: priceStars,
        sort_order: sortOrder,
        node_group: nodeGroup,
        ...rest
      } = await body()
      const changes = { ...rest, priceStars, sortOrder, nodeGroup }
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
