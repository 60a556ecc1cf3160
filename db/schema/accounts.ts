/** Accounts of admins and their logins. */
import { autoId, bool, index, int, oneOf, table, text, uniqueIndex } from '../engine/columns.ts'
import { sql } from '../engine/orm.ts'

export const admins = table(
  'admins',
  {
    id: autoId('id'),
    username: text('username').notNull(),
    passwordHash: text('password_hash').notNull(),
    totpSecret: text('totp_secret'),
    /** The last accepted TOTP step: a step is never accepted twice. */
    totpLastStep: int('totp_last_step'),
    createdAt: text('created_at').notNull(),
    lastLoginAt: text('last_login_at'),
  },
  (t) => [uniqueIndex('admins_username').on(sql`lower(${t.username})`)],
)

export const adminSessions = table(
  'admin_sessions',
  {
    id: autoId('id'),
    /** SHA-256 of the cookie's value. */
    token: text('token').notNull().unique(),
    adminId: int('admin_id')
      .notNull()
      .references(() => admins.id, { onDelete: 'cascade' }),
    createdAt: text('created_at').notNull(),
    expiresAt: text('expires_at').notNull(),
    lastSeenAt: text('last_seen_at').notNull(),
    ip: text('ip').notNull(),
    userAgent: text('user_agent'),
    /** Whether the panel's login page made it: then some routes want a confirmation (domain/accounts/confirmation.ts). */
    panel: bool('panel').notNull().default(false),
    /** When its admin last gave password or code, the login included. */
    confirmedAt: text('confirmed_at'),
  },
  (t) => [index('admin_sessions_admin_id').on(t.adminId)],
)

export const pendingLogins = table('pending_logins', {
  /** SHA-256 of the pending token. */
  token: text('token').primaryKey(),
  adminId: int('admin_id')
    .notNull()
    .references(() => admins.id, { onDelete: 'cascade' }),
  expiresAt: text('expires_at').notNull(),
  wrongCodes: int('wrong_codes').notNull().default(0),
})

export const loginAttempts = table(
  'login_attempts',
  {
    id: autoId('id'),
    ip: text('ip').notNull(),
    kind: oneOf('kind', ['password', 'totp', 'guest']).notNull(),
    at: text('at').notNull(),
  },
  (t) => [index('login_attempts_ip').on(t.ip, t.kind, t.at), index('login_attempts_at').on(t.at)],
)

/** Wrong passwords by account and device, beside those by address: a row for each attempt, gone when it turns out right. */
export const accountAttempts = table(
  'account_attempts',
  {
    id: autoId('id'),
    account: text('account').notNull(),
    at: text('at').notNull(),
  },
  (t) => [
    index('account_attempts_account').on(t.account, t.at),
    index('account_attempts_at').on(t.at),
  ],
)

/** Browsers in which an admin has logged in before. */
export const adminDevices = table(
  'admin_devices',
  {
    id: autoId('id'),
    /** SHA-256 of the cookie's value. */
    token: text('token').notNull().unique(),
    adminId: int('admin_id')
      .notNull()
      .references(() => admins.id, { onDelete: 'cascade' }),
    createdAt: text('created_at').notNull(),
    lastSeenAt: text('last_seen_at').notNull(),
  },
  (t) => [index('admin_devices_admin_id').on(t.adminId, t.lastSeenAt)],
)

/** Codes that take the place of an authenticator app that is lost; each counts once. */
export const recoveryCodes = table(
  'recovery_codes',
  {
    id: autoId('id'),
    adminId: int('admin_id')
      .notNull()
      .references(() => admins.id, { onDelete: 'cascade' }),
    /** SHA-256 of the code, without its dashes. */
    code: text('code').notNull(),
    /** When it was used, or ended because others took its place. */
    usedAt: text('used_at'),
  },
  (t) => [uniqueIndex('recovery_codes_admin_id').on(t.adminId, t.code)],
)

export type Admin = typeof admins.$inferSelect
export type AdminSession = typeof adminSessions.$inferSelect
export type PendingLogin = typeof pendingLogins.$inferSelect
