/** Payments. */
import {
  autoId,
  bool,
  index,
  insertionOrder,
  int,
  json,
  oneOf,
  table,
  text,
  uniqueIndex,
} from '../engine/columns.ts'
import { sql } from '../engine/orm.ts'
import { soldQuota, subscriptions } from './subscriptions.ts'

/** A reference that goes with the row when its key changes, and outlives it. */
const LINKED = { onUpdate: 'cascade', onDelete: 'set null' } as const

export const payments = table(
  'payments',
  {
    seq: insertionOrder('seq'),
    id: text('id').notNull().unique(),
    tgId: int('tg_id').notNull(),
    node: text('node').notNull(),
    plan: text('plan').notNull(),
    /** Its plan's, when it was made. */
    nodeGroup: text('node_group'),
    ...soldQuota,
    /** What is bought: a subscription or its renewal, more traffic for one, or another plan for one. */
    kind: oneOf('kind', ['access', 'traffic', 'change']).notNull().default('access'),
    /** The traffic pack, of traffic. */
    pack: text('pack'),
    /** What is added to the extra bytes of the subscription, of traffic: its pack's when it was made. */
    extraBytes: int('extra_bytes'),
    /** The id of a gateway (ports/payment-gateway.ts). */
    provider: text('provider').notNull(),
    externalId: text('external_id').notNull().default(''),
    status: oneOf('status', ['pending', 'paid', 'failed']).notNull().default('pending'),
    amount: int('amount').notNull(),
    currency: text('currency').notNull(),
    days: int('days').notNull(),
    shopId: text('shop_id'),
    payUrl: text('pay_url'),
    payUrlExpiresAt: text('pay_url_expires_at'),
    createdAt: text('created_at').notNull(),
    paidAt: text('paid_at'),
    failedReason: text('failed_reason'),
    reviewReason: text('review_reason'),
    refundedAt: text('refunded_at'),
    deletedUser: bool('deleted_user').notNull().default(false),
    nextCheckAt: text('next_check_at'),
    checks: int('checks').notNull().default(0),
    /** What the provider is asked for, word for word, until its answer is stored: an Idempotence-Key holds for the same body only. */
    order: json<Record<string, unknown>>('order_json'),
    source: oneOf('source', ['bot', 'site', 'admin']).notNull(),
    renewsUuid: text('renews_uuid').references(() => subscriptions.uuid, LINKED),
    /** What a change of plan has made of its days; null: there was none since. */
    givenSeconds: int('given_seconds'),
    subscriptionUuid: text('subscription_uuid').references(() => subscriptions.uuid, LINKED),
  },
  (t) => [
    uniqueIndex('payments_external_id').on(t.provider, t.externalId).where(sql`external_id <> ''`),
    index('payments_tg_id').on(t.tgId, t.createdAt, t.provider, t.node, t.plan),
    index('payments_created_at').on(t.createdAt),
    index('payments_provider').on(t.provider, t.createdAt),
    index('payments_plan').on(t.plan, t.createdAt),
    index('payments_paid')
      .on(t.paidAt, t.currency, t.refundedAt, t.amount)
      .where(sql`status = 'paid'`),
    index('payments_next_check_at').on(t.nextCheckAt).where(sql`status = 'pending'`),
    index('payments_review').on(t.createdAt).where(sql`review_reason is not null`),
    index('payments_renews_uuid').on(t.renewsUuid).where(sql`renews_uuid is not null`),
    index('payments_pack').on(t.pack).where(sql`pack is not null`),
    index('payments_subscription_uuid')
      .on(t.subscriptionUuid)
      .where(sql`subscription_uuid is not null`),
  ],
)

/** Payments that a provider knows as paid and this database does not know at all. */
export const orphanPayments = table(
  'orphan_payments',
  {
    id: autoId('id'),
    provider: text('provider').notNull(),
    externalId: text('external_id').notNull(),
    amount: text('amount'),
    currency: text('currency'),
    foundAt: text('found_at').notNull(),
    resolvedAt: text('resolved_at'),
  },
  (t) => [uniqueIndex('orphan_payments_external_id').on(t.provider, t.externalId)],
)

/** What the shops of providers were asked with until they were exchanged for others, oldest first. */
export const formerCredentials = table('former_credentials', {
  id: autoId('id'),
  provider: text('provider').notNull(),
  shopId: text('shop_id').notNull(),
  secret: text('secret').notNull(),
  preset: text('preset'),
  apiUrl: text('api_url'),
  replacedAt: text('replaced_at').notNull(),
})

export type Payment = typeof payments.$inferSelect
