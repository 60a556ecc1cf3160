/** Databases whose rows are sound and whose schema would run, never end, take memory or take the place of SQLite's own names. */
import Sqlite from 'better-sqlite3'
import { migrate, migrationNumbers } from '#db/engine/sqlite/migrate.ts'
import { changedDatabase } from './archives.ts'

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Puts a row into the schema, whether SQLite would take the statement or not. */
const plant = (name: string, sql: string, type = 'table', table = name) =>
  `PRAGMA writable_schema = ON;
   INSERT INTO sqlite_schema VALUES (${[type, name, table].map(quoted).join()}, 0, ${quoted(sql)});`

/** Gives a table of its own, with a page of its own, another statement and the name that this has. */
const disguise = (name: string, sql: string) =>
  `CREATE TABLE disguised (x); PRAGMA writable_schema = ON;
   UPDATE sqlite_schema SET name = ${quoted(name)}, tbl_name = ${quoted(name)}, sql = ${quoted(sql)} WHERE name = 'disguised';`

/** Columns that whoever reads table_info, json_each or a tag may ask for. */
const COLUMNS =
  "1 AS cid, 'x' AS name, 'x' AS type, 1 AS value, 1 AS key, 1 AS arg, 1 AS schema, 1 AS json"
const ENDLESS = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ${COLUMNS}, max(i) AS n FROM n`
const HUGE = `SELECT ${COLUMNS}, length(max(${[1, 2, 3].map((i) => `hex(zeroblob(20000000${i}))`).join()})) AS n`
/** No column may have a subquery; this takes hours. */
const SLOW = "instr(hex(zeroblob(300000000)), hex(zeroblob(150000000)) || '1')"
const FIELDS = 'cid, name, type, value, key, arg, schema, json, n'

/** What takes a name by a view, and by a virtual table of that view. */
const byView = (name: string, select: string) =>
  plant(name, `CREATE VIEW ${name} AS ${select}`, 'view')
const byContent = (name: string, select: string) =>
  `${byView('hidden', select)} ${plant(name, `CREATE VIRTUAL TABLE ${name} USING fts5(${FIELDS}, content=hidden)`)}`
const byColumn = (name: string) =>
  disguise(
    name,
    `CREATE TABLE ${name} (cid, name AS (${SLOW}), type AS (${SLOW}), value AS (${SLOW}))`,
  )

/** Each connects the next one, in its own stack. */
function chain(levels: number, last: string): string {
  const name = (i: number) => (i === 0 ? 'plans' : i === levels ? last : `_${i.toString(36)}`)
  const rows = Array.from({ length: levels }, (_, i) =>
    plant(name(i + 1), `CREATE VIRTUAL TABLE ${name(i + 1)} USING fts4(content=${name(i)})`),
  )
  return `PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type IN ('trigger', 'index') AND sql IS NOT NULL; ${rows.join(' ')}`
}

/** Names that SQLite has, some of them written otherwise. */
const NAMES = [
  ...['pragma_table_info', 'PRAGMA_Table_Info', 'json_each', 'JSON_EACH', 'pragma_quick_check'],
  ...['sqlite_dbpage', 'fts5vocab', 'sqlite_temp_schema'],
]

type Case = [name: string, sql: string, message?: RegExp]

/** `message`: of the refusal; without one the rows are taken. */
const CASES: Case[] = [
  ...NAMES.flatMap((name): Case[] => [
    [`the endless view ${name}`, byView(name, ENDLESS)],
    [`${name} with an endless content`, byContent(name, ENDLESS)],
    [`the table ${name} with slow columns`, byColumn(name)],
  ]),
  ['pragma_table_info with a content of gigabytes', byContent('pragma_table_info', HUGE)],
  ['json_each with a content of gigabytes', byContent('json_each', HUGE)],
  ['a chain of 1,400 tables to pragma_table_info', chain(1400, 'pragma_table_info')],
  ['a chain of 1,400 tables to json_each', chain(1400, 'json_each')],
  [
    'a temporary view in place of a table',
    plant('users', `CREATE TEMP VIEW users AS ${ENDLESS}`, 'view'),
  ],
  ['a temporary table', plant('json_each', 'CREATE TEMPORARY TABLE json_each (value)')],
  ['a view of another database', plant('plans', `CREATE VIEW main.plans AS ${ENDLESS}`, 'view')],
  ['a view in small letters', plant('seen', ` /**/ create view json_each as ${ENDLESS}`, 'view')],
  [
    'statements that make nothing',
    plant('a', 'DROP TABLE users') + plant('b', "ATTACH '/etc/passwd' AS p"),
  ],
  ['a module that is not there', plant('a', 'CREATE VIRTUAL TABLE a USING nothing(x)')],
  [
    'a table that is another one',
    disguise('words', 'CREATE TABLE "pragma_table_info" (name, type)'),
  ],
  [
    'tables of a full-text search',
    'CREATE VIRTUAL TABLE plan USING fts5(x); CREATE VIRTUAL TABLE v USING fts5vocab(plan, row)',
  ],
  ['pages as rows', plant('d', 'CREATE VIRTUAL TABLE d USING dbstat(main)')],
  [
    'an index by a slow expression',
    `CREATE INDEX slow ON plans (code); PRAGMA writable_schema = ON;
     UPDATE sqlite_schema SET sql = ${quoted(`CREATE INDEX slow ON plans (${SLOW})`)} WHERE name = 'slow'`,
  ],
  [
    'an index by an order that is not there',
    `CREATE INDEX odd ON plans (code); PRAGMA writable_schema = ON;
     UPDATE sqlite_schema SET sql = 'CREATE INDEX odd ON plans (code COLLATE strange)' WHERE name = 'odd'`,
  ],
  [
    'a trigger that never ends',
    `CREATE TRIGGER again AFTER INSERT ON plans BEGIN SELECT ${SLOW}; END`,
  ],
  [
    'statistics by a slow column',
    disguise('sqlite_stat1', `CREATE TABLE sqlite_stat1(tbl,idx,stat as (${SLOW}))`),
  ],
  [
    'statistics by another name',
    disguise('stat', 'CREATE TABLE "SQLITE_stat4"(tbl,idx,neq,nlt,ndlt,sample)'),
  ],
  [
    'migrations by a slow column',
    `PRAGMA writable_schema = ON;
     UPDATE sqlite_schema SET sql = replace(sql, 'NUMERIC', ${quoted(`NUMERIC AS (${SLOW})`)}) WHERE name = '__drizzle_migrations'`,
    /not one of Subpanel/,
  ],
  [
    'migrations in a virtual table',
    'DROP TABLE __drizzle_migrations; CREATE VIRTUAL TABLE __drizzle_migrations USING rtree (id, hash, created_at)',
    /not one of Subpanel/,
  ],
  [
    'a table of ours by a slow rule',
    `PRAGMA writable_schema = ON;
     UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', ${quoted(`NOT NULL CHECK (${SLOW})`)}) WHERE name = 'plans'`,
    /another form/,
  ],
  [
    'a table of ours in other letters',
    `PRAGMA writable_schema = ON;
     UPDATE sqlite_schema SET name = 'PLANS', tbl_name = 'PLANS' WHERE name = 'plans'`,
    /lacks a table/,
  ],
  [
    'a table of ours without its index',
    `PRAGMA writable_schema = ON;
     DELETE FROM sqlite_schema WHERE name = 'sqlite_autoindex_plans_1'`,
    /lacks a table/,
  ],
]

const HASH = `pbkdf2-sha256$200000$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** A database as the version before had it, or the one with so many migrations. */
export function formerDatabase(sql = '', migrations = -1): Buffer {
  const raw = new Sqlite(':memory:')
  try {
    migrate(raw, migrationNumbers().at(migrations - 1))
    raw.exec(
      `INSERT INTO admins (username, password_hash, created_at) VALUES ('admin', '${HASH}', '2026-01-01T00:00:00'); ${sql}`,
    )
    return raw.serialize()
  } finally {
    raw.close()
  }
}

/** The schemas in a database of now, and those of what migrations ask in one of the version before. */
export const hostileSchemas = (now: Uint8Array) => {
  const former = formerDatabase()
  return CASES.map(([name, sql, message = null]) => ({
    name,
    database: changedDatabase(/json_each/i.test(name) ? former : now, sql),
    message,
  }))
}
