/** What the tables of schema/facts.ts must say, from the rows themselves: to make them anew, and to find where they don't. */
import { bannedFlag, isOpen, OF_SUBSCRIPTIONS } from '../states.ts'
import type { Engine } from './engine.ts'
import { quarterOf, stateOf, TRAFFIC_PARTS, wordsIn } from './fact-triggers.ts'

interface Facts {
  columns: string
  /** From the rows. */
  expected: string
  /** What is kept. A sum that was counted down to nothing says nothing. */
  kept: string
  /** What a row is named by. */
  key: string
}

const SUMMARY = 'tg_id, created_at, banned, last_end, held, disabled'
const TAG = 'tag, tg_id'

/** The tables of sums, and by what a sum is found. */
const SUMS = { ending_counts: 'day, node, plan', tallies: 'name, slot' }

const isSums = (table: string): table is keyof typeof SUMS => table in SUMS

const of = (table: string, columns: string) => columns.replace(/\w+/g, `${table}.$&`)

const keptSums = (table: keyof typeof SUMS) =>
  `SELECT ${SUMS[table]}, cast(sum(n) as bigint) AS n FROM ${table} GROUP BY ${SUMS[table]} HAVING sum(n) <> 0`

/** What a table says, in either engine: of sums a row for each, and none for what came to nothing. */
export const saidBy = (table: string): string =>
  isSums(table) ? `(${keptSums(table)}) AS said` : `"${table}"`

const factsOf = (engine: Engine): Record<string, Facts> => ({
  user_summaries: {
    columns: SUMMARY,
    expected: `SELECT u.tg_id, u.created_at, ${bannedFlag('u.')}, s.last_end, coalesce(s.held, 0), coalesce(s.disabled, 0) FROM users AS u
      LEFT JOIN (SELECT tg_id, ${OF_SUBSCRIPTIONS} FROM subscriptions WHERE active <> 0 GROUP BY tg_id) AS s ON s.tg_id = u.tg_id`,
    kept: `SELECT ${SUMMARY} FROM user_summaries`,
    key: 'tg_id',
  },
  user_tags: {
    columns: TAG,
    expected: `SELECT words.value, u.tg_id FROM users AS u, ${wordsIn(engine, 'u.tags')}`,
    kept: `SELECT ${TAG} FROM user_tags`,
    key: "tag || ' ' || tg_id",
  },
  ending_counts: {
    columns: `${SUMS.ending_counts}, n`,
    expected: `SELECT substr(expires_at, 1, 10), node, plan, count(*) FROM subscriptions
      WHERE ${isOpen()} GROUP BY 1, 2, 3`,
    kept: keptSums('ending_counts'),
    key: "day || ' ' || node || ' ' || plan",
  },
  tallies: {
    columns: `${SUMS.tallies}, n`,
    expected: `SELECT * FROM (
      SELECT 'users' AS name, ${quarterOf('created_at')} AS slot, count(*) AS n FROM users GROUP BY slot
      UNION ALL SELECT 'devices', '', count(*) FROM devices
      UNION ALL SELECT 'subscriptions', ${stateOf('s')} AS slot, count(*) FROM subscriptions AS s
        WHERE NOT (${isOpen()}) GROUP BY slot
      ${TRAFFIC_PARTS.map(([slot, part]) => `UNION ALL SELECT 'traffic', '${slot}', sum(${part('')}) FROM subscriptions`).join(' ')}
      UNION ALL SELECT 'paid', ${quarterOf('paid_at')} AS slot, count(*) FROM payments
        WHERE status = 'paid' AND paid_at IS NOT NULL GROUP BY slot
      UNION ALL SELECT 'revenue ' || currency AS name, ${quarterOf('paid_at')} AS slot, sum(amount) FROM payments
        WHERE status = 'paid' AND paid_at IS NOT NULL AND refunded_at IS NULL GROUP BY name, slot
      ) AS counted WHERE n <> 0`,
    kept: keptSums('tallies'),
    key: "name || ' ' || slot",
  },
})

/** Tables that follow from the rows of the others. */
export const FACT_TABLES: ReadonlySet<string> = new Set(Object.keys(factsOf('sqlite')))

/**
 * Queries that name what is kept and not as it must be, by table. Rows of both kinds are sorted together, once: as two sets that are
 * taken from each other, a million of them took minutes.
 */
export const falseFacts = (engine: Engine): [table: string, sql: string][] =>
  Object.entries(factsOf(engine)).map(([table, { columns, expected, kept, key }]) => [
    table,
    `WITH counted (${columns}) AS (${expected}),
       told (${columns}) AS (SELECT * FROM counted UNION ALL SELECT * FROM (${kept}) AS kept)
     SELECT DISTINCT ${key} FROM (SELECT ${columns} FROM told GROUP BY ${columns} HAVING count(*) <> 2) AS unequal`,
  ])

/** For each table what makes its rows anew. */
export const factFillings = (engine: Engine): [table: string, sql: string][] =>
  Object.entries(factsOf(engine)).map(([table, { columns, expected }]) => [
    table,
    `INSERT INTO ${table} (${columns}) ${expected}`,
  ])

/**
 * Statements that make one row of those that a sum has in PostgreSQL (fact-triggers.ts). Each sees one moment and takes away what it has seen: whoever
 * adds meanwhile is not held up, and nothing of theirs is lost.
 */
export const FOLDINGS = Object.entries(SUMS).map(
  ([
    table,
    key,
  ]) => `WITH several AS (SELECT ${key} FROM ${table} GROUP BY ${key} HAVING count(*) > 1),
     gone AS (DELETE FROM ${table} AS one USING several WHERE (${of('one', key)}) = (${of('several', key)}) RETURNING ${of('one', key)}, one.n)
   INSERT INTO ${table} (${key}, n) SELECT ${key}, sum(n) FROM gone GROUP BY ${key} HAVING sum(n) <> 0`,
)
