/** Subscriptions as the API shows them. */
import * as v from 'valibot'
import { QUOTA_PERIODS } from '#db/quota-periods.ts'
import { count, customerName, tgId } from '#db/values.ts'
import type { prospectView, subscriptionView } from '../views.ts'
import { bytesText, describes, timestamp, uuid } from './fields.ts'

/** Of one that is sold with a group of nodes. */
export const groupEntries = {
  node_group: v.exactOptional(v.string()),
  node_group_label: v.exactOptional(v.string()),
  nodes: v.exactOptional(v.array(v.string())),
}

/** Of one that waits for its first use. */
export const waitingEntries = {
  start: v.exactOptional(v.literal('first_use')),
  start_seconds: v.exactOptional(count),
}

/** Of one that has no end. */
export const endlessEntry = { endless: v.exactOptional(v.literal(true)) }

/** Of one with a quota. */
export const quotaEntries = {
  quota_bytes: v.exactOptional(count),
  quota_period: v.exactOptional(v.picklist(QUOTA_PERIODS)),
  used_bytes: v.exactOptional(count),
  extra_bytes: v.exactOptional(count),
  resets_at: v.exactOptional(v.nullable(timestamp)),
  limited_at: v.exactOptional(v.nullable(timestamp)),
}

export const subscription = describes<ReturnType<typeof subscriptionView>>()(
  v.strictObject({
    uuid,
    tg_id: tgId,
    username: v.nullable(v.string()),
    node: v.string(),
    node_label: v.string(),
    plan: v.string(),
    plan_label: v.string(),
    expires_at: timestamp,
    days_left: count,
    ...endlessEntry,
    active: v.boolean(),
    held_at: v.nullable(timestamp),
    disabled_at: v.exactOptional(timestamp),
    ...waitingEntries,
    start_by: v.exactOptional(v.nullable(timestamp)),
    started_at: v.exactOptional(v.nullable(timestamp)),
    source: v.picklist(['payment', 'admin', 'gift']),
    created_at: timestamp,
    up: count,
    down: count,
    name: v.exactOptional(customerName),
    ...groupEntries,
    ...quotaEntries,
  }),
)

/** What a subscription is by another plan or on another server. */
export const prospect = describes<ReturnType<typeof prospectView>>()(
  v.strictObject({ days: count, expires_at: timestamp, plan_label: v.string() }),
)

export const held = v.strictObject({ ok: v.literal(true), held_at: timestamp })

export const disabled = v.strictObject({ ok: v.literal(true), disabled_at: timestamp })

export const resumed = v.strictObject({ ok: v.literal(true), expires_at: timestamp })

/** `ok` says whether the node answered now. */
export const trafficReset = v.strictObject({ ok: v.boolean() })

export const traffic = v.strictObject({
  entries: v.array(
    v.strictObject({
      uuid,
      username: v.pipe(v.string(), v.minLength(1), v.examples(['@alice', 'Alice', 'tg123'])),
      node_label: v.string(),
      up: count,
      down: count,
      up_fmt: bytesText,
      down_fmt: bytesText,
      total_fmt: bytesText,
    }),
  ),
  up: count,
  down: count,
  total_fmt: bytesText,
})
