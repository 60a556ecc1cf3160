/** Lists paged by key: newest first by default, by a timestamp column and a number that only one row has. */
import { type Reading, run, type Steps } from './engine/database.ts'
import { and, type SQL, sql } from './engine/orm.ts'

/** Where a page starts: after the row with this sort value and this key. */
export interface Cursor {
  value: string
  key: number
}

export interface PageRequest {
  limit: number
  cursor: Cursor | null
  order: 'asc' | 'desc'
}

/** Counts above this are reported as this (counting all rows of a large table costs more than the page). */
export const COUNT_CAP = 10_000

/** The condition that skips the rows up to the cursor, for rows ordered by (column, key). */
export function afterCursor(column: SQL, key: SQL, page: PageRequest): SQL | undefined {
  if (!page.cursor) return undefined
  const { value, key: last } = page.cursor
  return page.order === 'desc'
    ? sql`(${column}, ${key}) < (${value}, ${last})`
    : sql`(${column}, ${key}) > (${value}, ${last})`
}

/** The ORDER BY terms that belong to `afterCursor`. */
export function pageOrder(column: SQL, key: SQL, page: PageRequest): SQL[] {
  const direction = page.order === 'desc' ? sql`desc` : sql`asc`
  return [sql`${column} ${direction}`, sql`${key} ${direction}`]
}

/** The number of rows of a subquery that selects at most COUNT_CAP + 1 rows. */
export function* countCapped(q: Reading, rows: SQL): Steps<number> {
  const [row] = yield* run(q.select({ n: sql<number>`count(*)` }).from(sql`(${rows}) as counted`))
  return row?.n ?? 0
}

export const all = (...conditions: (SQL | undefined)[]) => and(...conditions)

const LARGEST_ID = Number.MAX_SAFE_INTEGER

/** Whether a text can be the beginning of an id's decimal digits. */
export const isIdPrefix = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text)

/** Whether the decimal digits of an id begin with `digits`, as ranges that an index serves. */
export function hasPrefix(id: SQL, digits: string): SQL {
  const ranges: SQL[] = []
  let from = Number(digits)
  let size = 1
  while (from > 0 && from <= LARGEST_ID) {
    ranges.push(sql`${id} between ${from} and ${Math.min(from + size - 1, LARGEST_ID)}`)
    from *= 10
    size *= 10
  }
  return ranges.length === 0 ? sql`false` : sql`(${sql.join(ranges, sql` or `)})`
}
