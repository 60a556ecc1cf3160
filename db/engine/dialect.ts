/**
 * Where the SQL of engines differs: all of it that readers and writers need. Everything else is written once and means the same
 * wherever it runs. SQL text is written in SQLite's form; another engine reads over what is here for SQLite's planner alone.
 */
import { type SQL, type SQLWrapper, sql } from './orm.ts'

/** Before an expression that no index shall serve. */
export const BARE = sql.raw('+')

/**
 * A parameter of SQL text. Never bare: this SQLite plans a statement anew at each run when a bare parameter had a part in its plan
 * (sqlite3_clear_bindings, which the driver calls after each run, expires it), and that costs twice the reading.
 */
export const param = (name: string) => `+@${name}`

/** Names the index that SQLite is to take in SQL text. */
export const byIndex = (name: string) => `indexed by ${name}`

/** A table of a query by this index. */
export const indexed = (table: unknown, name: string): SQL =>
  sql`${table} ${sql.raw(byIndex(name))}`

/** A table of a query by its key alone. */
export const unindexed = (table: unknown): SQL => sql`${table} not indexed`

/** The texts of a JSON array of them that stands in a query, as a table of one column. */
export const textsIn = (json: unknown): SQL => sql`select value from json_each(${json})`

/** The same of a parameter of SQL text that is one. */
export const textsOf = (name: string) => `select value from json_each(${param(name)})`

/** Two tables of a query, of which the first is read first. */
export const inOrder = (first: unknown, second: unknown, on: SQL): SQL =>
  sql`${first} cross join ${second} on ${on}`

/** The least of two values, in SQL text. */
export const least = (a: string, b: string) => `min(${a}, ${b})`

/** The same in a query. */
export const leastOf = (a: unknown, b: unknown): SQL => sql`min(${a}, ${b})`

/** A sum of what nodes report, in SQL text: it may be too large for sum(), which refuses what is beyond 64 bits, and for JavaScript's numbers. */
export const cappedSum = (column: string) =>
  `cast(${least(`total(${column})`, String(Number.MAX_SAFE_INTEGER))} as integer)`

/** The same in a query. */
export const cappedSumOf = (column: SQLWrapper): SQL<number> =>
  sql`cast(${leastOf(sql`total(${column})`, Number.MAX_SAFE_INTEGER)} as integer)`

/** The texts of a column as the bytes of one, in the order in which the rows are read; in SQL text. */
export const joinedBytes = (column: string) =>
  `cast(coalesce(group_concat(${column}, ''), '') as blob)`

/** Whether a text fits a pattern of LIKE, case of ASCII aside. */
export const isLike = (column: SQLWrapper, pattern: string): SQL => sql`${column} like ${pattern}`
