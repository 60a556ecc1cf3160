/** The rows of a verified copy take the place of the live ones, in one transaction that other processes only see whole. */
import Sqlite from 'better-sqlite3'
import { configure } from './open.ts'
import {
  ADD_ONLY_NODES,
  ENV_GENERATION,
  INSTANCE_ID,
  OPEN_ALERTS,
  PAYMENTS_GENERATION,
  PENDING_ENV,
  peekInstanceId,
  peekSetting,
} from './own-settings.ts'
import { snapshotInto, withConnection } from './snapshot.ts'
import { isBusy } from './transactions.ts'
import { columnsOf, restoredTables } from './upload.ts'

export interface RestoreFacts {
  /** The timestamp of the restore. */
  at: string
  generation: string
  /** Whether a row of `settings` may come back. */
  accepts(key: string, value: string): boolean
  reviewReason: string
  refundedReason: string
  audit: { admin: string | null; ip: string }
  /** The session that asks; null for the operator's script. */
  sessionId: number | null
}

/** The restore was asked for by a session that has ended since. */
export class SessionEnded extends Error {}

/** Forgets the env file's text when it is written. */
export function deletePendingEnv(raw: Sqlite.Database, text: string): void {
  raw.prepare('DELETE FROM settings WHERE key = ? AND value = ?').run(PENDING_ENV, text)
}

const put = (raw: Sqlite.Database, key: string, value: string) =>
  raw
    .prepare(
      'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
    )
    .run(key, value)

/**
 * Makes the copy's rows what they shall be when they are live: sessions ended, nothing unsent of back then, pending payments due,
 * no settings but those that are named. Gives the INSTANCE_ID of the copy, and the names of the settings that were dropped.
 */
export function prepareRows(
  clean: string,
  facts: RestoreFacts,
): { instanceId: string | null; dropped: string[] } {
  const raw = new Sqlite(clean, { fileMustExist: true })
  try {
    raw.pragma('journal_mode = MEMORY')
    raw.pragma('synchronous = OFF')
    raw.pragma('foreign_keys = OFF')
    const { at } = facts
    const id = raw.prepare('SELECT value FROM settings WHERE key = ?').pluck().get(INSTANCE_ID)
    const settings = raw.prepare('SELECT key, value FROM settings').all() as {
      key: string
      value: string
    }[]
    const dropped = settings.filter(({ key, value }) => !facts.accepts(key, value))
    const internal = new Set([
      INSTANCE_ID,
      PENDING_ENV,
      ENV_GENERATION,
      ADD_ONLY_NODES,
      OPEN_ALERTS,
      PAYMENTS_GENERATION,
    ])
    raw.transaction(() => {
      for (const { key } of dropped) raw.prepare('DELETE FROM settings WHERE key = ?').run(key)
      raw.exec('DELETE FROM admin_sessions; DELETE FROM pending_logins')
      raw
        .prepare(
          "UPDATE outbox SET status = 'skipped', done_at = ? WHERE status IN ('ready', 'sending')",
        )
        .run(at)
      raw.exec("UPDATE events SET status = 'skipped' WHERE status IN ('ready', 'sending')")
      raw.prepare("UPDATE payments SET next_check_at = ? WHERE status = 'pending'").run(at)
      raw.exec("UPDATE nodes SET sync_blocked = (kind <> 'external')")
      const codes = raw.prepare("SELECT code FROM nodes WHERE kind <> 'external' ORDER BY code")
      put(raw, ADD_ONLY_NODES, [facts.generation, ...codes.pluck().all()].join(' '))
      put(raw, ENV_GENERATION, facts.generation)
    })()
    return {
      instanceId: typeof id === 'string' ? id : null,
      dropped: dropped.map(({ key }) => key).filter((key) => !internal.has(key)),
    }
  } finally {
    raw.close()
  }
}

/** What of the live rows outlives them; kept in temporary tables while they are replaced. */
const KEEP = `
  CREATE TEMP TABLE lost_payments AS SELECT * FROM main.payments AS p WHERE status = 'paid'
    AND NOT EXISTS (SELECT 1 FROM restored.payments AS r WHERE r.id = p.id AND r.status = 'paid');
  CREATE TEMP TABLE lost_orphans AS SELECT * FROM main.orphan_payments AS o
    WHERE NOT EXISTS (SELECT 1 FROM restored.orphan_payments AS r
      WHERE r.provider = o.provider AND r.external_id = o.external_id);
  CREATE TEMP TABLE used_steps AS SELECT totp_secret, totp_last_step FROM main.admins WHERE totp_last_step IS NOT NULL;
`

interface Index {
  name: string
  sql: string
}

/**
 * Replaces the rows of one table. Indexes that keep no rule are built anew at the end: one sort instead of a search for each
 * row, a third of the time.
 */
function replaceTable(raw: Sqlite.Database, table: string): void {
  const columns = columnsOf(raw, table)
    .map(({ name }) => `"${name}"`)
    .join(', ')
  const indexes = raw
    .prepare(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql LIKE 'CREATE INDEX%'",
    )
    .all(table) as Index[]
  for (const { name } of indexes) raw.exec(`DROP INDEX main."${name}"`)
  raw.exec(`DELETE FROM main."${table}"`)
  raw.exec(`INSERT INTO main."${table}" (${columns}) SELECT ${columns} FROM restored."${table}"`)
  for (const { sql } of indexes) raw.exec(sql)
}

/** Paid payments that the restored rows do not know as paid come back for review, as pending: nothing was given for them there. */
function keepPaid(raw: Sqlite.Database, facts: RestoreFacts): number {
  const columns = columnsOf(raw, 'payments')
    .map(({ name }) => `"${name}"`)
    .join(', ')
  const known = `SELECT 1 FROM main.payments AS m WHERE m.id = p.id
    OR (p.external_id <> '' AND m.provider = p.provider AND m.external_id = p.external_id)`
  raw
    .prepare(
      `UPDATE main.payments AS m SET review_reason = ? WHERE EXISTS (SELECT 1 FROM temp.lost_payments AS p WHERE m.id = p.id
       OR (p.external_id <> '' AND m.provider = p.provider AND m.external_id = p.external_id))`,
    )
    .run(facts.reviewReason)
  raw
    .prepare(
      `UPDATE temp.lost_payments SET status = 'pending', paid_at = NULL, subscription_uuid = NULL, checks = 0,
       review_reason = CASE WHEN refunded_at IS NULL THEN ? ELSE ? END,
       next_check_at = CASE WHEN refunded_at IS NULL THEN ? END,
       renews_uuid = (SELECT uuid FROM main.subscriptions WHERE uuid = renews_uuid)`,
    )
    .run(facts.reviewReason, facts.refundedReason, facts.at)
  raw.exec(
    `INSERT INTO main.payments (${columns}) SELECT ${columns} FROM temp.lost_payments AS p WHERE NOT EXISTS (${known})`,
  )
  return raw.prepare('SELECT count(*) FROM temp.lost_payments').pluck().get() as number
}

function keepRest(raw: Sqlite.Database): void {
  const columns = columnsOf(raw, 'orphan_payments')
    .map(({ name }) => `"${name}"`)
    .filter((name) => name !== '"id"')
    .join(', ')
  raw.exec(`INSERT INTO main.orphan_payments (${columns}) SELECT ${columns} FROM temp.lost_orphans`)
  // A code that was used after the backup must not work a second time.
  raw.exec(
    `UPDATE main.admins AS a SET totp_last_step = (SELECT max(u.totp_last_step) FROM temp.used_steps AS u
       WHERE u.totp_secret = a.totp_secret)
     WHERE EXISTS (SELECT 1 FROM temp.used_steps AS u
       WHERE u.totp_secret = a.totp_secret AND u.totp_last_step > coalesce(a.totp_last_step, 0))`,
  )
}

function begin(raw: Sqlite.Database): void {
  for (let attempt = 1; ; attempt++) {
    try {
      raw.exec('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(error) || attempt === 6) throw error
    }
  }
}

export interface ReplaceSteps {
  step(name: string): void
  /**
   * Called under the write lock, when the safety copy is made: nothing more can be written that it lacks. `pending` is the text of
   * the env file where an earlier restore could not write it; gives the one to be written after the commit.
   */
  decide(
    pending: string | undefined,
    instanceId: string,
  ): {
    instanceId: string
    envText: string
    /** For the audit log. */
    detail: string
  }
}

function replaceAll(raw: Sqlite.Database, facts: RestoreFacts, steps: ReplaceSteps) {
  raw.exec(KEEP)
  const tables = restoredTables(raw)
  for (const table of tables) {
    replaceTable(raw, table)
    steps.step(`rows of ${table}`)
  }
  const reviews = keepPaid(raw, facts)
  keepRest(raw)
  if ((raw.pragma('main.foreign_key_check') as unknown[]).length > 0) {
    throw new Error('the restored rows point nowhere: nothing was changed')
  }
  return reviews
}

/**
 * Copies the rows of `clean` over those of the live database: all or nothing, other processes only wait with their writes. A copy
 * of the live database is at `safety` first. Gives how many payments came up for review, and the env file's text that is to be
 * written now: it is kept in the database until `deletePendingEnv`.
 */
export function replaceRows(
  files: { database: string; clean: string; safety: string },
  facts: RestoreFacts,
  steps: ReplaceSteps,
): { reviews: number; envText: string } {
  return withConnection(files.database, (raw) => {
    configure(raw)
    raw.pragma('cache_size = -16384')
    raw.pragma('foreign_keys = OFF')
    raw.prepare('ATTACH ? AS restored').run(files.clean)
    begin(raw)
    const { sessionId } = facts
    const session = raw.prepare('SELECT 1 FROM admin_sessions WHERE id = ?')
    if (sessionId !== null && !session.get(sessionId)) throw new SessionEnded()
    steps.step('locked')
    snapshotInto(files.database, files.safety)
    const { instanceId, envText, detail } = steps.decide(
      peekSetting(raw, PENDING_ENV),
      peekInstanceId(raw) ?? '',
    )
    steps.step('safety copies made')
    const reviews = replaceAll(raw, facts, steps)
    put(raw, INSTANCE_ID, instanceId)
    put(raw, PENDING_ENV, envText)
    raw
      .prepare(
        "INSERT INTO audit_log (at, admin, ip, action, detail) VALUES (?, ?, ?, 'backup.restore', ?)",
      )
      .run(facts.at, facts.audit.admin, facts.audit.ip, detail)
    steps.step('rows copied')
    raw.exec('COMMIT')
    steps.step('committed')
    return { reviews, envText }
  })
}

/** How long a restore waits for another one. */
const TURN_MS = 60_000

/** Runs `work` while no other process of this machine restores into this database. SQLITE_BUSY when another one takes too long. */
export async function withRestoreLock<T>(database: string, work: () => Promise<T>): Promise<T> {
  const lock = new Sqlite(`${database}.restore-lock`, { timeout: TURN_MS })
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return await work()
  } finally {
    lock.close()
  }
}
