/** Keeps the tables of schema/facts.ts in SQLite. */
import type { Database as Driver } from 'better-sqlite3'
import { factTriggers } from '../fact-triggers.ts'
import { factFillings } from '../facts.ts'
import { sqliteTrigger, type Trigger } from '../trigger.ts'

const TRIGGERS = factTriggers('sqlite')

/** SQLite stores it without the name of the database. */
const creation = (database: '' | 'main.', one: Trigger) =>
  `CREATE TRIGGER ${database}${one.name} ${sqliteTrigger(one)}`

/** The triggers of facts that the database has, those of another version too. */
const presentTriggers = (raw: Driver) =>
  raw
    .prepare(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND name GLOB 'fact_*'",
    )
    .all() as { name: string; sql: string }[]

/** Whether the triggers are those of this version: what was written under others may have been counted otherwise, or not at all. */
export function areFactsKept(raw: Driver): boolean {
  const present = new Map(presentTriggers(raw).map(({ name, sql }) => [name, sql]))
  return (
    present.size === TRIGGERS.length &&
    TRIGGERS.every((one) => present.get(one.name) === creation('', one))
  )
}

/** Takes the triggers away, so that rows can be moved in bulk. `rebuildFacts` must follow in the same transaction. */
export function dropFactTriggers(raw: Driver): void {
  for (const { name } of presentTriggers(raw)) raw.exec(`DROP TRIGGER main.${name}`)
}

/** Puts them where there are none, for what is kept already. */
export function putFactTriggers(raw: Driver): void {
  for (const one of TRIGGERS) raw.exec(creation('main.', one))
}

/** Makes all that is kept anew from the rows, and the triggers that keep it. To be called within a transaction. */
export function rebuildFacts(raw: Driver): void {
  dropFactTriggers(raw)
  for (const [table, filling] of factFillings('sqlite')) {
    const indexes = raw
      .prepare(
        "SELECT name, sql FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
      )
      .all(table) as { name: string; sql: string }[]
    // Built at the end: one sort instead of a search for each row.
    for (const { name } of indexes) raw.exec(`DROP INDEX main.${name}`)
    raw.exec(`DELETE FROM main.${table}`)
    raw.exec(filling)
    for (const { sql } of indexes) raw.exec(sql)
  }
  putFactTriggers(raw)
}
