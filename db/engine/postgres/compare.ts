/** Whether a file of SQLite and PostgreSQL have the same rows. */
import type Sqlite from 'better-sqlite3'
import { saidBy } from '../facts.ts'
import { portionOf, quoted, type Table } from './copy.ts'
import { sound } from './sql-text.ts'
import type { Asking } from './steps.ts'

/** The columns by which rows have an order that both engines agree on: texts are compared by their bytes. */
async function orderOf(client: Asking, { name, columns }: Table): Promise<string> {
  const { rows } = await client.query(
    `select column_name as name from information_schema.key_column_usage join information_schema.table_constraints
       using (constraint_schema, constraint_name, table_name)
     where constraint_schema = current_schema() and table_name = $1 and constraint_type = 'PRIMARY KEY' order by ordinal_position`,
    [name],
  )
  const key = (rows.length > 0 ? rows : columns) as { name: string }[]
  return key.map((column) => `"${column.name}" nulls first`).join(', ')
}

/** How many rows of a table are not the same, each compared with the one at its place. */
async function countUnequal(client: Asking, raw: Sqlite.Database, table: Table) {
  const names = quoted(table.columns.map(({ name }) => name))
  const order = await orderOf(client, table)
  const text = `select ${names} from ${saidBy(table.name)} order by ${order}`
  const theirs = raw.prepare(text).raw().iterate() as IterableIterator<unknown[]>
  await client.query(`declare rows_compared no scroll cursor for ${text}`)
  const portion = await portionOf(client, table)
  let unequal = 0
  try {
    for (let got = portion; got === portion; ) {
      const { rows } = await client.query({
        text: `fetch ${portion} from rows_compared`,
        rowMode: 'array',
      })
      for (const row of rows as unknown[][]) {
        const { value } = theirs.next()
        const isSame = row.every((one, i) => one === sound((value as unknown[] | undefined)?.[i]))
        if (!isSame) unequal++
      }
      got = rows.length
    }
    for (const _ of theirs) unequal++
  } finally {
    // Else its connection could not be closed.
    theirs.return?.()
  }
  await client.query('close rows_compared')
  return unequal
}

/** The tables that are not the same in both, with how many of their rows are not. Within one transaction that sees one moment. */
export async function compareRows(
  client: Asking,
  raw: Sqlite.Database,
  tables: Table[],
): Promise<{ table: string; rows: number }[]> {
  const unequal: { table: string; rows: number }[] = []
  for (const table of tables) {
    const rows = await countUnequal(client, raw, table)
    if (rows > 0) unequal.push({ table: table.name, rows })
  }
  return unequal
}
