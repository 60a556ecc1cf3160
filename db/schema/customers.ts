/** Customers, their devices, their links, and the numbers that are given. */
import { autoId, index, int, json, oneOf, table, text, uniqueIndex } from '../engine/columns.ts'
import { sql } from '../engine/orm.ts'

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
    /** When they came to the site to buy without being known; null for all others, once an admin knows them, and a week after they came to buy. */
    guestAt: text('guest_at'),
    createdAt: text('created_at').notNull(),
  },
  (t) => [
    index('users_list').on(t.token, t.hwidLimit, t.bannedAt),
    index('users_username').on(sql`lower(${t.username})`),
    index('users_name').on(sql`lower(${t.name})`).where(sql`name is not null`),
    index('users_email').on(t.email).where(sql`email is not null`),
    // Those whose Telegram id is not their number.
    index('users_linked').on(t.telegramId).where(sql`tg_id < 0`),
    index('users_guests').on(t.guestAt).where(sql`guest_at is not null`),
    index('users_banned').on(t.createdAt).where(sql`banned_at is not null`),
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

/** Links beside the present one: of a customer who was merged into this one, or brought along from another panel. */
export const userTokens = table(
  'user_tokens',
  {
    token: text('token').primaryKey(),
    tgId: int('tg_id')
      .notNull()
      .references(() => users.tgId, { onDelete: 'cascade' }),
    kind: oneOf('kind', ['former', 'imported']).notNull(),
    format: text('format'),
    createdAt: text('created_at').notNull(),
  },
  (t) => [index('user_tokens_tg_id').on(t.tgId)],
)

/** The code by which a customer connects their Telegram account, one at a time. */
export const linkCodes = table('link_codes', {
  tgId: int('tg_id')
    .primaryKey()
    .references(() => users.tgId, { onDelete: 'cascade' }),
  /** SHA-256 of it. */
  code: text('code').notNull().unique(),
  expiresAt: text('expires_at').notNull(),
})

/** The last number that was given, by what is numbered. */
export const sequences = table('sequences', {
  name: text('name').primaryKey(),
  last: int('last').notNull(),
})

export type User = typeof users.$inferSelect
export type Device = typeof devices.$inferSelect
