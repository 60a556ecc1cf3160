/** Large loads: what is kept of each row costs less when it is made once of all of them. */
import type { Table } from './copy.ts'
import type { Asking } from './steps.ts'

/** Indexes that are no key's, with what makes each again. */
const INDEXES = `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as text from pg_index
  where indrelid = any($1::regclass[]) and not exists
    (select 1 from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))`

/** References to other tables, each of which is looked up for every row. */
const REFERENCES = `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as text from pg_constraint
  where conrelid = any($1::regclass[]) and contype = 'f'`

/**
 * Runs `work` while these tables have neither indexes nor references but their keys, and makes them again, which checks all rows. To be called within a
 * transaction, and where nobody reads: they have to wait until its end.
 */
export async function withoutIndexes(
  client: Asking,
  tables: Table[],
  work: () => Promise<void>,
): Promise<void> {
  const names = [tables.map(({ name }) => `"${name}"`)]
  const references = (await client.query(REFERENCES, names)).rows
  const indexes = (await client.query(INDEXES, names)).rows
  for (const { table, name } of references)
    await client.query(`alter table ${table} drop constraint ${name}`)
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  await work()
  for (const { text } of indexes) await client.query(text)
  for (const { table, name, text } of references)
    await client.query(`alter table ${table} add constraint ${name} ${text}`)
}
