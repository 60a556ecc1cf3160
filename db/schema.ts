/**
 * All tables but those of customer-schema.ts, ssh-schema.ts, admin-schema.ts and fact-schema.ts. SQL names are the interface's names; row types are inferred here and declared nowhere else.
 * Timestamps are text, `YYYY-MM-DDTHH:MM:SS` in UTC, and compare as they sort.
 */
import {
  autoId,
  bool,
  index,
  int,
  json,
  oneOf,
  primaryKey,
  table,
  text,
  uniqueIndex,
} from './engine/columns.ts'
import { sql } from './engine/orm.ts'
import { isHeld, isOpen, isRevoked } from './states.ts'
import type { Transport } from './transport.ts'

export const users = table(
  'users',
  {
    /** The number of the customer: their Telegram id, or one below 0 of our own (db/users.ts). */
    tgId: int('tg_id').primaryKey(),
    /** Where messages go; that of a positive number is the number itself. */
    telegramId: int('telegram_id').unique(),
    username: text('username'),
    name: text('name'),
    email: text('email'),
    tags: json<string[]>('tags').notNull().default([]),
    token: text('token').notNull().unique(),
    hwidLimit: int('hwid_limit'),
    lang: text('lang'),
    blockedAt: text('blocked_at'),
    bannedAt: text('banned_at'),
    note: text('note'),
    /** When the last devices were removed by the user's own hand, newest first; those that count against the limit. */
    deviceRemovals: json<string[]>('device_removals'),
    /** The same of links that the user has reset. */
    linkResets: json<string[]>('link_resets'),
    createdAt: text('created_at').notNull(),
  },
  (t) => [
    index('users_list').on(t.token, t.hwidLimit, t.bannedAt),
    index('users_username').on(sql`lower(${t.username})`),
    index('users_name').on(sql`lower(${t.name})`).where(sql`name is not null`),
    index('users_email').on(t.email).where(sql`email is not null`),
    // Those whose Telegram id is not their number.
    index('users_linked').on(t.telegramId).where(sql`tg_id < 0`),
    index('users_banned').on(t.createdAt).where(sql`banned_at is not null`),
  ],
)

const OPEN = sql.raw(isOpen())
const HELD = sql.raw(isHeld())
const REVOKED = sql.raw(isRevoked())

export const subscriptions = table(
  'subscriptions',
  {
    uuid: text('uuid').primaryKey(),
    tgId: int('tg_id')
      .notNull()
      .references(() => users.tgId, { onDelete: 'cascade' }),
    node: text('node').notNull(),
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
    ),
    index('subscriptions_created_at').on(t.createdAt),
    index('subscriptions_plan').on(t.plan, t.createdAt),
    index('subscriptions_node').on(t.node, t.createdAt),
    index('subscriptions_expires_at').on(t.expiresAt),
    index('subscriptions_clients').on(t.node, t.uuid, t.expiresAt, t.tgId).where(OPEN),
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

export const nodes = table('nodes', {
  code: text('code').primaryKey(),
  label: text('label').notNull(),
  kind: oneOf('kind', ['local', 'managed', 'external']).notNull().default('external'),
  address: text('address').notNull(),
  port: int('port').notNull().default(443),
  publicKey: text('public_key').notNull().default(''),
  privateKey: text('private_key').notNull().default(''),
  shortId: text('short_id').notNull().default(''),
  sni: text('sni').notNull().default(''),
  flow: text('flow').notNull().default('xtls-rprx-vision'),
  sharedUuid: text('shared_uuid'),
  enabled: bool('enabled').notNull().default(true),
  status: oneOf('status', ['pending', 'active', 'failed']).notNull().default('active'),
  sortOrder: int('sort_order').notNull(),
  transportsJson: json<Transport[]>('transports_json').notNull().default([]),
  hysteriaPort: int('hysteria_port'),
  hysteriaPassword: text('hysteria_password'),
  hysteriaObfsPassword: text('hysteria_obfs_password'),
  provisionToken: text('provision_token').unique(),
  provisionExpiresAt: text('provision_expires_at'),
  /** An install command waits to be run: the first one of the node, or one given out again. Null: none since an activation. */
  provisioning: oneOf('provisioning', ['first', 'again']),
  sshPort: int('ssh_port').notNull().default(22),
  sshUser: text('ssh_user'),
  /** The pinned host keys, `type base64` in lines. */
  hostKey: text('host_key'),
  /** The key that was presented last, where it is none of the pinned ones. */
  presentedHostKey: text('presented_host_key'),
  coreVersion: text('core_version'),
  /** The number of the node program, as a pass found it last; null before the first one. */
  program: int('program'),
  lastSeenAt: text('last_seen_at'),
  lastError: text('last_error'),
  syncBlocked: bool('sync_blocked').notNull().default(false),
  /** Above 0: the node may lack a change, and is tried again soon. Counted up, so that an end that is noted late is noticed. */
  behind: int('behind').notNull().default(0),
  createdAt: text('created_at').notNull(),
})

export const plans = table('plans', {
  code: text('code').primaryKey(),
  label: text('label').notNull(),
  days: int('days').notNull(),
  /** Whole units of CURRENCY; 0 = not for sale. */
  price: int('price').notNull(),
  priceStars: int('price_stars'),
  sortOrder: int('sort_order').notNull(),
  archived: bool('archived').notNull().default(false),
})

/** A reference that goes with the row when its key changes, and outlives it. */
const LINKED = { onUpdate: 'cascade', onDelete: 'set null' } as const

export const payments = table(
  'payments',
  {
    id: text('id').primaryKey(),
    tgId: int('tg_id').notNull(),
    node: text('node').notNull(),
    plan: text('plan').notNull(),
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
    index('payments_subscription_uuid')
      .on(t.subscriptionUuid)
      .where(sql`subscription_uuid is not null`),
  ],
)

export const giftCodes = table(
  'gift_codes',
  {
    code: text('code').primaryKey(),
    node: text('node').notNull(),
    plan: text('plan').notNull(),
    createdBy: int('created_by').notNull().default(0),
    createdAt: text('created_at').notNull(),
    expiresAt: text('expires_at'),
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

export const devices = table(
  'devices',
  {
    id: autoId('id'),
    tgId: int('tg_id')
      .notNull()
      .references(() => users.tgId, { onDelete: 'cascade' }),
    hwid: text('hwid').notNull(),
    deviceOs: text('device_os'),
    deviceModel: text('device_model'),
    userAgent: text('user_agent'),
    createdAt: text('created_at').notNull(),
    lastSeenAt: text('last_seen_at').notNull(),
  },
  (t) => [
    uniqueIndex('devices_tg_id_hwid').on(t.tgId, t.hwid),
    index('devices_list').on(t.tgId, t.hwid, t.lastSeenAt),
  ],
)

/** Live settings, and INSTANCE_ID: a key without a row takes its value from the environment. */
export const settings = table('settings', {
  key: text('key').primaryKey(),
  value: text('value').notNull(),
})

/** One row, made by its migration: 32 random bytes in hex, the key of every HMAC of ours. Goes nowhere but into backups. */
export const installation = table('installation', {
  id: int('id').primaryKey(),
  secret: text('secret').notNull(),
})

const SENDING = ['ready', 'sending', 'done', 'failed', 'skipped'] as const

/** Bot messages, written by the transaction that causes them. */
export const outbox = table(
  'outbox',
  {
    id: autoId('id'),
    tgId: int('tg_id').notNull(),
    kind: text('kind').notNull(),
    payload: json<Record<string, unknown>>('payload').notNull(),
    status: oneOf('status', SENDING).notNull().default('ready'),
    attempts: int('attempts').notNull().default(0),
    nextTryAt: text('next_try_at').notNull(),
    error: text('error'),
    createdAt: text('created_at').notNull(),
    doneAt: text('done_at'),
    /** The token of the bot that is to send it, where that is a former one; gone when the message is over. Null: the present bot. */
    botToken: text('bot_token'),
  },
  (t) => [
    index('outbox_ready').on(t.nextTryAt).where(sql`status = 'ready'`),
    index('outbox_open').on(t.kind).where(sql`status in ('ready', 'sending')`),
    index('outbox_former_bot').on(t.nextTryAt).where(sql`bot_token is not null`),
    index('outbox_tg_id').on(t.tgId),
    index('outbox_done_at').on(t.doneAt).where(sql`done_at is not null`),
  ],
)

/** Every outbound event with the result of its one delivery attempt. */
export const events = table(
  'events',
  {
    id: text('id').primaryKey(),
    event: text('event').notNull(),
    /** The JSON of `data`, as it is signed and sent. */
    data: text('data').notNull(),
    status: oneOf('status', [...SENDING, 'interrupted'])
      .notNull()
      .default('ready'),
    httpStatus: int('http_status'),
    error: text('error'),
    attempts: int('attempts').notNull().default(0),
    createdAt: text('created_at').notNull(),
  },
  (t) => [
    index('events_created_at').on(t.createdAt),
    index('events_open').on(t.createdAt).where(sql`status in ('ready', 'sending')`),
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

/** A constant, as the condition of a partial index must be. */
export const IS_LOGIN = sql`action = 'login'`

export const auditLog = table(
  'audit_log',
  {
    id: autoId('id'),
    at: text('at').notNull(),
    admin: text('admin'),
    ip: text('ip').notNull(),
    action: text('action').notNull(),
    object: text('object').notNull().default(''),
    detail: text('detail').notNull().default(''),
  },
  (t) => [
    index('audit_log_at').on(t.at),
    index('audit_log_logins').on(t.admin, t.ip, t.at).where(IS_LOGIN),
    index('audit_log_action').on(sql`lower(action)`),
    index('audit_log_admin').on(t.admin, t.action).where(sql`admin is not null`),
  ],
)

export const trafficSamples = table(
  'traffic_samples',
  {
    node: text('node').notNull(),
    /** `YYYY-MM-DD`, UTC. */
    day: text('day').notNull(),
    up: int('up').notNull().default(0),
    down: int('down').notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.node, t.day] }), index('traffic_samples_day').on(t.day)],
)

/** What a core last reported of a client: the base from which the next reading is counted. */
export const counters = table(
  'counters',
  {
    core: text('core').notNull(),
    uuid: text('uuid')
      .notNull()
      .references(() => subscriptions.uuid, { onDelete: 'cascade', onUpdate: 'cascade' }),
    epoch: text('epoch').notNull(),
    up: int('up').notNull(),
    down: int('down').notNull(),
  },
  (t) => [primaryKey({ columns: [t.uuid, t.core] })],
)

/** The last reading of each core that was counted; sent back as its acknowledgement. */
export const readings = table('readings', {
  core: text('core').primaryKey(),
  reading: text('reading').notNull(),
})

/** Change counters kept by triggers: `lists` for what every connection list depends on. */
export const revisions = table('revisions', {
  name: text('name').primaryKey(),
  n: int('n').notNull(),
})

/** The states that admins were told of as they began, and are to be told of as they end: of the machine, or of a node by its code. */
export const openAlerts = table('open_alerts', { name: text('name').primaryKey() })

export const botState = table('bot_state', {
  id: int('id').primaryKey(),
  wantedGeneration: int('wanted_generation').notNull().default(0),
  runningGeneration: int('running_generation').notNull().default(0),
  heartbeatAt: text('heartbeat_at'),
  username: text('username'),
})

export const leases = table('leases', {
  name: text('name').primaryKey(),
  owner: text('owner').notNull(),
  fence: int('fence').notNull(),
  /** Milliseconds since 1970: leases are shorter than the timestamps' second. */
  expiresAt: int('expires_at').notNull(),
})

/** Deleted nodes whose server is still to be cleaned. A server is one address with one port of its sshd. */
export const retiredNodes = table(
  'retired_nodes',
  {
    code: text('code').notNull(),
    address: text('address').notNull(),
    sshPort: int('ssh_port').notNull(),
    sshUser: text('ssh_user'),
    hostKey: text('host_key'),
    tries: int('tries').notNull().default(0),
    nextTryAt: text('next_try_at').notNull(),
    lastError: text('last_error'),
    createdAt: text('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.address, t.sshPort] })],
)

export type User = typeof users.$inferSelect
export type Subscription = typeof subscriptions.$inferSelect
export type Node = typeof nodes.$inferSelect
export type Plan = typeof plans.$inferSelect
export type Payment = typeof payments.$inferSelect
export type GiftCode = typeof giftCodes.$inferSelect
export type Device = typeof devices.$inferSelect
export type OutboxMessage = typeof outbox.$inferSelect
export type Event = typeof events.$inferSelect
export type AuditEntry = typeof auditLog.$inferSelect
export type RetiredNode = typeof retiredNodes.$inferSelect

/** Whether a server has been set up as this managed node: there is nothing to drive otherwise. One that is set up again goes on until then. */
export const isSetUp = ({ status, lastSeenAt }: Pick<Node, 'status' | 'lastSeenAt'>): boolean =>
  status === 'active' || lastSeenAt !== null
