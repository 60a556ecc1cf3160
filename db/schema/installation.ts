/** What there is once: settings, and the state that processes share. */
import { int, table, text } from '../engine/columns.ts'

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

/** Change counters kept by triggers: `lists` for what every connection list depends on. */
export const revisions = table('revisions', {
  name: text('name').primaryKey(),
  n: int('n').notNull(),
})

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
