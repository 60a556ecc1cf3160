/** Plans and gift codes as the API shows them. */
import * as v from 'valibot'
import { QUOTA_PERIODS } from '#db/quota-periods.ts'
import { count, giftCode, termDays, tgId } from '#db/values.ts'
import type { adminPlanView, giftView, planView } from '../views.ts'
import { code, describes, timestamp, url } from './fields.ts'

const entries = {
  code,
  label: v.string(),
  days: termDays,
  price: count,
  currency: v.string(),
  /** Of a plan with a quota. */
  quota_gb: v.exactOptional(count),
  quota_period: v.exactOptional(v.picklist(QUOTA_PERIODS)),
}

/** A plan as everyone sees it. */
export const plan = describes<ReturnType<typeof planView>>()(v.strictObject(entries))

export const adminPlan = describes<ReturnType<typeof adminPlanView>>()(
  v.strictObject({
    ...entries,
    price_stars: v.nullable(count),
    sort_order: count,
    archived: v.boolean(),
    node_group: v.exactOptional(v.string()),
    hwid_limit: v.exactOptional(count),
  }),
)

/** A plan that is still referred to is archived, another one is gone. */
export const planDeleted = v.strictObject({ ok: v.literal(true), archived: v.boolean() })

export const gift = describes<ReturnType<typeof giftView>>()(
  v.strictObject({
    code: giftCode,
    node: v.string(),
    node_label: v.string(),
    plan: v.string(),
    plan_label: v.string(),
    created_by: count,
    link: v.nullable(url),
    created_at: timestamp,
    used_at: v.nullable(timestamp),
    used_by: v.nullable(tgId),
    expires_at: v.nullable(timestamp),
    start: v.exactOptional(v.literal('first_use')),
    start_seconds: v.exactOptional(count),
    start_by: v.exactOptional(v.nullable(timestamp)),
    node_group: v.exactOptional(v.string()),
  }),
)

const createdGift = v.strictObject({ code: giftCode, link: v.nullable(url) })

/** One, or a list of them where a count was asked for. */
export const createdGifts = v.union([createdGift, v.array(createdGift)])
