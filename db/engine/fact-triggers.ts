/** The triggers that keep the tables of schema/facts.ts: no write can forget them, not a restore, not an operator's `sqlite3` or `psql`. */
import { bannedFlag, isOpen, OF_SUBSCRIPTIONS } from '../states.ts'
import type { Engine } from './engine.ts'
import type { Trigger } from './trigger.ts'

/** The texts of a column that is a JSON array of them, as a table `words` with the column `value`. */
export const wordsIn = (engine: Engine, column: string) =>
  engine === 'postgres'
    ? `json_array_elements_text(${column}::json) as words(value)`
    : `json_each(${column}) as words`

/** The beginning of the quarter of an hour of a timestamp. */
export const quarterOf = (at: string) =>
  `substr(${at}, 1, 14) || case when substr(${at}, 15, 2) < '15' then '00' when substr(${at}, 15, 2) < '30' then '15'
    when substr(${at}, 15, 2) < '45' then '30' else '45' end`

/** The slot in `tallies` of a subscription that is not open. */
export const stateOf = (row: string) =>
  `CASE WHEN ${row}.active = 0 THEN 'revoked' WHEN ${row}.disabled_at IS NOT NULL THEN 'disabled' ELSE 'held' END`

/**
 * What follows the row that says by how much a sum grows. SQLite has one writer, who adds to the row that is there. PostgreSQL's would wait for each other
 * there, and all but one be run again: each adds a row, and FOLDINGS (facts.ts) makes them one.
 */
const addedTo = (engine: Engine, table: string, key: string) =>
  engine === 'postgres' ? ';' : ` ON CONFLICT (${key}) DO UPDATE SET n = ${table}.n + excluded.n;`

/** Statements that count what happens to a row, in the words of an engine. */
const countingOf = (engine: Engine) => {
  const toTally = addedTo(engine, 'tallies', 'name, slot')
  const tally = (name: string, slot: string, n: string) =>
    `INSERT INTO tallies (name, slot, n) VALUES (${name}, ${slot}, ${n})${toTally}`
  return {
    tally,
    ending: (row: string, n: number) =>
      `INSERT INTO ending_counts (day, node, plan, n)
       SELECT substr(${row}.expires_at, 1, 10), ${row}.node, ${row}.plan, ${n} WHERE ${isOpen(`${row}.`)}
       ${addedTo(engine, 'ending_counts', 'day, node, plan')}`,
    state: (row: string, n: number) =>
      `INSERT INTO tallies (name, slot, n) SELECT 'subscriptions', ${stateOf(row)}, ${n} WHERE NOT (${isOpen(`${row}.`)})
       ${toTally}`,
    user: (row: string, n: number) => tally("'users'", quarterOf(`${row}.created_at`), String(n)),
    device: (n: number) => tally("'devices'", "''", String(n)),
    /** By how much each of these parts grows. */
    traffic: (parts: TrafficPart[], growth: (part: TrafficPart[1]) => string) =>
      parts.map(([slot, part]) => tally("'traffic'", `'${slot}'`, growth(part))).join(' '),
    payment: (row: string, n: number) =>
      tally("'paid'", quarterOf(`${row}.paid_at`), String(n)) +
      tally(
        `'revenue ' || ${row}.currency`,
        quarterOf(`${row}.paid_at`),
        `CASE WHEN ${row}.refunded_at IS NULL THEN ${n} * ${row}.amount ELSE 0 END`,
      ),
  }
}

/** Only where something of it changes: the indexes of the table cost more than the question. */
const summarize = (row: string) => {
  const summary = `SELECT ${OF_SUBSCRIPTIONS} FROM subscriptions WHERE tg_id = ${row}.tg_id AND active <> 0`
  return `UPDATE user_summaries SET (last_end, held, disabled) = (${summary})
    WHERE tg_id = ${row}.tg_id AND EXISTS (SELECT 1 FROM (${summary}) AS summed
      WHERE user_summaries.last_end IS DISTINCT FROM summed.last_end OR user_summaries.held <> summed.held
        OR user_summaries.disabled <> summed.disabled);`
}

/** A slot of `traffic` in `tallies`, and its part of a row (`NEW.`). */
type TrafficPart = [slot: string, part: (row: string) => string]

/**
 * Bytes are summed as units of 4 GiB and what is beside them: in one number the sum could leave 64 bits, where what is added and
 * taken is rounded.
 */
const UNITS: TrafficPart[] = [
  ['up', (row) => `(${row}up_bytes >> 32)`],
  ['down', (row) => `(${row}down_bytes >> 32)`],
]
const RESTS: TrafficPart[] = [
  ['up rest', (row) => `(${row}up_bytes & 4294967295)`],
  ['down rest', (row) => `(${row}down_bytes & 4294967295)`],
]
export const TRAFFIC_PARTS: TrafficPart[] = [...UNITS, ...RESTS]

const gain = (part: TrafficPart[1]) => `${part('NEW.')} - ${part('OLD.')}`

const isPaid = (row: string) => `${row}.status = 'paid' AND ${row}.paid_at IS NOT NULL`

/** Whether one of these columns has another value than before. */
const changes = (...columns: string[]) =>
  columns.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ')

const STATE = ['active', 'held_at', 'disabled_at']
const ENDING = [...STATE, 'expires_at', 'node', 'plan']
const SUMMARY = [...STATE, 'expires_at', 'tg_id']
const TRAFFIC = ['up_bytes', 'down_bytes']
const PAID = ['status', 'paid_at', 'amount', 'currency', 'refunded_at']

const IS_BANNED = bannedFlag('NEW.')
const HAS_TRAFFIC = (row: string) => `${row}.up_bytes <> 0 OR ${row}.down_bytes <> 0`

const TAG_USER = (engine: Engine) =>
  `INSERT INTO user_tags (tag, tg_id) SELECT value, NEW.tg_id FROM ${wordsIn(engine, 'NEW.tags')};`
const UNTAG_USER = (engine: Engine) =>
  `DELETE FROM user_tags WHERE tg_id = OLD.tg_id AND tag IN (SELECT value FROM ${wordsIn(engine, 'OLD.tags')});`

/** A trigger without its name. */
interface Change extends Omit<Trigger, 'name' | 'table'> {
  on: string
}

/** After an update of some columns that changes one of them. */
const onUpdate = (on: string, columns: string[], body: string): Change => ({
  on,
  after: 'update',
  columns,
  when: changes(...columns),
  body,
})

const changesOf = (engine: Engine): Record<string, Change> => {
  const count = countingOf(engine)
  /** Where one of these parts is another than before: of the units they mostly are not. */
  const onTraffic = (parts: TrafficPart[]): Change => ({
    on: 'subscriptions',
    after: 'update',
    columns: TRAFFIC,
    when: parts.map(([, part]) => `${gain(part)} <> 0`).join(' OR '),
    body: count.traffic(parts, gain),
  })
  return {
    users_insert: {
      on: 'users',
      after: 'insert',
      body: `INSERT INTO user_summaries (tg_id, created_at, banned, last_end, held, disabled)
      SELECT NEW.tg_id, NEW.created_at, ${IS_BANNED}, ${OF_SUBSCRIPTIONS} FROM subscriptions
      WHERE tg_id = NEW.tg_id AND active <> 0;
    ${count.user('NEW', 1)}`,
    },
    users_delete: {
      on: 'users',
      after: 'delete',
      body: `DELETE FROM user_summaries WHERE tg_id = OLD.tg_id; ${count.user('OLD', -1)}`,
    },
    users_update: onUpdate(
      'users',
      ['tg_id', 'created_at', 'banned_at'],
      `UPDATE user_summaries SET tg_id = NEW.tg_id, created_at = NEW.created_at, banned = ${IS_BANNED}
       WHERE tg_id = OLD.tg_id;
     ${summarize('NEW')} ${count.user('OLD', -1)} ${count.user('NEW', 1)}`,
    ),
    users_telegram_id: {
      on: 'users',
      after: 'insert',
      when: 'NEW.tg_id > 0 AND NEW.telegram_id IS NULL',
      body: 'UPDATE users SET telegram_id = tg_id WHERE tg_id = NEW.tg_id;',
    },
    users_tags_insert: {
      on: 'users',
      after: 'insert',
      when: "NEW.tags <> '[]'",
      body: TAG_USER(engine),
    },
    users_tags_delete: {
      on: 'users',
      after: 'delete',
      when: "OLD.tags <> '[]'",
      body: UNTAG_USER(engine),
    },
    users_tags_update: onUpdate('users', ['tg_id', 'tags'], UNTAG_USER(engine) + TAG_USER(engine)),
    devices_insert: { on: 'devices', after: 'insert', body: count.device(1) },
    devices_delete: { on: 'devices', after: 'delete', body: count.device(-1) },
    subscriptions_insert: {
      on: 'subscriptions',
      after: 'insert',
      body: `${count.state('NEW', 1)} ${count.ending('NEW', 1)} ${summarize('NEW')}`,
    },
    subscriptions_delete: {
      on: 'subscriptions',
      after: 'delete',
      body: `${count.state('OLD', -1)} ${count.ending('OLD', -1)} ${summarize('OLD')}`,
    },
    subscriptions_traffic_insert: {
      on: 'subscriptions',
      after: 'insert',
      when: HAS_TRAFFIC('NEW'),
      body: count.traffic(TRAFFIC_PARTS, (part) => part('NEW.')),
    },
    subscriptions_traffic_delete: {
      on: 'subscriptions',
      after: 'delete',
      when: HAS_TRAFFIC('OLD'),
      body: count.traffic(TRAFFIC_PARTS, (part) => `-${part('OLD.')}`),
    },
    subscriptions_state: onUpdate(
      'subscriptions',
      STATE,
      count.state('OLD', -1) + count.state('NEW', 1),
    ),
    subscriptions_ending: onUpdate(
      'subscriptions',
      ENDING,
      count.ending('OLD', -1) + count.ending('NEW', 1),
    ),
    subscriptions_summary: onUpdate('subscriptions', SUMMARY, summarize('NEW')),
    subscriptions_owner: onUpdate('subscriptions', ['tg_id'], summarize('OLD')),
    subscriptions_traffic: onTraffic(RESTS),
    subscriptions_traffic_units: onTraffic(UNITS),
    payments_insert: {
      on: 'payments',
      after: 'insert',
      when: isPaid('NEW'),
      body: count.payment('NEW', 1),
    },
    payments_delete: {
      on: 'payments',
      after: 'delete',
      when: isPaid('OLD'),
      body: count.payment('OLD', -1),
    },
    payments_unpaid: {
      on: 'payments',
      after: 'update',
      columns: PAID,
      when: `${isPaid('OLD')} AND (${changes(...PAID)})`,
      body: count.payment('OLD', -1),
    },
    payments_paid: {
      on: 'payments',
      after: 'update',
      columns: PAID,
      when: `${isPaid('NEW')} AND (${changes(...PAID)})`,
      body: count.payment('NEW', 1),
    },
  }
}

/** The triggers of an engine. */
export const factTriggers = (engine: Engine): Trigger[] =>
  Object.entries(changesOf(engine)).map(([name, { on, ...change }]) => ({
    name: `fact_${name}`,
    table: on,
    ...change,
  }))
