/** Plans: list, create, change, order, delete. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { findPlan, listPlans } from '#db/plans.ts'
import { createPlan, editPlan, orderPlans, removePlan } from '#src/domain/plans.ts'
import { notFound } from '#src/lib/errors.ts'
import type { AppEnv, Http } from '../context.ts'
import { flag, integer, ordering, readJson, requiredLine } from '../validate.ts'
import { adminPlanView } from '../views.ts'

const days = integer(1, 3650)
const price = integer(0, 1_000_000_000)
const priceStars = v.nullable(integer(1, 1_000_000))
const sortOrder = integer(0, 1_000_000)

export const creation = v.object({
  code: v.pipe(
    v.string('must be a string'),
    v.regex(/^[a-zA-Z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ or -'),
    v.regex(
      /^(?!__proto__$|constructor$|prototype$)/,
      'is a name that JSON objects keep for themselves',
    ),
  ),
  label: requiredLine(128),
  days,
  price,
  price_stars: v.optional(priceStars, null),
  sort_order: v.optional(sortOrder),
})

export const edition = v.object({
  label: v.optional(requiredLine(128)),
  days: v.optional(days),
  price: v.optional(price),
  price_stars: v.optional(priceStars),
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
