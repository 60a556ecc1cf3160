/** Subscriptions. */
import { bool, index, insertionOrder, int, oneOf, table, text } from '../engine/columns.ts'
import { sql } from '../engine/orm.ts'
import { QUOTA_PERIODS } from '../quota-periods.ts'
import { isDisabled, isHeld, isLimited, isNearLimit, isOpen, isRevoked, RESETS } from '../states.ts'
import { users } from './customers.ts'

/** The quota of its plan that a payment or a gift code was made with. */
export const soldQuota = {
  quotaBytes: int('quota_bytes'),
  quotaPeriod: oneOf('quota_period', QUOTA_PERIODS).notNull().default('none'),
}

const OPEN = sql.raw(isOpen())
const HELD = sql.raw(isHeld())
const DISABLED = sql.raw(isDisabled())
const REVOKED = sql.raw(isRevoked())

export const subscriptions = table(
  'subscriptions',
  {
    seq: insertionOrder('seq'),
    uuid: text('uuid').notNull().unique(),
    tgId: int('tg_id')
      .notNull()
      .references(() => users.tgId, { onDelete: 'cascade' }),
    /** Its home: a node that it is served on whatever its group is. */
    node: text('node').notNull(),
    /** The group whose members it is served on as well. */
    nodeGroup: text('node_group'),
    plan: text('plan').notNull(),
    expiresAt: text('expires_at').notNull(),
    active: bool('active').notNull().default(true),
    heldAt: text('held_at'),
    /** Since when it is switched off. */
    disabledAt: text('disabled_at'),
    revokedAt: text('revoked_at'),
    source: oneOf('source', ['payment', 'admin', 'gift']).notNull(),
    paymentId: text('payment_id').unique(),
    giftCode: text('gift_code'),
    upBytes: int('up_bytes').notNull().default(0),
    downBytes: int('down_bytes').notNull().default(0),
    createdAt: text('created_at').notNull(),
    /** When traffic of it was counted last. */
    lastOnlineAt: text('last_online_at'),
    /** The last reminder of this expiry that is over (domain/subscriptions/reminders.ts); 0: none. */
    reminded: int('reminded').notNull().default(0),
    /** What may be used in a period; null: without a limit, and nothing is counted as used. */
    quotaBytes: int('quota_bytes'),
    quotaPeriod: oneOf('quota_period', QUOTA_PERIODS).notNull().default('none'),
    /** From when rolling periods count: a month's day and time of day. */
    quotaAnchor: text('quota_anchor'),
    /** Counted bytes by the ratios of their nodes, and hundredths of one that are carried on. */
    usedBytes: int('used_bytes').notNull().default(0),
    usedRest: int('used_rest').notNull().default(0),
    /** Bought beside the quota: they last until they are used. */
    extraBytes: int('extra_bytes').notNull().default(0),
    /** When the next period begins; null without periods. */
    resetsAt: text('resets_at'),
    /** Since when all is used up: it is on no node whose traffic counts. */
    limitedAt: text('limited_at'),
    /** Of which share (in %) its owner was told last in this period; 0: of none. */
    quotaNotice: int('quota_notice').notNull().default(0),
    /** Of one whose start was delayed: for how long it lasts from its first use on. */
    startSeconds: int('start_seconds'),
    /** When it begins at the latest; null once it was used (domain/delayed-start.ts). */
    startBy: text('start_by'),
    /** When it was first used. */
    startedAt: text('started_at'),
    /** When its owner put it on another node last. */
    nodeChangedAt: text('node_changed_at'),
    /** When its days were changed for those of another plan last. */
    planChangedAt: text('plan_changed_at'),
    /** What one of these days was changed for, in millionths of CURRENCY. */
    dayWorth: int('day_worth'),
  },
  (t) => [
    // With users_list and devices_list: a list fetch reads indexes alone, no rows, which lie far apart.
    index('subscriptions_list').on(
      t.tgId,
      t.createdAt,
      t.active,
      t.heldAt,
      t.expiresAt,
      t.uuid,
      t.node,
      t.plan,
      t.upBytes,
      t.downBytes,
      t.nodeGroup,
      t.quotaBytes,
      t.usedBytes,
      t.extraBytes,
      t.resetsAt,
      t.limitedAt,
      t.disabledAt,
      t.startBy,
      t.startSeconds,
    ),
    index('subscriptions_created_at').on(t.createdAt),
    index('subscriptions_plan').on(t.plan, t.createdAt),
    index('subscriptions_node').on(t.node, t.createdAt),
    index('subscriptions_expires_at').on(t.expiresAt),
    index('subscriptions_clients').on(t.node, t.uuid, t.expiresAt, t.tgId, t.limitedAt).where(OPEN),
    // The same of groups, which most have none of.
    index('subscriptions_group_clients')
      .on(t.nodeGroup, t.uuid, t.expiresAt, t.tgId, t.node, t.limitedAt)
      .where(sql`${OPEN} and node_group is not null`),
    index('subscriptions_group').on(t.nodeGroup, t.createdAt).where(sql`node_group is not null`),
    // Filters and counts name it; `<> 0` keeps it from list fetches, which would have to visit the rows by it.
    index('subscriptions_owner')
      .on(t.tgId, t.expiresAt, t.heldAt, t.disabledAt)
      .where(sql`active <> 0`),
    // The few that are held, disabled or revoked, by what the listing sorts, filters and searches by.
    index('subscriptions_held').on(t.createdAt, t.expiresAt, t.node, t.plan, t.tgId).where(HELD),
    index('subscriptions_held_ends').on(t.expiresAt, t.node, t.plan, t.tgId).where(HELD),
    index('subscriptions_disabled')
      .on(t.createdAt, t.expiresAt, t.node, t.plan, t.tgId, t.heldAt)
      .where(DISABLED),
    index('subscriptions_disabled_ends').on(t.expiresAt, t.node, t.plan, t.tgId).where(DISABLED),
    index('subscriptions_revoked')
      .on(t.createdAt, t.expiresAt, t.node, t.plan, t.tgId)
      .where(REVOKED),
    index('subscriptions_revoked_ends').on(t.expiresAt, t.node, t.plan, t.tgId).where(REVOKED),
    index('subscriptions_traffic').on(sql`(up_bytes + down_bytes)`, t.upBytes, t.downBytes),
    index('subscriptions_online').on(t.lastOnlineAt, t.tgId).where(sql`last_online_at is not null`),
    index('subscriptions_reminders').on(t.reminded, t.expiresAt).where(OPEN),
    index('subscriptions_resets').on(t.resetsAt).where(sql.raw(RESETS)),
    index('subscriptions_limited').on(t.createdAt, t.expiresAt).where(sql.raw(isLimited())),
    // Those whose owners were told that little is left, and who have not used up all.
    index('subscriptions_near_limit').on(t.node, t.nodeGroup).where(sql.raw(isNearLimit())),
  ],
)

export type Subscription = typeof subscriptions.$inferSelect
