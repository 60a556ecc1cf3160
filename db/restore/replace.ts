/** The rows of a prepared copy take the place of the live ones, in one transaction that other processes only see whole. */
import type Sqlite from 'better-sqlite3'
import { isBusy } from '../engine/failures.ts'
import { configure } from '../engine/sqlite/configure.ts'
import { dropFactTriggers, rebuildFacts } from '../engine/sqlite/facts.ts'
import { neutral } from '../engine/sqlite/failures.ts'
import { peekInstance, peekSetting } from '../engine/sqlite/peek.ts'
import { snapshotInto, withConnection } from '../engine/sqlite/snapshot.ts'
import { restoredTables } from '../upload.ts'
import { addAudit } from './audit.ts'
import type { Former, RestoreFacts } from './facts.ts'
import { KEEP, keepAlerts, keepBuyers, keepPayments, keepRest, keepShops } from './kept.ts'
import { namesOf } from './names.ts'

/** The restore was asked for by a session that has ended since. */
export class SessionEnded extends Error {}

interface Index {
  name: string
  sql: string
}

/**
 * Replaces the rows of one table. Indexes that keep no rule are built anew at the end: one sort instead of a search for each
 * row, a third of the time.
 */
function replaceTable(raw: Sqlite.Database, table: string): void {
  const columns = namesOf(raw, table)
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

function begin(raw: Sqlite.Database): void {
  for (let attempt = 1; ; attempt++) {
    try {
      raw.exec('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(neutral(error)) || attempt === 6) throw error
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
    /** As it is kept until it is written. */
    pending: string
    /** For the audit log. */
    detail: string
  }
}

function replaceAll(
  raw: Sqlite.Database,
  facts: RestoreFacts,
  steps: ReplaceSteps,
  { passphraseTaken, envText }: { passphraseTaken: boolean; envText: string },
) {
  raw.exec(KEEP)
  const row = (key: string) => peekSetting(raw, key)
  const former = facts.former(row)
  const shops = facts.shops(row)
  dropFactTriggers(raw)
  const tables = restoredTables(raw)
  for (const table of tables) {
    // What this machine says of itself stays.
    if (table === 'instance') continue
    if (table === 'audit_log') addAudit(raw, facts.at)
    else replaceTable(raw, table)
    steps.step(`rows of ${table}`)
  }
  const reviews = keepPayments(raw, facts)
  keepBuyers(raw)
  keepShops(raw, shops, facts.shops(row, envText))
  keepRest(raw)
  keepAlerts(raw, former, facts, facts.message(passphraseTaken))
  rebuildFacts(raw)
  steps.step('facts made')
  if ((raw.pragma('main.foreign_key_check') as unknown[]).length > 0) {
    throw new Error('the restored rows point nowhere: nothing was changed')
  }
  return { reviews, alerted: former.tgIds, formerReceiver: former.receiver }
}

/**
 * Copies the rows of `clean` over those of the live database: all or nothing, other processes only wait with their writes. A copy
 * of the live database is at `safety` first. Gives how many payments came up for review, who was told of the restore, who is still to
 * be, and the env file's text that is to be written now: it is kept in `instance` until somebody takes it out. `passphraseTaken`: backups are
 * encrypted from now on.
 */
export function replaceRows(
  files: { database: string; clean: string; safety: string },
  facts: RestoreFacts,
  steps: ReplaceSteps,
): {
  reviews: number
  alerted: number[]
  formerReceiver: Former['receiver']
  envText: string
  passphraseTaken: boolean
} {
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
    const { instanceId, envText, pending, detail } = steps.decide(
      peekInstance(raw, 'pending_env'),
      peekInstance(raw, 'instance_id') ?? '',
    )
    steps.step('safety copies made')
    const ownKey = peekInstance(raw, 'backup_key')
    const backupKey = ownKey ?? facts.adoptable
    const passphraseTaken = backupKey !== (ownKey ?? null)
    const done = replaceAll(raw, facts, steps, { passphraseTaken, envText })
    raw
      .prepare(
        'UPDATE instance SET instance_id = ?, generation = ?, pending_env = ?, backup_key = ?',
      )
      .run(instanceId, facts.generation, pending, backupKey)
    raw
      .prepare(
        "INSERT INTO audit_log (at, admin, ip, action, detail) VALUES (?, ?, ?, 'backup.restore', ?)",
      )
      .run(
        facts.at,
        facts.audit.admin,
        facts.audit.ip,
        [detail, passphraseTaken ? 'took the passphrase of backups' : '']
          .filter(Boolean)
          .join('; '),
      )
    steps.step('rows copied')
    raw.exec('COMMIT')
    steps.step('committed')
    return { ...done, envText, passphraseTaken }
  })
}
