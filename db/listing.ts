/**
 * How a page of a large listing and its count are found without visiting all rows: rows that are few are collected and sorted;
 * among many the page is walked to in its own order.
 */
import { type Reading, run, type Steps } from './engine/database.ts'
import { and, type SQL, sql } from './engine/orm.ts'
import { afterCursor, COUNT_CAP, countCapped, type PageRequest, pageOrder } from './paging.ts'

/** Rows to read: a table, with the index that is to be used, and what they must fulfil. */
export interface Rows {
  from: SQL
  where: SQL | undefined
}

/** So many rows are collected and sorted in a few milliseconds, wherever they lie. */
const FEW = 5000

/** So many rows are walked past in search of a page before another way is taken. */
const REACH = 5000

/** How many rows there are, if they are no more than `most`; else one more than that. */
export function* countUpTo(q: Reading, { from, where }: Rows, most: number): Steps<number> {
  return yield* countCapped(
    q,
    sql`select 1 from ${from} where ${where ?? sql`1 = 1`} limit ${sql.raw(String(most + 1))}`,
  )
}

/** What is kept in memory, gone through by every pass and shown whole: far more than any shop has. */
export const MOST_ROWS = {
  nodes: 1000,
  node_groups: 200,
  node_hosts: 5000,
  plans: 1000,
  traffic_packs: 1000,
  admins: 1000,
} as const

/**
 * So many subscriptions and devices of one customer are read at once, far more than any has: what a link asks for takes no longer, however
 * many a restored database has of them.
 */
export const MOST_OF_CUSTOMER = 1000

/** Whether a table has no room for one more row. */
export function* isFull(tx: Reading, table: keyof typeof MOST_ROWS) {
  const most = sql.raw(String(MOST_ROWS[table]))
  const from = sql.identifier(table)
  const [row] = yield* run(
    tx
      .select({ n: sql<number>`count(*)` })
      .from(sql`(select 1 from ${from} limit ${most}) as counted`),
  )
  return row?.n === MOST_ROWS[table]
}

export function* areFew(q: Reading, rows: Rows): Steps<boolean> {
  return (yield* countUpTo(q, rows, FEW)) <= FEW
}

/** The first of these ways that leads to few rows. */
export function* fewOf(q: Reading, ways: Rows[]): Steps<Rows | undefined> {
  for (const way of ways) if (yield* areFew(q, way)) return way
  return undefined
}

/** What a page is ordered by. */
export interface Order {
  column: SQL
  key: SQL<number>
}

/** What a filter finds. */
export interface Listing extends Order {
  /** All rows that match, by an index that has few others, or in the order of the page. */
  rows: Rows
  /** Where `rows` are in the order of the page: the same with no condition but what their index answers by itself. */
  walk?: Rows | undefined
  /** The rows that match by another way, for when a walk passes many others before it meets them: all of these are looked at. */
  detour?: Rows | undefined
  /** The rows that match by the way that is best to count them; `rows` without it. */
  counted?: Rows | undefined
  /** Their number, at least, where that is known without reading them. */
  known?: number
}

function* read(
  q: Reading,
  { from, where }: Rows,
  { column, key }: Order,
  page: PageRequest,
): Steps<number[]> {
  const rows = yield* run(
    q
      .select({ key })
      .from(from)
      .where(and(where, afterCursor(column, key, page)))
      .orderBy(...pageOrder(column, key, page))
      .limit(page.limit),
  )
  return rows.map((row) => row.key)
}

/** The condition of the next REACH rows of a walk; undefined when there are no more than these. */
function* nearby(q: Reading, walk: Rows, { column, key }: Order, page: PageRequest) {
  const [last] = yield* run(
    q
      .select({ value: sql<string>`${column}`, key })
      .from(walk.from)
      .where(and(walk.where, afterCursor(column, key, page)))
      .orderBy(...pageOrder(column, key, page))
      .limit(1)
      .offset(REACH),
  )
  if (!last) return undefined
  const side = page.order === 'desc' ? sql`>=` : sql`<=`
  return sql`(${column}, ${key}) ${side} (${last.value}, ${last.key})`
}

/** The keys of a page, and the rows from which they were read. */
function* findPage(q: Reading, listing: Listing, page: PageRequest): Steps<[number[], Rows]> {
  const { rows, walk, detour } = listing
  const near = walk && detour && (yield* nearby(q, walk, listing, page))
  if (!near) return [yield* read(q, rows, listing, page), rows]
  const met = yield* read(q, { ...rows, where: and(rows.where, near) }, listing, page)
  return met.length === page.limit ? [met, rows] : [yield* read(q, detour, listing, page), detour]
}

/** The keys of a page, in its order, and the count of all matches (capped at COUNT_CAP + 1). */
export function* findRows(
  q: Reading,
  listing: Listing,
  page: PageRequest,
): Steps<{ keys: number[]; total: number }> {
  const [keys, from] = yield* findPage(q, listing, page)
  if (page.cursor === null && keys.length < page.limit) return { keys, total: keys.length }
  if ((listing.known ?? 0) > COUNT_CAP) return { keys, total: COUNT_CAP + 1 }
  // What was not met by walking is not dense: the way that was quick for the page is so for the count.
  const counted = from === listing.detour ? from : (listing.counted ?? from)
  return { keys, total: yield* countUpTo(q, counted, COUNT_CAP) }
}

/** Rows in the order in which their keys are listed. */
export function inOrderOf<Row>(keys: number[], rows: Row[], keyOf: (row: Row) => number): Row[] {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]))
  return keys.flatMap((key) => byKey.get(key) ?? [])
}

/** Beyond so many owners nearly everyone is found: what is walked in any order meets their rows soon. */
const MOST_OWNERS = 150_000

/** The rows of the users that a search finds. */
export interface OwnedRows {
  /** Of `few` users the rows are collected, of `some` if a walk does not meet them soon, of `many` never. */
  owners: 'few' | 'some' | 'many'
  /** The rows, by an index of their owners, one owner after another. */
  rows: Rows
  /** The condition that the owner of a row is found, looked up for each row. */
  each: SQL
  /** The same, where all that are found are looked up first, and sorted: half the work where most of them are to be visited. */
  all: SQL
}

/** `found`: what has a row for each owner, and is counted. */
export function* ownedRows(
  q: Reading,
  found: Rows,
  ways: Omit<OwnedRows, 'owners'>,
): Steps<OwnedRows> {
  const n = yield* countUpTo(q, found, MOST_OWNERS)
  return { owners: n <= FEW ? 'few' : n <= MOST_OWNERS ? 'some' : 'many', ...ways }
}
