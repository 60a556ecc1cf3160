/** Subscriptions. */
import { bool, index, insertionOrder, int, oneOf, table, text } from '../engine/columns.ts'
import { sql } from '../engine/orm.ts'
import { isHeld, isOpen, isRevoked } from '../states.ts'
import { users } from './customers.ts'

const OPEN = sql.raw(isOpen())
const HELD = sql.raw(isHeld())
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
    revokedAt: text('revoked_at'),
    source: oneOf('source', ['payment', 'admin', 'gift']).notNull(),
    paymentId: text('payment_id').unique(),
    giftCode: text('gift_code'),
    upBytes: int('up_bytes').notNull().default(0),
    downBytes: int('down_bytes').notNull().default(0),
    createdAt: text('created_at').notNull(),
    /** The last reminder of this expiry that is over (domain/subscriptions/reminders.ts); 0: none. */
    reminded: int('reminded').notNull().default(0),
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
    ),
    index('subscriptions_created_at').on(t.createdAt),
    index('subscriptions_plan').on(t.plan, t.createdAt),
    index('subscriptions_node').on(t.node, t.createdAt),
    index('subscriptions_expires_at').on(t.expiresAt),
    index('subscriptions_clients').on(t.node, t.uuid, t.expiresAt, t.tgId).where(OPEN),
    // The same of groups, which most have none of.
    index('subscriptions_group_clients')
      .on(t.nodeGroup, t.uuid, t.expiresAt, t.tgId, t.node)
      .where(sql`${OPEN} and node_group is not null`),
    index('subscriptions_group').on(t.nodeGroup, t.createdAt).where(sql`node_group is not null`),
    // Filters and counts name it; `<> 0` keeps it from list fetches, which would have to visit the rows by it.
    index('subscriptions_owner').on(t.tgId, t.expiresAt, t.heldAt).where(sql`active <> 0`),
    // The few that are held or revoked, by what the listing sorts, filters and searches by.
    index('subscriptions_held').on(t.createdAt, t.expiresAt, t.node, t.plan, t.tgId).where(HELD),
    index('subscriptions_held_ends').on(t.expiresAt, t.node, t.plan, t.tgId).where(HELD),
    index('subscriptions_revoked')
      .on(t.createdAt, t.expiresAt, t.node, t.plan, t.tgId)
      .where(REVOKED),
    index('subscriptions_revoked_ends').on(t.expiresAt, t.node, t.plan, t.tgId).where(REVOKED),
    index('subscriptions_traffic').on(sql`(up_bytes + down_bytes)`, t.upBytes, t.downBytes),
    index('subscriptions_reminders').on(t.reminded, t.expiresAt).where(OPEN),
  ],
)

export type Subscription = typeof subscriptions.$inferSelect
