/**
 * A process that grants payments as fast as it is told, straight into a database: `payment-writer.ts DATABASE PER_SECOND`. Each grant
 * is one transaction over five tables, so that a copy that is not of one moment breaks an invariant. Says its count every second.
 */
import Sqlite from 'better-sqlite3'

const [path = '', perSecond = '500'] = process.argv.slice(2)
const db = new Sqlite(path, { timeout: 10_000 })
db.pragma('synchronous = FULL')
const at = new Date().toISOString().slice(0, 19)
const statements = [
  "insert into users (tg_id, token, created_at) values (@id, 'w' || @id, @at)",
  "insert into payments (id, tg_id, node, plan, provider, status, amount, currency, days, created_at, paid_at, source) values (@key, @id, 'de1', '1m', 'provider_a', 'paid', 199, 'RUB', 30, @at, @at, 'bot')",
  "insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, payment_id, created_at) values ('s' || @key, @id, 'de1', '1m', '2099-01-01T00:00:00', 'payment', @key, @at)",
  "insert into events (id, event, data, status, created_at) values (@key, 'payment.paid', json_object('payment_id', @key), 'done', @at)",
  "insert into outbox (tg_id, kind, payload, status, next_try_at, created_at) values (@id, 'payment', json_object('payment_id', @key), 'done', @at, @at)",
  "insert into audit_log (at, ip, action, object) values (@at, 'bot', 'payment.paid', @key)",
].map((sql) => db.prepare(sql))

let count = 0
const grant = db.transaction((id: number) => {
  for (const statement of statements) statement.run({ id, key: `p${id}`, at })
})

const base = 1_000_000_000 + process.pid * 1_000_000
const began = performance.now()
const tick = () => {
  const due = Math.floor(((performance.now() - began) / 1000) * Number(perSecond))
  // Never a burst of more than a few: others want to write too.
  for (let i = 0; i < 5 && count < due; i++) grant.immediate(base + ++count)
  setTimeout(tick, 1)
}
tick()
setInterval(
  () => console.log(`granted ${count} in ${Math.round(performance.now() - began)} ms`),
  1000,
)
process.on('SIGTERM', () => {
  console.log(`granted ${count} in ${Math.round(performance.now() - began)} ms`)
  process.exit(0)
})
