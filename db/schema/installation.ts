/** What there is once: settings, and the state that processes share. */
import { int, table, text } from '../engine/columns.ts'

/** Live settings: a key without a row takes its value from the environment. */
export const settings = table('settings', {
  key: text('key').primaryKey(),
  value: text('value').notNull(),
})

/**
 * One row, made by its migration: what this installation knows of itself. A restore leaves it as it is and adopts the id alone: it is apart
 * from `installation`, which comes with the backup.
 */
export const instance = table('instance', {
  id: int('id').primaryKey(),
  /** INSTANCE_ID, by which nodes know whom they obey. Null until the first start. */
  instanceId: text('instance_id'),
  /** Another value after each restore: the env file's live values have changed, and processes read them anew. Null before the first. */
  generation: text('generation'),
  /** The generation of the last restore after which all pending payments were asked about. */
  paymentsGeneration: text('payments_generation'),
  /** The text of the env file that a restore has decided on and may not have written yet. */
  pendingEnv: text('pending_env'),
  /** What backups are encrypted with, as lib/passphrase-key.ts writes it. No copy of the database has it. */
  backupKey: text('backup_key'),
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
