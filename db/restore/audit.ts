/** The audit log of an archive beside the present one. */
import type Sqlite from 'better-sqlite3'
import { namesOf } from './names.ts'

/** So many entries of an archive are held against those that are here at a time, and what is of the second of the last one. */
const AUDIT_PORTION = 20_000

/**
 * The present audit log stays, so that no archive hides what was done here; entries of the future come from none of ours. An entry that
 * is noted here already doesn't come back, any other as often as the archive has it. Thousands may be of one second: those of the
 * present log are found by all that they say, some of them at a time, as they are kept in memory meanwhile.
 */
export function addAudit(raw: Sqlite.Database, at: string): void {
  const columns = namesOf(raw, 'audit_log', 'id')
  raw.exec(
    `CREATE TEMP TABLE noted AS SELECT ${columns} FROM main.audit_log LIMIT 0;
     CREATE INDEX temp.noted_entry ON noted (${columns})`,
  )
  const lastOf = raw
    .prepare<[from: string, to: string], string>(
      `SELECT at FROM restored.audit_log WHERE at > ? AND at <= ? ORDER BY at LIMIT 1 OFFSET ${AUDIT_PORTION - 1}`,
    )
    .pluck()
  const span = 'at > :from AND at <= :to'
  const note = raw.prepare(
    `INSERT INTO temp.noted SELECT ${columns} FROM main.audit_log
     WHERE at IN (SELECT at FROM restored.audit_log WHERE ${span})`,
  )
  const add = raw.prepare(
    `INSERT INTO main.audit_log (${columns}) SELECT ${columns} FROM restored.audit_log AS r WHERE ${span}
     AND NOT EXISTS (SELECT 1 FROM temp.noted AS n WHERE n.at = r.at AND n.action = r.action AND n.object = r.object
       AND n.admin IS r.admin AND n.ip = r.ip AND n.detail = r.detail) ORDER BY r.id`,
  )
  for (let from = ''; from < at; ) {
    const to = lastOf.get(from, at) ?? at
    note.run({ from, to })
    add.run({ from, to })
    raw.exec('DELETE FROM temp.noted')
    from = to
  }
  raw.exec('DROP TABLE temp.noted')
}
