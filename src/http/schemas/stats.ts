/** Statistics, and what a restore tells. */
import * as v from 'valibot'
import { count, day } from '#db/values.ts'
import type { dailyStats } from '#src/domain/installation/stats.ts'
import type { activeView, statsView } from '../views.ts'
import { describes, timestamp } from './fields.ts'

const updown = v.strictObject({ up: count, down: count })

export const stats = describes<ReturnType<typeof statsView>>()(
  v.strictObject({
    users: count,
    subscriptions: v.strictObject({
      active: count,
      held: count,
      expired: count,
      revoked: count,
      /** Only where there are some. */
      limited: v.exactOptional(count),
      disabled: v.exactOptional(count),
    }),
    nodes: v.strictObject({ total: count, active: count, down: count }),
    payments: v.strictObject({
      pending: count,
      paid_today: count,
      paid_30d: count,
      review: count,
      orphans: count,
    }),
    revenue: v.strictObject({ today: count, days_30: count, currency: v.string() }),
    devices: count,
    expiring_3d: count,
    traffic: updown,
    last_sync_at: v.nullable(timestamp),
    sync_blocked: v.array(v.string()),
    version: v.string(),
  }),
)

/** Most first; the endings by day of TIMEZONE, from today on. */
export const activeStats = describes<ReturnType<typeof activeView>>()(
  v.strictObject({
    by_plan: v.array(v.strictObject({ plan: v.string(), plan_label: v.string(), active: count })),
    by_node: v.array(v.strictObject({ node: v.string(), active: count })),
    endings: v.array(v.strictObject({ date: day, count })),
  }),
)

/** Days of TIMEZONE, oldest first. */
export const statsSeries = describes<Awaited<ReturnType<typeof dailyStats>>>()(
  v.array(
    v.strictObject({
      date: day,
      users: count,
      paid: count,
      revenue: count,
      up: count,
      down: count,
    }),
  ),
)

export const restored = v.strictObject({
  ok: v.literal(true),
  restored_db: v.literal(true),
  restored_env: v.boolean(),
  restart_needed: v.array(v.string()),
  dropped: v.array(v.string()),
  kept: v.array(v.string()),
  safety_copies: v.array(v.string()),
  reviews: count,
  restarted_bot: v.boolean(),
  /** Backups are encrypted to the passphrase of this one from now on. */
  passphrase_taken: v.exactOptional(v.literal(true)),
})
