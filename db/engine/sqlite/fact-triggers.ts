/** The triggers that keep the tables of schema/facts.ts: no write can forget them, not a restore, not an operator's `sqlite3`. */
import { isOpen, OF_SUBSCRIPTIONS } from '../../states.ts'

/** The beginning of the quarter of an hour of a timestamp. */
export const quarterOf = (at: string) =>
  `substr(${at}, 1, 14) || printf('%02d', substr(${at}, 15, 2) / 15 * 15)`

/** The slot in `tallies` of a subscription that is not open. */
export const stateOf = (row: string) => `CASE ${row}.active WHEN 0 THEN 'revoked' ELSE 'held' END`

const tally = (name: string, slot: string, n: string) =>
  `INSERT INTO tallies (name, slot, n) VALUES (${name}, ${slot}, ${n}) ON CONFLICT DO UPDATE SET n = n + excluded.n;`

const countEnding = (row: string, n: number) =>
  `INSERT INTO ending_counts (day, node, plan, n)
   SELECT substr(${row}.expires_at, 1, 10), ${row}.node, ${row}.plan, ${n} WHERE ${isOpen(`${row}.`)}
   ON CONFLICT DO UPDATE SET n = n + excluded.n;`

const countState = (row: string, n: number) =>
  `INSERT INTO tallies (name, slot, n) SELECT 'subscriptions', ${stateOf(row)}, ${n} WHERE NOT (${isOpen(`${row}.`)})
   ON CONFLICT DO UPDATE SET n = n + excluded.n;`

/** Only where something of it changes: the indexes of the table cost more than the question. */
const summarize = (row: string) => {
  const summary = `(SELECT ${OF_SUBSCRIPTIONS} FROM subscriptions WHERE tg_id = ${row}.tg_id AND active <> 0)`
  return `UPDATE user_summaries SET (last_end, held) = ${summary}
    WHERE tg_id = ${row}.tg_id AND (last_end, held) IS NOT ${summary};`
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

const ofTraffic = (sign: string, row: string) =>
  TRAFFIC_PARTS.map(([slot, part]) => tally("'traffic'", `'${slot}'`, sign + part(`${row}.`))).join(
    ' ',
  )

const gain = ([, part]: TrafficPart) => `${part('NEW.')} - ${part('OLD.')}`

/** Where one of them is another than before: of the units they mostly are not. */
const onTraffic = (parts: TrafficPart[]) =>
  `AFTER UPDATE OF ${TRAFFIC.join(', ')} ON subscriptions WHEN ${parts.map((one) => `${gain(one)} <> 0`).join(' OR ')}
    BEGIN ${parts.map((one) => tally("'traffic'", `'${one[0]}'`, gain(one))).join(' ')} END`

const ofPayment = (row: string, n: number) =>
  tally("'paid'", quarterOf(`${row}.paid_at`), String(n)) +
  tally(
    `'revenue ' || ${row}.currency`,
    quarterOf(`${row}.paid_at`),
    `CASE WHEN ${row}.refunded_at IS NULL THEN ${n} * ${row}.amount ELSE 0 END`,
  )

const isPaid = (row: string) => `${row}.status = 'paid' AND ${row}.paid_at IS NOT NULL`

/** Whether one of these columns has another value than before. */
const changes = (...columns: string[]) =>
  columns.map((column) => `OLD.${column} IS NOT NEW.${column}`).join(' OR ')

const STATE = ['active', 'held_at']
const ENDING = [...STATE, 'expires_at', 'node', 'plan']
const SUMMARY = [...STATE, 'expires_at', 'tg_id']
const TRAFFIC = ['up_bytes', 'down_bytes']
const PAID = ['status', 'paid_at', 'amount', 'currency', 'refunded_at']

const tagUser = `INSERT INTO user_tags (tag, tg_id) SELECT value, NEW.tg_id FROM json_each(NEW.tags);`
const untagUser = `DELETE FROM user_tags WHERE tg_id = OLD.tg_id AND tag IN (SELECT value FROM json_each(OLD.tags));`

/** After an update of some columns that changes one of them. */
const onUpdate = (table: string, columns: string[], body: string) =>
  `AFTER UPDATE OF ${columns.join(', ')} ON ${table} WHEN ${changes(...columns)} BEGIN ${body} END`

const TRIGGERS: Record<string, string> = {
  users_insert: `AFTER INSERT ON users BEGIN
    INSERT INTO user_summaries (tg_id, created_at, banned, last_end, held)
      SELECT NEW.tg_id, NEW.created_at, NEW.banned_at IS NOT NULL, ${OF_SUBSCRIPTIONS} FROM subscriptions
      WHERE tg_id = NEW.tg_id AND active <> 0;
    ${tally("'users'", quarterOf('NEW.created_at'), '1')} END`,
  users_delete: `AFTER DELETE ON users BEGIN
    DELETE FROM user_summaries WHERE tg_id = OLD.tg_id;
    ${tally("'users'", quarterOf('OLD.created_at'), '-1')} END`,
  users_update: onUpdate(
    'users',
    ['tg_id', 'created_at', 'banned_at'],
    `UPDATE user_summaries SET tg_id = NEW.tg_id, created_at = NEW.created_at, banned = NEW.banned_at IS NOT NULL
       WHERE tg_id = OLD.tg_id;
     ${summarize('NEW')}
     ${tally("'users'", quarterOf('OLD.created_at'), '-1')}
     ${tally("'users'", quarterOf('NEW.created_at'), '1')}`,
  ),
  users_telegram_id: `AFTER INSERT ON users WHEN NEW.tg_id > 0 AND NEW.telegram_id IS NULL BEGIN
    UPDATE users SET telegram_id = tg_id WHERE tg_id = NEW.tg_id; END`,
  users_tags_insert: `AFTER INSERT ON users WHEN NEW.tags <> '[]' BEGIN ${tagUser} END`,
  users_tags_delete: `AFTER DELETE ON users WHEN OLD.tags <> '[]' BEGIN ${untagUser} END`,
  users_tags_update: onUpdate('users', ['tg_id', 'tags'], untagUser + tagUser),
  devices_insert: `AFTER INSERT ON devices BEGIN ${tally("'devices'", "''", '1')} END`,
  devices_delete: `AFTER DELETE ON devices BEGIN ${tally("'devices'", "''", '-1')} END`,
  subscriptions_insert: `AFTER INSERT ON subscriptions BEGIN
    ${countState('NEW', 1)} ${countEnding('NEW', 1)} ${summarize('NEW')} END`,
  subscriptions_delete: `AFTER DELETE ON subscriptions BEGIN
    ${countState('OLD', -1)} ${countEnding('OLD', -1)} ${summarize('OLD')} END`,
  subscriptions_traffic_insert: `AFTER INSERT ON subscriptions WHEN NEW.up_bytes <> 0 OR NEW.down_bytes <> 0
    BEGIN ${ofTraffic('', 'NEW')} END`,
  subscriptions_traffic_delete: `AFTER DELETE ON subscriptions WHEN OLD.up_bytes <> 0 OR OLD.down_bytes <> 0
    BEGIN ${ofTraffic('-', 'OLD')} END`,
  subscriptions_state: onUpdate(
    'subscriptions',
    STATE,
    countState('OLD', -1) + countState('NEW', 1),
  ),
  subscriptions_ending: onUpdate(
    'subscriptions',
    ENDING,
    countEnding('OLD', -1) + countEnding('NEW', 1),
  ),
  subscriptions_summary: onUpdate('subscriptions', SUMMARY, summarize('NEW')),
  subscriptions_owner: onUpdate('subscriptions', ['tg_id'], summarize('OLD')),
  subscriptions_traffic: onTraffic(RESTS),
  subscriptions_traffic_units: onTraffic(UNITS),
  payments_insert: `AFTER INSERT ON payments WHEN ${isPaid('NEW')} BEGIN ${ofPayment('NEW', 1)} END`,
  payments_delete: `AFTER DELETE ON payments WHEN ${isPaid('OLD')} BEGIN ${ofPayment('OLD', -1)} END`,
  payments_unpaid: `AFTER UPDATE OF ${PAID.join(', ')} ON payments WHEN ${isPaid('OLD')} AND (${changes(...PAID)})
    BEGIN ${ofPayment('OLD', -1)} END`,
  payments_paid: `AFTER UPDATE OF ${PAID.join(', ')} ON payments WHEN ${isPaid('NEW')} AND (${changes(...PAID)})
    BEGIN ${ofPayment('NEW', 1)} END`,
}

/** The triggers by name. */
export const FACT_TRIGGERS: [name: string, body: string][] = Object.entries(TRIGGERS).map(
  ([name, body]) => [`fact_${name}`, body],
)
