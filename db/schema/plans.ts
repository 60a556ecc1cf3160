/** What is sold, and given away. */
import { bool, index, insertionOrder, int, oneOf, table, text } from '../engine/columns.ts'
import { QUOTA_PERIODS } from '../quota-periods.ts'
import { soldQuota } from './subscriptions.ts'

export const plans = table('plans', {
  code: text('code').primaryKey(),
  label: text('label').notNull(),
  days: int('days').notNull(),
  /** Whole units of CURRENCY; 0 = not for sale. */
  price: int('price').notNull(),
  priceStars: int('price_stars'),
  sortOrder: int('sort_order').notNull(),
  archived: bool('archived').notNull().default(false),
  /** The group of nodes that it is sold with; null: one node, which the customer chooses. */
  nodeGroup: text('node_group'),
  /** Traffic in GB (1024³ bytes) for each period; null: without a limit. */
  quotaGb: int('quota_gb'),
  quotaPeriod: oneOf('quota_period', QUOTA_PERIODS).notNull().default('none'),
  /** How many devices its customers may have who have no limit of their own. */
  hwidLimit: int('hwid_limit'),
})

/** Traffic that is sold beside a quota. */
export const trafficPacks = table('traffic_packs', {
  code: text('code').primaryKey(),
  label: text('label').notNull(),
  /** GB of 1024³ bytes. */
  gb: int('gb').notNull(),
  /** Whole units of CURRENCY; 0 = not for sale. */
  price: int('price').notNull(),
  priceStars: int('price_stars'),
  sortOrder: int('sort_order').notNull(),
  archived: bool('archived').notNull().default(false),
})

export const giftCodes = table(
  'gift_codes',
  {
    seq: insertionOrder('seq'),
    code: text('code').notNull().unique(),
    node: text('node').notNull(),
    plan: text('plan').notNull(),
    /** Its plan's, when it was made. */
    nodeGroup: text('node_group'),
    ...soldQuota,
    createdBy: int('created_by').notNull().default(0),
    createdAt: text('created_at').notNull(),
    expiresAt: text('expires_at'),
    /** Of a delayed start: how long what it gives lasts from its first use on, and when it begins at the latest. */
    startSeconds: int('start_seconds'),
    startBy: text('start_by'),
    usedAt: text('used_at'),
    usedBy: int('used_by'),
    revokedAt: text('revoked_at'),
  },
  (t) => [
    // All that the listing filters by: what does not match is passed without a look at its row.
    index('gift_codes_created_at').on(
      t.createdAt,
      t.revokedAt,
      t.usedAt,
      t.expiresAt,
      t.node,
      t.plan,
      t.usedBy,
      t.code,
    ),
  ],
)

export type Plan = typeof plans.$inferSelect
export type TrafficPack = typeof trafficPacks.$inferSelect
export type GiftCode = typeof giftCodes.$inferSelect
