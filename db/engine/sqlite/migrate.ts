/** Brings a database to the form of this program: migrations, triggers, and what is kept by them. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { COUNT_LISTS, FIRST_REVISION, revisionTriggers } from '../revision-triggers.ts'
import { sqliteTrigger } from '../trigger.ts'
import { areFactsKept, dropFactTriggers, rebuildFacts } from './facts.ts'

const load = createRequire(import.meta.url)
const { readMigrationFiles } = load('drizzle-orm/migrator') as typeof import('drizzle-orm/migrator')

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')

/** The table of the migrations, as it has always been. */
export const MIGRATIONS_TABLE =
  '__drizzle_migrations (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, created_at NUMERIC)'

/** The number of the newest migration that was applied; 0 before the first. */
export function appliedMigration(raw: Sqlite.Database): number {
  raw.exec(`CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE}`)
  return (raw.prepare('SELECT max(created_at) FROM __drizzle_migrations').pluck().get() ??
    0) as number
}

/** The migrations of this program by their number in `__drizzle_migrations`, oldest first. */
export function migrationNumbers(): number[] {
  return readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(
    (migration) => migration.folderMillis,
  )
}

/** Whether the database has the form that this program works with. Changes nothing. */
export function isPresentForm(raw: Sqlite.Database): boolean {
  const [newest] = raw
    .prepare('SELECT max(created_at) FROM __drizzle_migrations')
    .pluck()
    .all() as (number | null)[]
  return newest === migrationNumbers().at(-1)
}

/** Applies these migrations. Without the triggers of facts: a table that is rebuilt would be missing to them. */
function apply(raw: Sqlite.Database, missing: ReturnType<typeof readMigrationFiles>): void {
  dropFactTriggers(raw)
  for (const migration of missing) {
    for (const statement of migration.sql) raw.exec(statement)
    raw
      .prepare('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)')
      .run(migration.hash, migration.folderMillis)
  }
  if ((raw.pragma('foreign_key_check') as unknown[]).length > 0) {
    throw new Error('a migration left rows that point nowhere: nothing was changed')
  }
}

function putTriggers(raw: Sqlite.Database): void {
  raw.exec(FIRST_REVISION)
  for (const one of revisionTriggers(COUNT_LISTS)) {
    raw.exec(`DROP TRIGGER IF EXISTS main.${one.name}`)
    raw.exec(`CREATE TRIGGER main.${one.name} ${sqliteTrigger(one)}`)
  }
}

/**
 * Applies the missing migrations, to the one with the number `upTo` at most, and the triggers in one transaction; facts are made
 * anew after them, and wherever their triggers are not those of this version. Stopped before the newest migration it makes no
 * triggers: they name tables that are not there yet. Foreign keys are off meanwhile: drizzle-kit rebuilds tables, and with them on the rebuild of a parent
 * deletes its children (drizzle-team/drizzle-orm#4938). Gives whether there was a missing one. Without `keepFacts` there are no facts and no
 * triggers of them afterwards: for rows that nothing is known of yet.
 */
export function migrate(
  raw: Sqlite.Database,
  upTo = Number.POSITIVE_INFINITY,
  { keepFacts = true } = {},
): boolean {
  const known = readMigrationFiles({ migrationsFolder: MIGRATIONS })
  const isWhole = upTo >= (known.at(-1)?.folderMillis ?? 0)
  raw.pragma('foreign_keys = OFF')
  const changed = raw
    .transaction(() => {
      const last = appliedMigration(raw)
      const missing = known.filter(
        ({ folderMillis }) => folderMillis > last && folderMillis <= upTo,
      )
      if (missing.length > 0) apply(raw, missing)
      if (isWhole) putTriggers(raw)
      if (isWhole && keepFacts && !areFactsKept(raw)) rebuildFacts(raw)
      return missing.length > 0
    })
    .immediate()
  raw.pragma('foreign_keys = ON')
  return changed
}
