/**
 * Rows between a file of SQLite and PostgreSQL, as they are: both engines keep the same values (columns.ts). So an archive is a file of
 * SQLite whatever made it, and each engine restores those of the other.
 */
import type Sqlite from 'better-sqlite3'
import { sound } from './sql-text.ts'
import type { Asking } from './steps.ts'

/** Rows that are on their way at a time. */
export const PORTION = 2000

export interface Table {
  name: string
  columns: { name: string; type: string; isNumbered: boolean }[]
}

/** What is copied, and who is told of each table that was: `rows` of it. */
export interface Copying {
  leaves: ReadonlySet<string>
  told?: (table: string, rows: number) => void
}

export const quoted = (names: string[]) => names.map((name) => `"${name}"`).join(', ')

/** The tables of our own form, those first that others refer to. `isNumbered`: PostgreSQL gives out the numbers of its rows. */
export async function tablesOf(client: Asking, leaves: ReadonlySet<string>): Promise<Table[]> {
  const { rows } = await client.query(
    `select c.table_name as table, c.column_name as name, c.data_type as type, c.is_identity = 'YES' as numbered
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' order by c.table_name, c.ordinal_position`,
  )
  const tables = new Map<string, Table>()
  for (const { table, name, type, numbered } of rows) {
    if (leaves.has(table)) continue
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

/** Puts the rows of PostgreSQL, as of the caller's transaction, in place of those of a database of SQLite in our present form, without its triggers. */
export async function copyOut(client: Asking, raw: Sqlite.Database, { leaves, told }: Copying) {
  raw.exec('BEGIN')
  for (const { name, columns } of await tablesOf(client, leaves)) {
    const names = columns.map((column) => column.name)
    raw.exec(`DELETE FROM "${name}"`)
    const insert = raw.prepare(
      `INSERT INTO "${name}" (${quoted(names)}) VALUES (${names.map(() => '?').join(', ')})`,
    )
    // A cursor keeps both sides small, whatever the size of the table.
    await client.query(
      `declare rows_out no scroll cursor for select ${quoted(names)} from "${name}"`,
    )
    let count = 0
    for (let got = PORTION; got === PORTION; count += got) {
      const { rows } = await client.query({
        text: `fetch ${PORTION} from rows_out`,
        rowMode: 'array',
      })
      for (const row of rows) insert.run(...row)
      got = rows.length
    }
    await client.query('close rows_out')
    told?.(name, count)
  }
  raw.exec('COMMIT')
}

/** The highest number that SQLite has given to a row of this table. */
const lastNumber = (raw: Sqlite.Database, table: string) =>
  (raw.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(table) ?? 0) as number

async function fill(client: Asking, raw: Sqlite.Database, { name, columns }: Table) {
  const names = columns.map((column) => column.name)
  const values = columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ')
  const text = `insert into "${name}" (${quoted(names)}) select * from unnest(${values})`
  let portion: unknown[][] = names.map(() => [])
  const write = async () => {
    await client.query({ text, values: portion })
    portion = names.map(() => [])
  }
  let count = 0
  const rows = raw.prepare(`SELECT ${quoted(names)} FROM "${name}"`).raw()
  for (const row of rows.iterate() as IterableIterator<unknown[]>) {
    for (const [i, value] of row.entries()) portion[i]?.push(sound(value))
    count++
    if (count % PORTION === 0) await write()
  }
  if (count % PORTION > 0) await write()
  for (const { name: column, isNumbered } of columns) {
    if (!isNumbered) continue
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), greatest((select max("${column}") from "${name}"), $3::bigint) + 1, false)`,
      [`"${name}"`, column, lastNumber(raw, name)],
    )
  }
  return count
}

/**
 * Puts the rows of a database of SQLite in our present form in place of PostgreSQL's, what is kept of other rows among them: triggers do nothing meanwhile. To
 * be called within a transaction, which is alone in writing to these tables until its end (`holdTables`).
 */
export async function copyIn(client: Asking, raw: Sqlite.Database, { leaves, told }: Copying) {
  const tables = await tablesOf(client, leaves)
  for (const { name } of tables) await client.query(`alter table "${name}" disable trigger user`)
  for (const { name } of tables.toReversed()) await client.query(`delete from "${name}"`)
  for (const table of tables) {
    const rows = await fill(client, raw, table)
    told?.(table.name, rows)
  }
  for (const { name } of tables) await client.query(`alter table "${name}" enable trigger user`)
}

/**
 * Lets nobody else write to these tables until the end of the transaction, which nothing may come before in it: it then sees all that was committed. Who
 * reads does not wait.
 */
export async function holdTables(client: Asking, leaves: ReadonlySet<string>) {
  const names = (await tablesOf(client, leaves)).map(({ name }) => name)
  await client.query(`lock table ${quoted(names)} in share row exclusive mode`)
}
