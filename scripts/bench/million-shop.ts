/**
 * A large old shop: of its customers the oldest third has left, the newest never bought; with payments, gift codes, events and an
 * audit log as long as the list of users.
 */
import Sqlite from 'better-sqlite3'
import { rebuildFacts } from '#db/engine/sqlite/facts.ts'
import { keptDatabase, seededDatabase } from './seed.ts'

type Driver = Sqlite.Database

/** Customers who left: all that they had ran out, at one time or another in the last 300 days. */
const LEAVE = `UPDATE subscriptions SET active = 1, held_at = NULL, revoked_at = NULL,
    expires_at = strftime('%Y-%m-%dT%H:%M:%S', 'now', '-' || (1 + tg_id % 300) || ' days', '-' || (tg_id % 86400) || ' seconds')
  WHERE tg_id IN (SELECT tg_id FROM users ORDER BY created_at LIMIT :users * 3 / 10)`

/** Customers who came and looked. */
const NEVER_BUY = `DELETE FROM subscriptions
  WHERE tg_id IN (SELECT tg_id FROM users ORDER BY created_at DESC LIMIT :users / 20)`

const BAN = `UPDATE users SET banned_at = created_at WHERE tg_id % 1000 = 7`

/** One payment for each user: nine of ten paid, some pending, some to be looked at. */
const PAY = `INSERT INTO payments (id, tg_id, node, plan, provider, external_id, status, amount, currency, days, created_at, paid_at,
    source, review_reason)
  SELECT format('%08x-0000-4000-8000-%012x', n, n), tg_id, node, plan, 'provider_b', 'gw-' || n, status, 199, 'RUB', 30, created_at,
    CASE status WHEN 'paid' THEN created_at END, 'bot', CASE WHEN n % 5000 = 1 THEN 'amount differs' END
  FROM (SELECT tg_id, node, plan, created_at, rowid AS n,
      CASE WHEN rowid % 10 = 0 THEN 'failed' WHEN rowid % 1000 = 1 THEN 'pending' ELSE 'paid' END AS status
    FROM subscriptions WHERE rowid % 3 = 1 LIMIT :users)`

const COUNT = 'WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < :users)'
const ago = (days: string) => `strftime('%Y-%m-%dT%H:%M:%S', 'now', '-' || (${days}) || ' days')`

const GIVE = `${COUNT} INSERT INTO gift_codes (code, node, plan, created_at, used_at, used_by)
  SELECT format('G%012d', n * 7919 % 1000000007), 'de1', '1m', ${ago('n % 365')}, CASE WHEN n % 4 < 3 THEN ${ago('1')} END,
    CASE WHEN n % 4 < 3 THEN 10000000 + n END
  FROM c WHERE n <= :users / 5`

const TELL = `${COUNT} INSERT INTO events (id, event, data, status, attempts, created_at)
  SELECT format('%032x', n), 'payment.paid', '{"payment_id":"' || n || '"}', 'done', 1, ${ago('n % 90')} FROM c`

const AUDIT = `${COUNT} INSERT INTO audit_log (at, admin, ip, action, object)
  SELECT ${ago('365 - n * 365.0 / :users')}, CASE WHEN n % 50 = 0 THEN 'admin' END, '10.0.0.' || (n % 250),
    CASE WHEN n % 50 = 0 THEN 'login' ELSE 'payment.paid' END, 'o' || n
  FROM c`

/** Makes the seeded shop an old one. */
function age(raw: Driver, users: number): void {
  raw.pragma('synchronous = OFF')
  raw.pragma('cache_size = -1000000')
  raw.pragma('foreign_keys = OFF')
  const tables = "'subscriptions', 'payments', 'gift_codes', 'events', 'audit_log', 'users'"
  const later = raw
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema WHERE tbl_name IN (${tables})
       AND (type = 'trigger' OR type = 'index' AND sql LIKE 'CREATE INDEX%')`,
    )
    .all() as { type: string; name: string; sql: string }[]
  raw.exec('BEGIN')
  for (const { type, name } of later) raw.exec(`DROP ${type} ${name}`)
  for (const sql of [LEAVE, NEVER_BUY, BAN, PAY, GIVE, TELL, AUDIT]) {
    const statement = raw.prepare(sql)
    if (sql.includes(':users')) statement.run({ users })
    else statement.run()
  }
  for (const { type, sql } of later) if (type === 'index') raw.exec(sql)
  rebuildFacts(raw)
  raw.exec('COMMIT')
  raw.pragma('wal_checkpoint(TRUNCATE)')
}

/** The path of the old shop's database with this many users, made now unless an earlier run left it. */
export const millionShop = (users: number): Promise<string> =>
  keptDatabase(`million-${users}`, [import.meta.filename], async (path) => {
    await seededDatabase(users, path)
    const raw = new Sqlite(path)
    age(raw, users)
    raw.close()
  })
