/** Traffic packs: list, create, change, order, delete. */

import * as v from 'valibot'
import { listPacks } from '#db/traffic-packs.ts'
import { packGb, planCode, planLabel, price, priceStars, sortOrder } from '#db/values.ts'
import {
  createPack,
  editPack,
  orderPacks,
  removePack,
} from '#src/domain/subscriptions/traffic-packs.ts'
import { flag } from '#src/lib/values.ts'
import { refusal } from '#src/refusals/index.ts'
import { adminOperations, operation } from '../operation.ts'
import { code, ok } from '../schemas/fields.ts'
import { packDeleted, trafficPack } from '../schemas/traffic-pack.ts'
import { ordering } from '../validate.ts'
import { packView } from '../views.ts'

const creation = v.object({
  code: planCode,
  label: planLabel,
  gb: packGb,
  price,
  price_stars: v.optional(v.nullable(priceStars), null),
  sort_order: v.optional(sortOrder),
})

const edition = v.object({
  label: v.optional(planLabel),
  gb: v.optional(packGb),
  price: v.optional(price),
  price_stars: v.optional(v.nullable(priceStars)),
  sort_order: v.optional(sortOrder),
  archived: v.optional(flag),
})

const packOrder = ordering('pack')

const params = { code }

export const packOperations = adminOperations('Plans', [
  operation(
    {
      method: 'get',
      path: '/traffic-packs',
      scope: 'plans:read',
      summary: 'List the traffic packs, archived ones too',
      ok: v.array(trafficPack),
    },
    ({ s }) => listPacks(s.db).map((pack) => packView(pack, s.config.currency)),
  ),
  operation(
    {
      method: 'post',
      path: '/traffic-packs',
      scope: 'plans:write',
      summary: 'Add a traffic pack, which is sold to who has a subscription with a quota',
      body: creation,
      ok: trafficPack,
    },
    async ({ s, actor, body }) => {
      const { price_stars: priceStars, sort_order: sortOrder, ...fields } = await body()
      const pack = await createPack(s, actor, { ...fields, priceStars, sortOrder })
      return packView(pack, s.config.currency)
    },
  ),
  operation(
    {
      method: 'post',
      path: '/traffic-packs/reorder',
      scope: 'plans:write',
      summary: 'Put the traffic packs in this order; every one once, archived ones too',
      body: packOrder,
      ok,
    },
    async ({ s, actor, body }) => {
      await orderPacks(s, actor, (await body()).codes)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'patch',
      path: '/traffic-packs/{code}',
      scope: 'plans:write',
      summary: 'Change a traffic pack',
      params,
      body: edition,
      ok: trafficPack,
    },
    async ({ s, actor, params, body }) => {
      if (!listPacks(s.db).some((pack) => pack.code === params.code)) {
        throw refusal('pack-not-found')
      }
      const { price_stars: priceStars, sort_order: sortOrder, ...fields } = await body()
      const pack = await editPack(s, actor, params.code, { ...fields, priceStars, sortOrder })
      return packView(pack, s.config.currency)
    },
  ),
  operation(
    {
      method: 'delete',
      path: '/traffic-packs/{code}',
      scope: 'plans:write',
      summary: 'Delete a traffic pack, or archive it while a payment names it',
      params,
      ok: packDeleted,
    },
    async ({ s, actor, params }) => {
      const outcome = await removePack(s, actor, params.code)
      return { ok: true, archived: outcome === 'archived' }
    },
  ),
])
