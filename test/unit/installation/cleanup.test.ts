import { expect, test } from 'vitest'
import { cleanUp } from '#src/domain/installation/cleanup.ts'
import { DAY_MS, formatTimestamp, MINUTE_MS } from '#src/lib/time.ts'
import { createWorld, PASSWORD, type World } from '#test/support/worlds/world.ts'

const count = (w: World, table: string, where = '1 = 1') =>
  w.rows(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)[0].n

/** Not the session of the world's own admin, which has no end. */
const LIMITED = "expires_at < '9999'"

/** A timestamp so many days before the world's now, and a second more or less. */
const ago = (w: World, days: number, seconds = 0) =>
  formatTimestamp(new Date(w.clock.now().getTime() - days * DAY_MS - seconds * 1000))

test.each([
  [
    'events',
    90,
    "INSERT INTO events (id, event, data, created_at) VALUES (hex(randomblob(8)), 'x', '{}', ?)",
  ],
  [
    'outbox',
    30,
    "INSERT INTO outbox (tg_id, kind, payload, next_try_at, created_at, done_at) VALUES (1, 'x', '{}', '', '', ?)",
  ],
  ['audit_log', 365, "INSERT INTO audit_log (at, ip, action) VALUES (?, '', 'x')"],
  ['login_attempts', 1, "INSERT INTO login_attempts (ip, kind, at) VALUES ('x', 'password', ?)"],
])('%s older than %i days go, younger ones stay', async (table, days, insert) => {
  const w = await createWorld()
  w.changeMany(insert, [[ago(w, days, 1)], [ago(w, days, -1)]])
  await cleanUp(w.s)
  expect(count(w, table)).toBe(1)
  w.close()
})

test('traffic samples are kept for 400 days', async () => {
  const w = await createWorld()
  w.changeMany("INSERT INTO traffic_samples (node, day, up, down) VALUES ('de1', ?, 1, 1)", [
    [ago(w, 400).slice(0, 10)],
    [ago(w, 399).slice(0, 10)],
  ])
  await cleanUp(w.s)
  expect(count(w, 'traffic_samples')).toBe(1)
  w.close()
})

test('unsent messages stay, however old', async () => {
  const w = await createWorld()
  w.change(
    "INSERT INTO outbox (tg_id, kind, payload, next_try_at, created_at) VALUES (1, 'x', '{}', '', ?)",
    ago(w, 1000),
  )
  await cleanUp(w.s)
  expect(count(w, 'outbox')).toBe(1)
  w.close()
})

test('thousands of old rows go in batches until none is left', async () => {
  const w = await createWorld()
  const old = Array.from({ length: 1500 }, () => [ago(w, 366)])
  w.changeMany("INSERT INTO audit_log (at, ip, action) VALUES (?, '', 'x')", old)
  await cleanUp(w.s)
  expect(count(w, 'audit_log')).toBe(0)
  w.close()
})

test('sessions and pending logins end at their time', async () => {
  const w = await createWorld()
  await w.call('/admin/api/login', { body: { username: 'admin', password: PASSWORD } })
  w.changeMany('INSERT INTO pending_logins (token, admin_id, expires_at) VALUES (?, 1, ?)', [
    ['a', formatTimestamp(w.clock.now())],
    ['b', formatTimestamp(new Date(w.clock.now().getTime() + MINUTE_MS))],
  ])
  await cleanUp(w.s)
  expect([count(w, 'admin_sessions', LIMITED), count(w, 'pending_logins')]).toEqual([1, 1])
  w.clock.advance(7 * DAY_MS)
  await cleanUp(w.s)
  expect([count(w, 'admin_sessions', LIMITED), count(w, 'pending_logins')]).toEqual([0, 0])
  w.close()
})
