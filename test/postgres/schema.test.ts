/** Both engines have the same tables, columns, keys, indexes and triggers: each has migrations of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { knownHashes, TRIGGERS as POSTGRES_TRIGGERS } from '#db/engine/postgres/migrate.ts'
import { driverOf } from '#db/engine/sqlite/handle.ts'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import { postgresTrigger } from '#db/engine/trigger.ts'
import { sha256Hex } from '#src/lib/crypto.ts'
import {
  createDatabase,
  dropDatabase,
  onDatabase,
} from '#test/support/worlds/postgres-databases.ts'

const sqlite = openDatabase(':memory:', { now: new Date() })
const raw = driverOf(sqlite)
let url: string

beforeAll(async () => {
  url = await createDatabase()
})
afterAll(async () => {
  sqlite.close()
  await dropDatabase(url)
})

const ofSqlite = (sql: string) => raw.prepare(sql).raw().all() as unknown[][]
const ofPostgres = (text: string) =>
  onDatabase(url, async (client) => (await client.query({ text, rowMode: 'array' })).rows)

/** Their keys are indexes in PostgreSQL, where a sum has several rows for a while. */
const SUMS = new Set<unknown>(['ending_counts', 'tallies'])

/** Of drizzle's own table PostgreSQL numbers the rows itself. */
const OURS = "not like '\\_\\_%' escape '\\'"

test('columns, with what they hold, in whatever order they came', async () => {
  const columns = ofSqlite(
    `select t.name, c.name, lower(c.type), c."notnull" or c.pk > 0, c.dflt_value is not null, c.pk
     from sqlite_schema t, pragma_table_info(t.name) c
     where t.type = 'table' and t.name ${OURS} and t.name not like 'sqlite%' order by t.name, c.name`,
  )
  const found = await ofPostgres(
    `select c.table_name, c.column_name,
       case c.data_type when 'bigint' then 'integer' when 'smallint' then 'integer' when 'double precision' then 'real' else c.data_type end,
       case c.is_nullable when 'NO' then 1 else 0 end, c.column_default is not null,
       coalesce((select k.ordinal_position from information_schema.key_column_usage k
         join information_schema.table_constraints t using (constraint_schema, constraint_name)
         where t.constraint_type = 'PRIMARY KEY' and k.table_name = c.table_name and k.column_name = c.column_name), 0)::int
     from information_schema.columns c where c.table_schema = 'public' and c.table_name ${OURS}
     order by c.table_name collate "C", c.column_name collate "C"`,
  )
  const isSet = (row: unknown[]) => [...row.slice(0, 4), Boolean(row[4]), row[5]]
  const withoutKey = (row: unknown[]) => (SUMS.has(row[0]) ? [...row.slice(0, 5), 0] : row)
  expect(found.map(isSet)).toEqual(columns.map(isSet).map(withoutKey))
  expect(found.length).toBeGreaterThan(200)
})

test('indexes, with their columns, whether they are unique, and whether they are of some rows alone', async () => {
  const indexes = ofSqlite(
    `select i.name, i."unique", i.partial, (select count(*) from pragma_index_info(i.name))
     from sqlite_schema t, pragma_index_list(t.name) i
     where t.type = 'table' and t.name ${OURS} and i.origin = 'c' order by i.name`,
  )
  const found = await ofPostgres(
    `select c.relname, i.indisunique::int, (i.indpred is not null)::int, i.indnkeyatts::int
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
     where t.relnamespace = 'public'::regnamespace and not i.indisprimary order by c.relname collate "C"`,
  )
  const keys = new Set<unknown>([...SUMS].map((table) => `${table}_key`))
  expect(found.filter(([name]) => keys.has(name)).map((row) => row.slice(1))).toEqual([
    [0, 0, 3],
    [0, 0, 2],
  ])
  expect(found.filter(([name]) => !keys.has(name))).toEqual(indexes)
  expect(found.length).toBeGreaterThan(60)
})

test('what refers to what, and goes with it', async () => {
  const references = ofSqlite(
    `select t.name, f."from", f."table", lower(f.on_delete) from sqlite_schema t, pragma_foreign_key_list(t.name) f
     where t.type = 'table' order by t.name, f."from"`,
  )
  const found = await ofPostgres(
    `select conrelid::regclass::text, a.attname, confrelid::regclass::text,
       case confdeltype when 'c' then 'cascade' when 'n' then 'set null' else 'no action' end
     from pg_constraint join pg_attribute a on a.attrelid = conrelid and a.attnum = conkey[1]
     where contype = 'f' order by 1, 2`,
  )
  expect(found).toEqual(references)
  expect(found.length).toBeGreaterThan(5)
})

test('triggers, after the same changes of the same tables', async () => {
  const triggers = ofSqlite(
    "select name, tbl_name from sqlite_schema where type = 'trigger' order by name",
  )
  const found = await ofPostgres(
    'select tgname::text, tgrelid::regclass::text from pg_trigger where not tgisinternal order by tgname::text collate "C"',
  )
  expect(found).toEqual(triggers)
  expect(found.length).toBeGreaterThan(30)
})

test('and the rows that each begins with', async () => {
  const tables = ofSqlite(
    `select name from sqlite_schema where type = 'table' and name ${OURS} and name not like 'sqlite%' order by name`,
  ).flat() as string[]
  const counts = tables.map((table) => ofSqlite(`select count(*) from "${table}"`).flat()[0])
  const text = tables.map((table) => `select count(*)::int from "${table}"`).join(' union all ')
  expect((await ofPostgres(text)).flat()).toEqual(counts)
})

// A database gets its triggers with a migration, so that of two versions at once the older one never puts its own back.
test('triggers are those of the last migration: a change of theirs comes with one (npm run db:generate -- --custom)', () => {
  const texts = POSTGRES_TRIGGERS.flatMap(postgresTrigger)
  expect([knownHashes().length, sha256Hex(JSON.stringify(texts)).slice(0, 16)]).toEqual([
    5,
    '1bce869ec7346fd5',
  ])
})
