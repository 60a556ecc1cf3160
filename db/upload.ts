/**
 * A database that somebody uploaded becomes one of ours: its rows, and nothing else of it, are taken into a new database which our
 * own migrations made. SQLite sees none of its statements: before it opens the file, our own statements of the tables that the upload says
 * it has are put in their place, so that there is no view, trigger, expression or name of a stranger.
 */

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { errorCode } from '#src/lib/errors.ts'
import { checkSqliteFile, DamagedFile, type SchemaRow } from '#src/lib/sqlite-file.ts'
import { type SchemaEntry, writeSchema } from '#src/lib/sqlite-schema.ts'
import { FACT_TABLES } from './engine/facts.ts'
import { isDamage } from './engine/failures.ts'
import { LOCAL_QUESTIONS } from './engine/invariants.ts'
import { neutral } from './engine/sqlite/failures.ts'
import { MIGRATIONS_TABLE, migrate, migrationNumbers } from './engine/sqlite/migrate.ts'
import { createOwnerOnly } from './engine/sqlite/snapshot.ts'
import { MOST_ROWS } from './listing.ts'
import { STORED_TABLES } from './rows.ts'

/** An upload that is refused; the message is for the admin and quotes nothing of the upload. */
export class UploadRefused extends Error {}

const DAMAGED = 'the database in the backup is damaged'
const FOREIGN = 'the database in the backup is not one of Subpanel'

/** The longest text of ours is a node's certificate chain or an event's data. */
const MAX_VALUE_BYTES = 1024 ** 2

/** Ours has 30 KB. */
const MAX_SCHEMA_BYTES = 128 * 1024

/** State of this machine and of the moment: a restore leaves it as it is. */
export const KEPT: ReadonlySet<string> = new Set([
  '__drizzle_migrations',
  'revisions',
  'leases',
  'bot_state',
  'login_attempts',
  'account_attempts',
  'node_live',
])

/** The table that holds the secret of the installation. */
const INSTALLATION = 'installation'

/** The tables whose rows a backup gives back. */
export function restoredTables(raw: Sqlite.Database): string[] {
  const names = raw
    .prepare(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .pluck()
    .all() as string[]
  return names.filter((name) => !KEPT.has(name) && !FACT_TABLES.has(name)).sort()
}

export interface Column {
  name: string
  type: string
}

export function columnsOf(raw: Sqlite.Database, table: string): Column[] {
  const columns = raw.pragma(`main.table_info("${table}")`) as Column[]
  return columns.map(({ name, type }) => ({ name, type: type.toLowerCase() }))
}

const HEADER = 'SQLite format 3\0'

/**
 * Makes the file one that needs no write-ahead log: a copy of a running service's file says that it has one (bytes 18 and 19,
 * sqlite.org/fileformat2.html), and SQLite would look for it.
 */
function dropWalMark(path: string): void {
  const file = openSync(path, 'r+')
  try {
    const head = Buffer.alloc(20)
    readSync(file, head, 0, head.length, 0)
    if (head.toString('latin1', 0, 16) !== HEADER) throw new UploadRefused(FOREIGN)
    if (head[18] === 2 && head[19] === 2) writeSync(file, Uint8Array.of(1, 1), 0, 2, 18)
  } finally {
    closeSync(file)
  }
}

/** More rows than forms write of what the service goes through all the time. */
const MOST = { ...MOST_ROWS, settings: 1000, former_credentials: 1000 }

/** Of all values of `settings` together; ours are below 1 MB. */
const MAX_SETTINGS_BYTES = 16 * 1024 ** 2

const MIGRATIONS: Omit<SchemaEntry, 'root'> = {
  type: 'table',
  name: '__drizzle_migrations',
  table: '__drizzle_migrations',
  sql: `CREATE TABLE ${MIGRATIONS_TABLE}`,
}

/** What of the upload's schema has the name. */
const named = (schema: SchemaRow[], name: string): SchemaRow | undefined =>
  schema.find((row) => row.name === name && row.root > 0)

/**
 * The number of the newest migration of the upload. Throws unless its migrations are the first ones of ours. The table of them is all that
 * the file has afterwards.
 */
function migrationOf(path: string, schema: SchemaRow[]): number {
  const found = named(schema, MIGRATIONS.name)
  if (found?.sql !== MIGRATIONS.sql) throw new UploadRefused(FOREIGN)
  writeSchema(path, [{ ...MIGRATIONS, root: found.root }])
  const raw = new Sqlite(path, { readonly: true })
  try {
    raw.pragma('cell_size_check = ON')
    // A text may have a gigabyte; only numbers are read into memory.
    const applied = raw
      .prepare(
        `SELECT iif(typeof(created_at) IN ('integer', 'real'), created_at, NULL)
         FROM __drizzle_migrations ORDER BY 1 LIMIT 1000`,
      )
      .pluck()
      .all() as unknown[]
    return newestOf(applied)
  } finally {
    raw.close()
  }
}

function newestOf(applied: unknown[]): number {
  const known = migrationNumbers()
  const newest = applied.at(-1)
  if (typeof newest !== 'number') throw new UploadRefused(FOREIGN)
  if (newest > (known.at(-1) as number)) {
    throw new UploadRefused(
      'the backup was made by a newer version of Subpanel: update the program',
    )
  }
  if (applied.some((number, i) => number !== known[i])) throw new UploadRefused(FOREIGN)
  return newest
}

/** The tables of ours and the indexes that their statements make, as the upload has them. Throws where it lacks one or has another. */
function sameTables(raw: Sqlite.Database, schema: SchemaRow[]): SchemaEntry[] {
  const ours = raw
    .prepare(
      `SELECT type, name, tbl_name AS "table", sql FROM main.sqlite_schema
       WHERE type = 'table' AND name NOT LIKE 'sqlite_%' OR type = 'index' AND sql IS NULL ORDER BY type DESC`,
    )
    .all() as Omit<SchemaEntry, 'root'>[]
  return ours.map((own) => {
    const found = named(schema, own.name)
    if (found === undefined) throw new UploadRefused('the database in the backup lacks a table')
    if (found.sql !== (own.sql ?? ''))
      throw new UploadRefused('a table of the database in the backup has another form')
    return { ...own, root: found.root }
  })
}

/** A condition that holds for values which no column of ours has, so that the others can be read. Reads no long value into memory. */
function faultOf({ name, type }: Column): string {
  const faults = [`typeof("${name}") NOT IN ('${type}', 'null')`]
  if (type === 'text') faults.push(`octet_length("${name}") > ${MAX_VALUE_BYTES}`)
  return faults.join(' OR ')
}

/** The refusal of a value that its column can't hold. */
const wrongValue = (table: string, column: string) =>
  new UploadRefused(
    `the database in the backup holds a value of a wrong kind in the column ${column} of ${table}`,
  )

/** Refuses a table with values of a wrong type or too long to be read, or with broken pages. */
function checkForm(raw: Sqlite.Database, table: string): void {
  const columns = columnsOf(raw, table)
  const holds = (fault: string) =>
    raw.prepare(`SELECT 1 FROM up."${table}" NOT INDEXED WHERE ${fault} LIMIT 1`).get()
  if (holds(columns.map(faultOf).join(' OR '))) {
    const found = columns.find((column) => holds(faultOf(column))) as Column
    throw wrongValue(table, found.name)
  }
  if (raw.pragma(`up.quick_check("${table}")`, { simple: true }) !== 'ok')
    throw new UploadRefused(DAMAGED)
}

/** A value that a restore refuses. */
export interface WrongValue {
  table: string
  column: string
  /** SQLite's number of the row in this file. */
  rowid: number
}

/** What the driver gives for bytes that are no text: two that differ in them alone would be the same afterwards. */
const NO_TEXT = '\ufffd'

/** Whether a text is all that its column holds; asked of those alone that have a character which may stand for bytes that are none. */
function isWhole(raw: Sqlite.Database, { table, column, rowid }: WrongValue, value: unknown) {
  if (typeof value !== 'string' || !value.includes(NO_TEXT)) return true
  const bytes = raw.prepare(`SELECT octet_length("${column}") FROM main."${table}" WHERE rowid = ?`)
  return bytes.pluck().get(rowid) === Buffer.byteLength(value)
}

/** The values of a table that its columns' own writes could not have brought there; of each row the first. */
function* wrongValuesOf(
  raw: Sqlite.Database,
  table: string,
  providers: readonly string[],
): Generator<WrongValue> {
  const stored = STORED_TABLES.get(table)
  if (!stored) throw new Error(`nothing says what the table ${table} may hold`)
  // A database of an earlier version lacks some.
  const there = new Set(columnsOf(raw, table).map(({ name }) => name))
  const columns = stored.columns.filter(({ name }) => there.has(name))
  const rows = raw.prepare(`SELECT ${listColumns(columns)}, rowid FROM main."${table}" NOT INDEXED`)
  for (const row of rows.raw().iterate() as IterableIterator<unknown[]>) {
    const rowid = Number(row.at(-1))
    const wrong = columns.find(
      ({ name, isProvider, accepts }, i) =>
        !accepts(row[i]) ||
        (isProvider && !providers.includes(row[i] as string)) ||
        !isWhole(raw, { table, column: name, rowid }, row[i]),
    )
    if (wrong) yield { table, column: wrong.name, rowid }
  }
}

/**
 * Every value of a database for which a restore of its backup would be refused. `providers`: the payment providers that this version
 * knows; payments of another would wait for an answer that nobody asks for.
 */
export function* wrongValues(
  raw: Sqlite.Database,
  providers: readonly string[],
): Generator<WrongValue> {
  for (const table of restoredTables(raw)) yield* wrongValuesOf(raw, table, providers)
}

/** The first of them; null where there is none. */
export function findWrongValue(
  raw: Sqlite.Database,
  providers: readonly string[],
): WrongValue | null {
  const [first = null] = wrongValues(raw, providers)
  return first
}

const listColumns = (columns: { name: string }[]) =>
  columns.map(({ name }) => `"${name}"`).join(', ')

function refuseMore(raw: Sqlite.Database, table: string, most: number): void {
  if (raw.prepare(`SELECT 1 FROM main."${table}" LIMIT 1 OFFSET ${most}`).get()) {
    throw new UploadRefused(`the database in the backup has more than ${most} rows in ${table}`)
  }
}

/** Refuses settings that are too long to be read together. */
function refuseLongSettings(raw: Sqlite.Database): void {
  const bytes = raw.prepare('SELECT total(octet_length(value)) FROM main.settings').pluck()
  if ((bytes.get() as number) > MAX_SETTINGS_BYTES) {
    throw new UploadRefused('the settings in the backup are too long')
  }
}

/** Refuses what could not be served: a client of two nodes on one core. */
function refuseTwoLocal(raw: Sqlite.Database): void {
  const grouped = `SELECT 1 FROM main.node_group_nodes JOIN main.nodes ON code = node WHERE kind = 'local' LIMIT 1`
  if (raw.prepare(grouped).get() === undefined) return
  if (LOCAL_QUESTIONS.some(({ sql }) => raw.prepare(`${sql} LIMIT 1`).get() !== undefined)) {
    throw new UploadRefused('a group or a subscription in the backup has two local nodes')
  }
}

/** Refuses rows that name others which are not there. Reads the first of them: there may be millions. */
function refuseLoose(raw: Sqlite.Database): void {
  if (raw.pragma('main.foreign_key_check', { simple: true }) !== undefined)
    throw new UploadRefused(DAMAGED)
}

/** The columns of a table that a copy of its rows has. Their `seq` is given anew, in their order: what an archive says of it harms nobody. */
export const copiedColumns = (raw: Sqlite.Database, table: string): Column[] =>
  columnsOf(raw, table).filter(({ name }) => name !== 'seq')

/** In place of the rows that our own migrations made. */
function copyRows(raw: Sqlite.Database, table: string): void {
  const columns = listColumns(copiedColumns(raw, table))
  raw.exec(`DELETE FROM main."${table}"`)
  raw.exec(
    `INSERT INTO main."${table}" (${columns}) SELECT ${columns} FROM up."${table}" NOT INDEXED`,
  )
}

/** Indexes that keep no rule are built where the rows end up, not here. */
function dropPlainIndexes(raw: Sqlite.Database): void {
  const names = raw
    .prepare(
      "SELECT name FROM main.sqlite_schema WHERE type = 'index' AND sql LIKE 'CREATE INDEX%'",
    )
    .pluck()
    .all()
  for (const name of names) raw.exec(`DROP INDEX main."${name}"`)
}

/** Takes the rows of the upload, which has none but our own statements, into the tables as they were at its migration. */
function copyTables(raw: Sqlite.Database, upload: string, tables: string[]): void {
  raw.prepare('ATTACH ? AS up').run(upload)
  for (const table of tables) checkForm(raw, table)
  raw.exec('BEGIN')
  for (const table of tables) copyRows(raw, table)
  raw.exec('COMMIT; DETACH up')
}

function takeRows(raw: Sqlite.Database, upload: string, providers: readonly string[]): void {
  const schema = checkSqliteFile(upload, MAX_SCHEMA_BYTES)
  const level = migrationOf(upload, schema)
  const isPresent = level === migrationNumbers().at(-1)
  migrate(raw, level, { keepFacts: false })
  writeSchema(upload, sameTables(raw, schema))
  if (isPresent) dropPlainIndexes(raw)
  raw.pragma('foreign_keys = OFF')
  const tables = restoredTables(raw)
  copyTables(raw, upload, tables)
  if (!isPresent) {
    refuseLoose(raw)
    migrate(raw, undefined, { keepFacts: false })
  }
  // The secret of this copy was made a moment ago: where the upload brings none, the live one stays.
  if (!tables.includes(INSTALLATION)) raw.exec(`DELETE FROM main."${INSTALLATION}"`)
  for (const [table, most] of Object.entries(MOST)) refuseMore(raw, table, most)
  refuseLongSettings(raw)
  const wrong = findWrongValue(raw, providers)
  if (wrong) throw wrongValue(wrong.table, wrong.column)
  refuseLoose(raw)
  refuseTwoLocal(raw)
  if (raw.prepare('SELECT 1 FROM main.admins LIMIT 1').get() === undefined) {
    throw new UploadRefused('the database in the backup has no admin')
  }
}

/** What SQLite itself, or who looks at the file before it, says of a bad upload; anything else is a fault of ours. */
const isRefusal = (error: unknown) =>
  error instanceof DamagedFile ||
  isDamage(neutral(error)) ||
  /^SQLITE_(?:ERROR|CONSTRAINT|MISMATCH|TOOBIG|AUTH|CANTOPEN|READONLY)/.test(errorCode(error) ?? '')

/** The same as `rebuild` in a database that is open: a new one, or one that has our migrations and no rows but theirs. */
export function rebuildIn(
  raw: Sqlite.Database,
  upload: string,
  providers: readonly string[],
): void {
  dropWalMark(upload)
  try {
    raw.pragma('trusted_schema = OFF')
    raw.pragma('cell_size_check = ON')
    raw.pragma('journal_mode = MEMORY')
    raw.pragma('synchronous = OFF')
    takeRows(raw, upload, providers)
  } catch (error) {
    if (error instanceof UploadRefused || !isRefusal(error)) throw neutral(error)
    throw new UploadRefused(DAMAGED)
  }
}

/**
 * Takes the rows of the uploaded database at `upload` into a new database at `clean`, of this program's present form. Throws
 * UploadRefused when the upload is no whole database of Subpanel, is of a newer version or knows other `providers` of payments.
 */
export function rebuild(upload: string, clean: string, providers: readonly string[]): void {
  createOwnerOnly(clean)
  const raw = new Sqlite(clean)
  try {
    rebuildIn(raw, upload, providers)
  } finally {
    raw.close()
  }
}
