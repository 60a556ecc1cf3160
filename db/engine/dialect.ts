/**
 * Where the SQL of engines differs: all of it that readers and writers need. Everything else is written once and means the same
 * wherever it runs. Most of it is for SQLite's planner alone; PostgreSQL's goes by statistics.
 */
import { ENGINE } from './engine.ts'
import { type SQL, type SQLWrapper, sql } from './orm.ts'

const isPostgres = ENGINE === 'postgres'

/** Before an expression that no index shall serve. */
export const BARE = sql.raw(isPostgres ? '' : '+')

/**
 * A parameter of SQL text. In SQLite never bare: it plans a statement anew at each run when a bare parameter had a part in its plan
 * (sqlite3_clear_bindings, which the driver calls after each run, expires it), and that costs twice the reading.
 */
export const param = (name: string) => (isPostgres ? `@${name}` : `+@${name}`)

/** Names the index that SQLite is to take in SQL text. */
export const byIndex = (name: string) => (isPostgres ? '' : `indexed by ${name}`)

/** An order that SQLite has by the index that it is told to take, in SQL text: asked for, it would sort once more. */
export const orderOfIndex = (terms: string) => (isPostgres ? `order by ${terms}` : '')

/** A table of a query by this index. */
export const indexed = (table: unknown, name: string): SQL =>
  sql`${table} ${sql.raw(byIndex(name))}`

/** A table of a query by its key alone. */
export const unindexed = (table: unknown): SQL =>
  isPostgres ? sql`${table}` : sql`${table} not indexed`

/** The texts of a JSON array of them that stands in a query, as a table of one column. */
export const textsIn = (json: unknown): SQL =>
  isPostgres
    ? sql`select json_array_elements_text(${json}::json)`
    : sql`select value from json_each(${json})`

/** The numbers of a JSON array of them that stands in a query. */
export const numbersIn = (json: unknown): SQL =>
  isPostgres ? sql`select json_array_elements_text(${json}::json)::bigint` : textsIn(json)

/** The texts of a parameter of SQL text that is a JSON array of them; its column is `value`. */
export const textsOf = (name: string) =>
  isPostgres
    ? `select value from json_array_elements_text(${param(name)}::json) as texts(value)`
    : `select value from json_each(${param(name)})`

/** Two tables of a query, of which SQLite reads the first first. */
export const inOrder = (first: unknown, second: unknown, on: SQL): SQL =>
  isPostgres ? sql`${first} join ${second} on ${on}` : sql`${first} cross join ${second} on ${on}`

/** The same in SQL text. */
export const joinedInOrder = (first: string, second: string, on: string) =>
  `${first} ${isPostgres ? 'join' : 'cross join'} ${second} on ${on}`

/** The least of two values, in SQL text. */
export const least = (a: string, b: string) => `${isPostgres ? 'least' : 'min'}(${a}, ${b})`

/** The same in a query. */
export const leastOf = (a: unknown, b: unknown): SQL =>
  isPostgres ? sql`least(${a}, ${b})` : sql`min(${a}, ${b})`

/** A sum of what nodes report, in SQL text: it may be too large for sum(), which refuses what is beyond 64 bits, and for JavaScript's numbers. */
export const cappedSum = (column: string) =>
  isPostgres
    ? least(`coalesce(sum(${column}), 0)`, String(Number.MAX_SAFE_INTEGER))
    : `cast(${least(`total(${column})`, String(Number.MAX_SAFE_INTEGER))} as integer)`

/** The same in a query. */
export const cappedSumOf = (column: SQLWrapper): SQL<number> =>
  isPostgres
    ? sql`${leastOf(sql`coalesce(sum(${column}), 0)`, Number.MAX_SAFE_INTEGER)}`
    : sql`cast(${leastOf(sql`total(${column})`, Number.MAX_SAFE_INTEGER)} as integer)`

/** The texts of a column as the bytes of one, in the order of the index that is read, which is theirs; in SQL text. */
export const joinedBytes = (column: string) =>
  isPostgres
    ? `convert_to(coalesce(string_agg(${column}, '' order by ${column}), ''), 'UTF8')`
    : `cast(coalesce(group_concat(${column}, ''), '') as blob)`

/**
 * Milliseconds since 1970 by the clock that all processes of a database share: that of its server. With SQLite they are on one machine, whose clock is `own`.
 */
export const sharedNow = (own: number): SQL<number> =>
  isPostgres ? sql`(extract(epoch from clock_timestamp()) * 1000)::bigint` : sql`${own}`

/** Whether a text fits a pattern of LIKE, case of ASCII aside. */
export const isLike = (column: SQLWrapper, pattern: string): SQL =>
  isPostgres ? sql`${column} ilike ${pattern}` : sql`${column} like ${pattern}`
