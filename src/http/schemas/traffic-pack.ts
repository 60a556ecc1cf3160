/** Traffic packs as the API shows them. */
import * as v from 'valibot'
import { count, packGb } from '#db/values.ts'
import type { packView, shopPackView } from '../views.ts'
import { code, describes } from './fields.ts'

const entries = {
  code,
  label: v.string(),
  gb: packGb,
  price: count,
  currency: v.string(),
  price_stars: v.nullable(count),
}

/** A pack as the shop offers it. */
export const shopPack = describes<ReturnType<typeof shopPackView>>()(v.strictObject(entries))

export const trafficPack = describes<ReturnType<typeof packView>>()(
  v.strictObject({ ...entries, sort_order: count, archived: v.boolean() }),
)

/** A pack that a payment names is archived, another one is gone. */
export const packDeleted = v.strictObject({ ok: v.literal(true), archived: v.boolean() })
