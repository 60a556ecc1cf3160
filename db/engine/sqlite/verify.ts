/** What must hold of a database whatever happened to it, as questions that name the rows for which it does not. */
import type { Database as Driver } from 'better-sqlite3'
import { FALSE_FACTS } from './facts.ts'
import { isPresentForm } from './migrate.ts'

interface Question {
  /** The invariant, by its number in docs/reliability.md. */
  name: string
  /** What is wrong with a row that is found. */
  fault: string
  /** Gives the keys of such rows; `:since` is the oldest moment whose messages and events are all kept. */
  sql: string
}

const GRANTED = 'EXISTS (SELECT 1 FROM subscriptions AS s WHERE s.payment_id = p.id)'
/** Of a deleted user nothing is left to compare with. */
const RECENT = `SELECT id FROM payments AS p WHERE status = 'paid' AND deleted_user = 0 AND paid_at > :since`

const QUESTIONS: Question[] = [
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
      AND subscription_uuid IS NOT NULL AND subscription_uuid IS NOT renews_uuid AND NOT ${GRANTED}`,
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
    sql: `${RECENT} AND id NOT IN (SELECT data ->> '$.payment_id' FROM events
      WHERE event = 'payment.paid' AND data ->> '$.payment_id' IS NOT NULL)`,
  },
  {
    name: 'I3',
    fault: 'paid payment has no message',
    sql: `${RECENT} AND id NOT IN (SELECT payload ->> '$.payment_id' FROM outbox
      WHERE payload ->> '$.payment_id' IS NOT NULL)
      AND id NOT IN (SELECT object FROM audit_log WHERE action LIKE 'payment.%' AND detail LIKE 'tg_id=-%')`,
  },
  {
    name: 'I3',
    fault: 'payment has more than one event',
    sql: `SELECT data ->> '$.payment_id' FROM events WHERE event = 'payment.paid' GROUP BY 1 HAVING count(*) > 1`,
  },
  {
    name: 'I3',
    fault: 'payment has more than one message',
    sql: `SELECT payload ->> '$.payment_id' AS payment FROM outbox WHERE payment IS NOT NULL GROUP BY 1 HAVING count(*) > 1`,
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
    sql: `SELECT DISTINCT object FROM (SELECT object, action,
        lag(action) OVER (PARTITION BY object ORDER BY id) AS before FROM audit_log
        WHERE action IN ('subscription.hold', 'subscription.resume')) WHERE action = before`,
  },
]

const FACT_QUESTIONS: Question[] = FALSE_FACTS.map(([table, sql]) => ({
  name: 'I9',
  fault: `row of ${table} is not what the other tables say`,
  sql,
}))

const CUSTOMER_QUESTIONS: Question[] = [
  {
    name: 'I10',
    fault: 'user who came by Telegram has another Telegram id',
    sql: 'SELECT tg_id FROM users WHERE tg_id > 0 AND telegram_id IS NOT tg_id',
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

const MAX_ROWS = 20

/** The lines of one question: each row that is at fault, at most twenty. */
function ask(raw: Driver, { name, fault, sql }: Question, since: string): string[] {
  const statement = raw.prepare(`SELECT * FROM (${sql}) LIMIT ${MAX_ROWS + 1}`).pluck()
  const keys = (sql.includes(':since') ? statement.all({ since }) : statement.all()) as string[]
  const lines = keys.slice(0, MAX_ROWS).map((key) => `${name} ${fault}: ${key}`)
  return keys.length > MAX_ROWS ? [...lines, `${name} ${fault}: and more`] : lines
}

function checkFile(raw: Driver): string[] {
  const found = (raw.pragma('integrity_check(20)') as { integrity_check: string }[])
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok')
  const dangling = raw.pragma('foreign_key_check') as {
    table: string
    rowid: number
    parent: string
  }[]
  return [
    ...found.map((line) => `I8 the file is damaged: ${line}`),
    ...dangling
      .slice(0, MAX_ROWS)
      .map((row) => `I8 row points nowhere: ${row.table} ${row.rowid}, to ${row.parent}`),
  ]
}

/** A line for every row that breaks an invariant, all as of one moment; none when all is well. */
export function findFaults(raw: Driver, since: string): string[] {
  raw.exec('BEGIN')
  try {
    const questions = isPresentForm(raw)
      ? [...QUESTIONS, ...CUSTOMER_QUESTIONS, ...FACT_QUESTIONS]
      : QUESTIONS
    return [...checkFile(raw), ...questions.flatMap((question) => ask(raw, question, since))]
  } finally {
    raw.exec('COMMIT')
  }
}
