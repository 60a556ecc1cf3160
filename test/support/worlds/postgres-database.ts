/** Databases of a PostgreSQL server that DATABASE_URL names, each made as a copy of one with the rows of every world. */
import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { wrap } from '#db/engine/postgres/handle.ts'
import { pause } from '#src/lib/pause.ts'
import type { Fill, OpenWorldDatabase } from './database-of-world.ts'
import { createDatabase, onDatabase } from './postgres-databases.ts'
import { faultsOf, numbered, rowsOf } from './sync-client.ts'
import { runTwice } from './twice.ts'

/** Of a millisecond: what goes on after an answer is mostly done by then, and what goes on for long must not hold other requests back. */
const MOST_LOOKS = 5

/** A database, and the statements that put its rows back. */
interface Filled {
  url: string
  reset: string
}

/** Those that no world has at the moment, by the key of their filling. */
const free = new Map<string, Filled[]>()

/** The statements that put all tables back to what they hold now, but for the revision: who keeps something must see that it changed. */
async function resetOf(client: pg.Client): Promise<string> {
  const tables = await client.query(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_name not in ('__drizzle_migrations', 'revisions')",
  )
  const numbers = await client.query(
    "select table_name as name, column_name as id from information_schema.columns where table_schema = 'public' and is_identity = 'YES'",
  )
  const statements = [
    'begin',
    'set local session_replication_role = replica',
    'drop function if exists obstruct() cascade',
  ]
  for (const { name } of tables.rows) statements.push(`delete from "${name}"`)
  for (const { name } of tables.rows) {
    const { rows } = await client.query(
      `select coalesce(json_agg(t), '[]')::text as rows from "${name}" t`,
    )
    if (rows[0].rows === '[]') continue
    statements.push(
      `insert into "${name}" select * from json_populate_recordset(null::"${name}", $json$${rows[0].rows}$json$)`,
    )
  }
  for (const { name, id } of numbers.rows) {
    const { rows } = await client.query(
      `select coalesce(max("${id}"), 0) + 1 as next from "${name}"`,
    )
    statements.push(
      `select setval(pg_get_serial_sequence('"${name}"', '${id}'), ${rows[0].next}, false)`,
    )
  }
  statements.push("update revisions set n = n + 1 where name = 'lists'", 'commit')
  return statements.join(';\n')
}

async function makeDatabase(fill: Fill): Promise<Filled> {
  const url = await createDatabase()
  const db = await wrap(url)
  await fill(db as unknown as Parameters<Fill>[0])
  await db.close()
  return { url, reset: await onDatabase(url, resetOf) }
}

export const openPostgres: OpenWorldDatabase = async (key, path, _now, fill) => {
  if (path !== ':memory:') throw new Error('this test is about the file of SQLite')
  const own = free.get(key)?.pop() ?? (await makeDatabase(fill))
  const { url } = own
  // What a new database makes by chance, each has for itself.
  rowsOf(url, 'update installation set secret = ?', [randomBytes(32).toString('hex')])
  const once = await wrap(url, { most: 4, mostScans: 1, hears: false })
  const db = process.env.TWICE === '1' ? runTwice(once) : once
  const rows = (sql: string, ...values: unknown[]) => rowsOf(url, sql, values)
  return {
    db: db as unknown as Awaited<ReturnType<OpenWorldDatabase>>['db'],
    rows,
    change: (sql, ...values) => {
      rows(sql, ...values)
    },
    changeMany(sql, all) {
      rows('begin')
      for (const row of all) rows(sql, ...row)
      rows('commit')
    },
    changeBeside: async (sql, ...values) => {
      await onDatabase(url, (client) => client.query(numbered(sql), values))
    },
    obstruct(change, table, when = 'true') {
      rows(
        "create or replace function obstruct() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$",
      )
      rows(
        `create trigger obstruction before ${change} on ${table} for each row when (${when}) execute function obstruct()`,
      )
      return () => {
        rows(`drop trigger obstruction on ${table}`)
      }
    },
    faults: (since) => faultsOf(url, since),
    dump(except) {
      const names = rows(
        "select table_name as name from information_schema.tables where table_schema = 'public'",
      ) as { name: string }[]
      return names
        .map((row) => row.name)
        .filter((table) => !except.includes(table))
        .sort()
        .map((table) => `${table} ${JSON.stringify(rows(`select * from "${table}" order by 1`))}`)
        .join('\n')
    },
    settle: () => db.refresh(),
    async quiet() {
      const { pool } = db
      for (let i = 0; i < MOST_LOOKS && pool.idleCount < pool.totalCount; i++) await pause(1)
    },
    close() {
      void db
        .close()
        .then(() => rowsOf(url, own.reset))
        .then(
          () => free.set(key, [...(free.get(key) ?? []), own]),
          // A test has changed its tables: nobody gets it any more.
          () => {},
        )
    },
  }
}
