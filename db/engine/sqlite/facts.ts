/** What the tables of schema/facts.ts must say, from the rows themselves: to make them anew, and to find where they don't. */
import type { Database as Driver } from 'better-sqlite3'
import { isOpen, OF_SUBSCRIPTIONS } from '../../states.ts'
import { FACT_TRIGGERS, quarterOf, stateOf, TRAFFIC_PARTS } from './fact-triggers.ts'

interface Facts {
  columns: string
  /** From the rows. */
  expected: string
  /** Which rows that are kept say something: those that were counted down to nothing don't. */
  counting: string
  /** What a row is named by. */
  key: string
}

const FACTS: Record<string, Facts> = {
  user_summaries: {
    columns: 'tg_id, created_at, banned, last_end, held',
    expected: `SELECT u.tg_id, u.created_at, u.banned_at IS NOT NULL, s.last_end, coalesce(s.held, 0) FROM users AS u
      LEFT JOIN (SELECT tg_id, ${OF_SUBSCRIPTIONS} FROM subscriptions WHERE active <> 0 GROUP BY tg_id) AS s ON s.tg_id = u.tg_id`,
    counting: 'TRUE',
    key: 'tg_id',
  },
  user_tags: {
    columns: 'tag, tg_id',
    expected: 'SELECT t.value, u.tg_id FROM users AS u, json_each(u.tags) AS t',
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
      ) WHERE n <> 0`,
    counting: 'n <> 0',
    key: "name || ' ' || slot",
  },
}

/** Tables that follow from the rows of the others. */
export const FACT_TABLES: ReadonlySet<string> = new Set(Object.keys(FACTS))

/**
 * Queries that name what is kept and not as it must be, by table. Rows of both kinds are sorted together, once: as two sets that are
 * taken from each other, a million of them took minutes.
 */
export const FALSE_FACTS: [table: string, sql: string][] = Object.entries(FACTS).map(
  ([table, { columns, expected, counting, key }]) => [
    table,
    `WITH counted (${columns}) AS (${expected}),
       both (${columns}) AS (SELECT * FROM counted UNION ALL SELECT ${columns} FROM ${table} WHERE ${counting})
     SELECT DISTINCT ${key} FROM (SELECT ${columns} FROM both GROUP BY ${columns} HAVING count(*) <> 2)`,
  ],
)

/** The triggers of facts that the database has, those of another version too. */
const presentTriggers = (raw: Driver) =>
  raw
    .prepare(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND name GLOB 'fact_*'",
    )
    .all() as { name: string; sql: string }[]

/** Whether the triggers are those of this version: what was written under others may have been counted otherwise, or not at all. */
export function areFactsKept(raw: Driver): boolean {
  const present = new Map(presentTriggers(raw).map(({ name, sql }) => [name, sql]))
  return (
    present.size === FACT_TRIGGERS.length &&
    FACT_TRIGGERS.every(([name, body]) => present.get(name) === `CREATE TRIGGER ${name} ${body}`)
  )
}

/** Takes the triggers away, so that rows can be moved in bulk. `rebuildFacts` must follow in the same transaction. */
export function dropFactTriggers(raw: Driver): void {
  for (const { name } of presentTriggers(raw)) raw.exec(`DROP TRIGGER main.${name}`)
}

/** Makes all that is kept anew from the rows, and the triggers that keep it. To be called within a transaction. */
export function rebuildFacts(raw: Driver): void {
  dropFactTriggers(raw)
  for (const [table, { columns, expected }] of Object.entries(FACTS)) {
    const indexes = raw
      .prepare(
        "SELECT name, sql FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
      )
      .all(table) as { name: string; sql: string }[]
    // Built at the end: one sort instead of a search for each row.
    for (const { name } of indexes) raw.exec(`DROP INDEX main.${name}`)
    raw.exec(`DELETE FROM main.${table}`)
    raw.exec(`INSERT INTO main.${table} (${columns}) ${expected}`)
    for (const { sql } of indexes) raw.exec(sql)
  }
  for (const [name, body] of FACT_TRIGGERS) raw.exec(`CREATE TRIGGER main.${name} ${body}`)
}
