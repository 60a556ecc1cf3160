/** Plans: list, create, change, order, delete. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { findPlan, listPlans } from '#db/plans.ts'
import { planCode, planDays, planLabel, price, priceStars, sortOrder } from '#db/values.ts'
import { createPlan, editPlan, orderPlans, removePlan } from '#src/domain/subscriptions/plans.ts'
import { notFound } from '#src/lib/errors.ts'
import { flag } from '#src/lib/values.ts'
import type { AppEnv, Http } from '../context.ts'
import { ordering, readJson } from '../validate.ts'
import { adminPlanView } from '../views.ts'

export const creation = v.object({
  code: planCode,
  label: planLabel,
  days: planDays,
  price,
  price_stars: v.optional(v.nullable(priceStars), null),
  sort_order: v.optional(sortOrder),
})

export const edition = v.object({
  label: v.optional(planLabel),
  days: v.optional(planDays),
  price: v.optional(price),
  price_stars: v.optional(v.nullable(priceStars)),
  sort_order: v.optional(sortOrder),
  archived: v.optional(flag),
})

export const planOrder = ordering('plan')

export function planRoutes(s: Http) {
  const { currency } = s.config
  return new Hono<AppEnv>()
    .get('/', (c) => c.json(listPlans(s.db).map((plan) => adminPlanView(plan, currency))))
    .post('/', async (c) => {
      const { price_stars, sort_order, ...rest } = await readJson(c, creation)
      const fields = { ...rest, priceStars: price_stars, sortOrder: sort_order }
      return c.json(adminPlanView(await createPlan(s, c.get('actor'), fields), currency))
    })
    .post('/reorder', async (c) => {
      await orderPlans(s, c.get('actor'), (await readJson(c, planOrder)).codes)
      return c.json({ ok: true })
    })
    .patch('/:code', async (c) => {
      const code = c.req.param('code')
      if (!findPlan(s.db, code)) throw notFound('plan not found')
      const { price_stars, sort_order, ...rest } = await readJson(c, edition)
      const changes = { ...rest, priceStars: price_stars, sortOrder: sort_order }
      return c.json(adminPlanView(await editPlan(s, c.get('actor'), code, changes), currency))
    })
    .delete('/:code', async (c) => {
      const outcome = await removePlan(s, c.get('actor'), c.req.param('code'))
      return c.json({ ok: true, archived: outcome === 'archived' })
    })
}
