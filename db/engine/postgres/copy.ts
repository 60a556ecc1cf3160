/**
 * Rows between a file of SQLite and PostgreSQL, as they are: both engines keep the same values (columns.ts). So an archive is a file of
 * SQLite whatever made it, and each engine restores those of the other.
 */
import type Sqlite from 'better-sqlite3'
import { STORED_TABLES } from '#db/rows.ts'
import { KEPT } from '#db/upload.ts'
import { FACT_TABLES, saidBy } from '../facts.ts'
import { sound } from './sql-text.ts'
import type { Asking } from './steps.ts'

/** Rows that are on their way at a time, as far as they have no more bytes than that: threads have 128 MB, and a row may have texts of a megabyte. */
const PORTION = 500
const PORTION_BYTES = 4 * 1024 ** 2

export interface Table {
  name: string
  columns: { name: string; type: string; isNumbered: boolean }[]
}

/** Is told of each table that was copied, with how many rows. */
export type Told = (table: string, rows: number) => void

/** Others' tables may stand beside ours. */
const OURS: ReadonlySet<string> = new Set([...STORED_TABLES.keys(), ...FACT_TABLES, ...KEPT])

export const quoted = (names: string[]) => names.map((name) => `"${name}"`).join(', ')

/**
 * Our tables but those that are left, in the order in which others refer to them. `isNumbered`: PostgreSQL gives out the numbers of its rows. To be asked
 * before the transaction that copies them: it fixes what a transaction sees.
 */
export async function tablesOf(client: Asking, left: ReadonlySet<string>): Promise<Table[]> {
  const { rows } = await client.query(
    `select c.table_name as table, c.column_name as name, c.data_type as type, c.is_identity = 'YES' as numbered
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' order by c.table_name, c.ordinal_position`,
  )
  const tables = new Map<string, Table>()
  for (const { table, name, type, numbered } of rows) {
    if (!OURS.has(table) || left.has(table)) continue
    const entry: Table = tables.get(table) ?? { name: table, columns: [] }
    entry.columns.push({ name, type, isNumbered: numbered })
    tables.set(table, entry)
  }
  const references = await client.query(
    `select child.relname as child, parent.relname as parent from pg_constraint f
     join pg_class child on child.oid = f.conrelid join pg_class parent on parent.oid = f.confrelid
     where f.contype = 'f' and f.connamespace = current_schema()::regnamespace`,
  )
  const sorted = new Set<Table>()
  const place = (table: Table | undefined): void => {
    if (!table || sorted.has(table)) return
    for (const { child, parent } of references.rows) {
      if (child === table.name && parent !== child) place(tables.get(parent))
    }
    sorted.add(table)
  }
  for (const table of tables.values()) place(table)
  return [...sorted]
}

/** How many rows of a table may be fetched at a time, by the longest of them. */
export async function portionOf(client: Asking, { name, columns }: Table): Promise<number> {
  const texts = columns.filter(({ type }) => type === 'text')
  if (texts.length === 0) return PORTION
  const bytes = texts.map((column) => `coalesce(octet_length("${column.name}"), 0)`).join(' + ')
  const { rows } = await client.query(`select coalesce(max(${bytes}), 0) as most from "${name}"`)
  return Math.max(1, Math.min(PORTION, Math.floor(PORTION_BYTES / Math.max(1, rows[0].most))))
}

/** The column of its numbers, where PostgreSQL gives them out. */
const numberOf = ({ columns }: Table) => columns.find(({ isNumbered }) => isNumbered)?.name

/** The last number that was given to a row of a table, whether the row is there or not. */
async function lastGiven(client: Asking, table: string, column: string): Promise<number> {
  const { rows } = await client.query(
    `select coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass), 0) as last`,
    [`"${table}"`, column],
  )
  return rows[0].last
}

/** The highest number that SQLite has given to a row of this table. */
const lastNumber = (raw: Sqlite.Database, table: string) =>
  (raw.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(table) ?? 0) as number

/** Notes in SQLite which number was given last; it has no place for it where it counts by the rows alone. */
async function noteLast(client: Asking, raw: Sqlite.Database, table: Table): Promise<void> {
  const { name } = table
  const column = numberOf(table)
  const counts = raw.prepare(
    "SELECT 1 FROM sqlite_schema WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'",
  )
  if (column === undefined || !counts.get(name)) return
  const last = Math.max(lastNumber(raw, name), await lastGiven(client, name, column))
  raw.prepare('DELETE FROM sqlite_sequence WHERE name = ?').run(name)
  raw.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, last)
}

/** Puts the rows of PostgreSQL, as of the caller's transaction, in place of those of a database of SQLite in our present form, without its triggers. */
export async function copyOut(client: Asking, raw: Sqlite.Database, tables: Table[], told?: Told) {
  raw.exec('BEGIN')
  for (const table of tables) {
    const { name, columns } = table
    const names = columns.map((column) => column.name)
    raw.exec(`DELETE FROM "${name}"`)
    const insert = raw.prepare(
      `INSERT INTO "${name}" (${quoted(names)}) VALUES (${names.map(() => '?').join(', ')})`,
    )
    // A cursor keeps both sides small, whatever the size of the table.
    await client.query(
      `declare rows_out no scroll cursor for select ${quoted(names)} from ${saidBy(name)}`,
    )
    let count = 0
    const portion = await portionOf(client, table)
    for (let got = portion; got === portion; count += got) {
      const { rows } = await client.query({
        text: `fetch ${portion} from rows_out`,
        rowMode: 'array',
      })
      for (const row of rows) insert.run(...row)
      got = rows.length
    }
    await client.query('close rows_out')
    await noteLast(client, raw, table)
    told?.(name, count)
  }
  raw.exec('COMMIT')
}

/** Has PostgreSQL give out numbers behind all that were given, here or there. */
async function countOn(client: Asking, raw: Sqlite.Database, table: Table): Promise<void> {
  const column = numberOf(table)
  if (column === undefined) return
  const { rows } = await client.query(
    `select coalesce(max("${column}"), 0) as last from "${table.name}"`,
  )
  const given = await lastGiven(client, table.name, column)
  const last = Math.max(rows[0].last, lastNumber(raw, table.name), given)
  if (last === 0) return
  await client.query('select setval(pg_get_serial_sequence($1, $2), $3::bigint)', [
    `"${table.name}"`,
    column,
    last,
  ])
}

async function fill(client: Asking, raw: Sqlite.Database, { name, columns }: Table) {
  const names = columns.map((column) => column.name)
  const values = columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ')
  const text = `insert into "${name}" (${quoted(names)}) select * from unnest(${values})`
  let portion: unknown[][] = names.map(() => [])
  let waiting = 0
  let bytes = 0
  const write = async () => {
    if (waiting > 0) await client.query({ text, values: portion })
    portion = names.map(() => [])
    waiting = 0
    bytes = 0
  }
  let count = 0
  const rows = raw.prepare(`SELECT ${quoted(names)} FROM "${name}"`).raw()
  for (const row of rows.iterate() as IterableIterator<unknown[]>) {
    for (const [i, value] of row.entries()) {
      portion[i]?.push(sound(value))
      if (typeof value === 'string') bytes += value.length
    }
    count++
    waiting++
    if (waiting === PORTION || bytes >= PORTION_BYTES) await write()
  }
  await write()
  return count
}

/**
 * Puts the rows of a database of SQLite in our present form in place of PostgreSQL's, what is kept of other rows among them: triggers do nothing meanwhile. To
 * be called within a transaction, which is alone in writing to these tables until its end (`lockOf`).
 */
export async function copyIn(client: Asking, raw: Sqlite.Database, tables: Table[], told?: Told) {
  for (const { name } of tables) await client.query(`alter table "${name}" disable trigger user`)
  for (const { name } of tables.toReversed()) await client.query(`delete from "${name}"`)
  for (const table of tables) {
    const rows = await fill(client, raw, table)
    await countOn(client, raw, table)
    told?.(table.name, rows)
  }
  for (const { name } of tables) await client.query(`alter table "${name}" enable trigger user`)
}

/**
 * After a copy is committed. Else the server plans without knowing how many rows there are until it has looked by itself, and where it looked
 * before the commit it takes the tables for empty.
 */
export const countRows = (client: Asking) => client.query('analyze')

/**
 * Lets nobody else write to these tables until the end of the transaction, whose first statement this is to be: it then sees all that was committed. Who
 * reads does not wait.
 */
export const lockOf = (tables: Table[]) =>
  `lock table ${quoted(tables.map(({ name }) => name))} in share row exclusive mode`
