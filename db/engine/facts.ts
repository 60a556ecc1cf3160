/** What the tables of schema/facts.ts must say, from the rows themselves: to make them anew, and to find where they don't. */
import { bannedFlag, isOpen, OF_SUBSCRIPTIONS } from '../states.ts'
import type { Engine } from './engine.ts'
import { quarterOf, stateOf, TRAFFIC_PARTS, wordsIn } from './fact-triggers.ts'

interface Facts {
  columns: string
  /** From the rows. */
  expected: string
  /** Which rows that are kept say something: those that were counted down to nothing don't. */
  counting: string
  /** What a row is named by. */
  key: string
}

const factsOf = (engine: Engine): Record<string, Facts> => ({
  user_summaries: {
    columns: 'tg_id, created_at, banned, last_end, held',
    expected: `SELECT u.tg_id, u.created_at, ${bannedFlag('u.')}, s.last_end, coalesce(s.held, 0) FROM users AS u
      LEFT JOIN (SELECT tg_id, ${OF_SUBSCRIPTIONS} FROM subscriptions WHERE active <> 0 GROUP BY tg_id) AS s ON s.tg_id = u.tg_id`,
    counting: 'TRUE',
    key: 'tg_id',
  },
  user_tags: {
    columns: 'tag, tg_id',
    expected: `SELECT words.value, u.tg_id FROM users AS u, ${wordsIn(engine, 'u.tags')}`,
    counting: 'TRUE',
    key: "tag || ' ' || tg_id",
  },
  ending_counts: {
    columns: 'day, node, plan, n',
    expected: `SELECT substr(expires_at, 1, 10), node, plan, count(*) FROM subscriptions
      WHERE ${isOpen()} GROUP BY 1, 2, 3`,
    counting: 'n <> 0',
    key: "day || ' ' || node || ' ' || plan",
  },
  tallies: {
    columns: 'name, slot, n',
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
    counting: 'n <> 0',
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
  Object.entries(factsOf(engine)).map(([table, { columns, expected, counting, key }]) => [
    table,
    `WITH counted (${columns}) AS (${expected}),
       told (${columns}) AS (SELECT * FROM counted UNION ALL SELECT ${columns} FROM ${table} WHERE ${counting})
     SELECT DISTINCT ${key} FROM (SELECT ${columns} FROM told GROUP BY ${columns} HAVING count(*) <> 2) AS unequal`,
  ])

/** For each table what makes its rows anew. */
export const factFillings = (engine: Engine): [table: string, sql: string][] =>
  Object.entries(factsOf(engine)).map(([table, { columns, expected }]) => [
    table,
    `INSERT INTO ${table} (${columns}) ${expected}`,
  ])
