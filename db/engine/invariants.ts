/** What must hold of a database whatever happened to it, as questions that name the rows for which it does not. */
import type { Engine } from './engine.ts'
import { falseFacts } from './facts.ts'

/** The payment that the JSON of a column is about. */
const paymentIn = (engine: Engine, column: string) =>
  engine === 'postgres' ? `${column}::json ->> 'payment_id'` : `${column} ->> '$.payment_id'`

export interface Question {
  /** The invariant, by its number in docs/reliability.md. */
  name: string
  /** What is wrong with a row that is found. */
  fault: string
  /** Gives the keys of such rows; `:since` is the oldest moment whose messages and events are all kept. */
  sql: string
}

/** What was done twice of two actions that undo each other. */
const twiceInARow = (one: string, other: string) =>
  `SELECT DISTINCT object FROM (SELECT object, action,
        lag(action) OVER (PARTITION BY object ORDER BY id) AS earlier FROM audit_log
        WHERE action IN ('${one}', '${other}')) AS turns WHERE action = earlier`

const GRANTED = 'EXISTS (SELECT 1 FROM subscriptions AS s WHERE s.payment_id = p.id)'
/** Of a deleted user nothing is left to compare with. */
const RECENT = `SELECT id FROM payments AS p WHERE status = 'paid' AND deleted_user = 0 AND paid_at > :since`

const soldOf = (engine: Engine): Question[] => [
  {
    name: 'I1',
    fault: 'payment is paid, and nothing was given for it',
    sql: `SELECT id FROM payments AS p WHERE status = 'paid' AND deleted_user = 0
      AND subscription_uuid IS NULL AND NOT ${GRANTED}`,
  },
  {
    name: 'I1',
    fault: 'payment gave a subscription and a renewal of another one',
    sql: `SELECT p.id FROM payments AS p JOIN subscriptions AS s ON s.payment_id = p.id
      WHERE p.subscription_uuid <> s.uuid`,
  },
  {
    name: 'I1',
    fault: 'payment gave days to a subscription that it does not renew',
    sql: `SELECT id FROM payments AS p WHERE status = 'paid' AND refunded_at IS NULL
      AND subscription_uuid IS NOT NULL AND subscription_uuid IS DISTINCT FROM renews_uuid AND NOT ${GRANTED}`,
  },
  {
    name: 'I1',
    fault: 'payment gave something to another user',
    sql: `SELECT p.id FROM payments AS p JOIN subscriptions AS s ON s.uuid = p.subscription_uuid
      WHERE s.tg_id <> p.tg_id`,
  },
  {
    name: 'I2',
    fault: 'subscription comes from a payment that is not paid',
    sql: `SELECT uuid FROM subscriptions AS s WHERE payment_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM payments AS p WHERE p.id = s.payment_id AND p.status = 'paid')`,
  },
  {
    name: 'I2',
    fault: 'payment is not paid, and something was given for it',
    sql: `SELECT id FROM payments WHERE status <> 'paid' AND subscription_uuid IS NOT NULL`,
  },
  {
    name: 'I3',
    fault: 'paid payment has no event',
    sql: `${RECENT} AND id NOT IN (SELECT ${paymentIn(engine, 'data')} FROM events
      WHERE event = 'payment.paid' AND ${paymentIn(engine, 'data')} IS NOT NULL)`,
  },
  {
    name: 'I3',
    fault: 'paid payment has no message',
    sql: `${RECENT} AND id NOT IN (SELECT ${paymentIn(engine, 'payload')} FROM outbox
      WHERE ${paymentIn(engine, 'payload')} IS NOT NULL)
      AND id NOT IN (SELECT object FROM audit_log WHERE action LIKE 'payment.%' AND detail LIKE 'tg_id=-%')`,
  },
  {
    name: 'I3',
    fault: 'payment has more than one event',
    sql: `SELECT ${paymentIn(engine, 'data')} FROM events WHERE event = 'payment.paid' GROUP BY 1 HAVING count(*) > 1`,
  },
  {
    name: 'I3',
    fault: 'payment has more than one message',
    sql: `SELECT ${paymentIn(engine, 'payload')} FROM outbox WHERE ${paymentIn(engine, 'payload')} IS NOT NULL
      GROUP BY 1 HAVING count(*) > 1`,
  },
  {
    name: 'I3',
    fault: 'paid payment is not in the audit log',
    sql: `${RECENT} AND id NOT IN (SELECT object FROM audit_log WHERE action LIKE 'payment.%')`,
  },
  {
    name: 'I6',
    fault: 'gift code was redeemed more than once',
    sql: `SELECT gift_code FROM subscriptions WHERE gift_code IS NOT NULL GROUP BY gift_code HAVING count(*) > 1`,
  },
  {
    name: 'I6',
    fault: 'gift code gave a subscription and does not count as used',
    sql: `SELECT code FROM gift_codes WHERE used_at IS NULL
      AND code IN (SELECT gift_code FROM subscriptions WHERE gift_code IS NOT NULL)`,
  },
  {
    name: 'I6',
    fault: 'gift code gave a subscription to another than who used it',
    sql: `SELECT code FROM gift_codes AS g JOIN subscriptions AS s ON s.gift_code = g.code
      WHERE s.tg_id <> g.used_by`,
  },
  {
    name: 'I6',
    fault: 'gift code has a time of use or a user, not both',
    sql: 'SELECT code FROM gift_codes WHERE (used_at IS NULL) <> (used_by IS NULL)',
  },
  {
    name: 'I7',
    fault: 'subscription is held and revoked',
    sql: 'SELECT uuid FROM subscriptions WHERE held_at IS NOT NULL AND active = 0',
  },
  {
    name: 'I7',
    fault: 'subscription was held after it had run out',
    sql: 'SELECT uuid FROM subscriptions WHERE held_at > expires_at',
  },
  {
    name: 'I7',
    fault: 'subscription was held or resumed twice in a row',
    sql: twiceInARow('subscription.hold', 'subscription.resume'),
  },
]

const STATE_QUESTIONS: Question[] = [
  {
    name: 'I7',
    fault: 'subscription is disabled and revoked',
    sql: 'SELECT uuid FROM subscriptions WHERE disabled_at IS NOT NULL AND active = 0',
  },
  {
    name: 'I13',
    fault: 'subscription waits for a first use, and has begun, or does not say how long it lasts',
    sql: `SELECT uuid FROM subscriptions WHERE start_by IS NOT NULL
      AND (started_at IS NOT NULL OR start_seconds IS NULL)`,
  },
  {
    name: 'I7',
    fault: 'subscription was disabled or enabled twice in a row',
    sql: twiceInARow('subscription.disable', 'subscription.enable'),
  },
]

const factsOf = (engine: Engine): Question[] =>
  falseFacts(engine).map(([table, sql]) => ({
    name: 'I9',
    fault: `row of ${table} is not what the other tables say`,
    sql,
  }))

const CUSTOMER_QUESTIONS: Question[] = [
  {
    name: 'I10',
    fault: 'user who came by Telegram has another Telegram id',
    sql: 'SELECT tg_id FROM users WHERE tg_id > 0 AND telegram_id IS DISTINCT FROM tg_id',
  },
  {
    name: 'I10',
    fault: 'number of a customer was not counted',
    sql: `SELECT tg_id FROM users WHERE tg_id < 0
      AND -tg_id > coalesce((SELECT last FROM sequences WHERE name = 'customers'), 0)`,
  },
  {
    name: 'I10',
    fault: 'link is the present one of a user and another one beside it',
    sql: 'SELECT tg_id FROM user_tokens WHERE token IN (SELECT token FROM users)',
  },
]

const TRAFFIC_QUESTIONS: Question[] = [
  {
    name: 'I1',
    fault: 'payment for traffic is without its pack or bytes, or one for access has them',
    sql: `SELECT id FROM payments WHERE (kind = 'traffic') <> (pack IS NOT NULL)
      OR (kind = 'traffic') <> (extra_bytes IS NOT NULL)`,
  },
  {
    name: 'I1',
    fault: 'payment for traffic gave a subscription',
    sql: `SELECT id FROM payments AS p WHERE kind = 'traffic' AND ${GRANTED}`,
  },
]

/** A client has one value on a core: restores refuse a database in which these do not hold. */
export const LOCAL_QUESTIONS: Question[] = [
  {
    name: 'I11',
    fault: 'group has two local nodes',
    sql: `SELECT group_code FROM node_group_nodes AS m JOIN nodes AS n ON n.code = m.node
      WHERE n.kind = 'local' GROUP BY group_code HAVING count(*) > 1`,
  },
  {
    name: 'I11',
    fault: 'subscription is on two local nodes',
    sql: `SELECT uuid FROM subscriptions AS s JOIN nodes AS home ON home.code = s.node AND home.kind = 'local'
      WHERE s.active = 1 AND s.node_group IN (SELECT m.group_code FROM node_group_nodes AS m
        JOIN nodes AS n ON n.code = m.node AND n.kind = 'local' WHERE n.code <> s.node)`,
  },
]

const GROUP_QUESTIONS: Question[] = [
  {
    name: 'I11',
    fault: 'group has a member that there is not, or there is no such group',
    sql: `SELECT group_code FROM node_group_nodes WHERE group_code NOT IN (SELECT code FROM node_groups)
      OR node NOT IN (SELECT code FROM nodes)`,
  },
  {
    name: 'I11',
    fault: 'plan is sold with a group that there is not',
    sql: `SELECT code FROM plans WHERE node_group IS NOT NULL
      AND node_group NOT IN (SELECT code FROM node_groups)`,
  },
  {
    name: 'I11',
    fault: 'host is of a node that there is not',
    sql: 'SELECT id FROM node_hosts WHERE node NOT IN (SELECT code FROM nodes)',
  },
  ...LOCAL_QUESTIONS,
]

const QUOTA_QUESTIONS: Question[] = [
  {
    name: 'I12',
    fault: 'subscription without a quota has something of one',
    sql: `SELECT uuid FROM subscriptions WHERE quota_bytes IS NULL AND (used_bytes <> 0 OR used_rest <> 0
      OR quota_notice <> 0 OR quota_period <> 'none' OR resets_at IS NOT NULL OR limited_at IS NOT NULL)`,
  },
  {
    name: 'I12',
    fault: 'subscription is limited and has traffic left, or the other way round',
    sql: `SELECT uuid FROM subscriptions WHERE quota_bytes IS NOT NULL
      AND (limited_at IS NOT NULL) <> (used_bytes >= quota_bytes + extra_bytes)`,
  },
  {
    name: 'I12',
    fault: 'subscription with a quota has no period and a next one, or the other way round',
    sql: `SELECT uuid FROM subscriptions WHERE quota_bytes IS NOT NULL AND (quota_period = 'none') <> (resets_at IS NULL)`,
  },
]

/** Those that hold of databases of former versions too. */
export const lastingQuestions = soldOf

/** All that hold of a database in the form of this program. */
export const questionsOf = (engine: Engine): Question[] => [
  ...soldOf(engine),
  ...TRAFFIC_QUESTIONS,
  ...STATE_QUESTIONS,
  ...CUSTOMER_QUESTIONS,
  ...GROUP_QUESTIONS,
  ...QUOTA_QUESTIONS,
  ...factsOf(engine),
]

/** How many rows are named for each question. */
export const MOST_NAMED = 20

/** The lines of a question whose answer has these keys, one more than are named where there are more. */
export function linesOf({ name, fault }: Question, keys: unknown[]): string[] {
  const lines = keys.slice(0, MOST_NAMED).map((key) => `${name} ${fault}: ${key}`)
  return keys.length > MOST_NAMED ? [...lines, `${name} ${fault}: and more`] : lines
}
