/** A process killed while it sets up or migrates: the next start goes on as if nothing had been. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrate, migrationNumbers } from '#db/engine/sqlite/migrate.ts'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import { nextVersion } from '#test/support/drivers/next-version.ts'
import { type Area, findProgram, PLAIN, RUNTIMES } from '#test/support/drivers/process.ts'
import { fillUsers, useAreas, verdict } from '#test/support/drivers/torture.ts'

const area = useAreas()
const USERS = 2000

/** A migration that changes every user. */
const NEXT = [
  'ALTER TABLE `users` ADD `test_mark` text',
  "UPDATE `users` SET `test_mark` = 'migrated ' || `tg_id`",
  'CREATE TABLE `test_copy` (`tg_id` integer PRIMARY KEY, `text` text NOT NULL)',
  'INSERT INTO `test_copy` SELECT `tg_id`, hex(randomblob(200)) FROM `users`',
]

/** Kills the process at its n-th call of one of these. */
const killAt = (calls: string, nth: number) => [
  findProgram('strace'),
  ...['-D', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`],
  ...['-e', `inject=${calls}:signal=SIGKILL:when=${nth}`],
]

const once = async (a: Area, options: Parameters<Area['startServer']>[0]) =>
  expect(await (await a.startServer(options)).stop()).toEqual({ code: 0, signal: null })

test('a first start killed anywhere is completed by the next one', async () => {
  let killed = 0
  for (const [round, nth] of [1, 2, 4, 7, 11, 16, 24, 40, 70, 95, 110, 125, 140].entries()) {
    const runtime = RUNTIMES[round % 2] ?? 'node'
    const a = area({ LOCAL_NODE: 'off' })
    const calls =
      round % 3 === 2 ? 'fsync,fdatasync,rename' : 'pwrite64,write,fsync,fdatasync,rename'
    const cut = await a
      .startServer({ runtime, through: killAt(calls, nth) })
      .then((server) => server.kill())
      .catch(() => null)
    if (cut === null) killed++
    await once(a, { runtime })
    const count = (table: string) => a.query<{ n: number }>(`select count(*) n from ${table}`)[0]?.n
    expect([nth, ...['admins', 'plans', 'nodes', 'management_key'].map(count)]).toEqual([
      nth,
      1,
      4,
      1,
      1,
    ])
    const [row] = a.query<{ value: string }>('select instance_id value from instance')
    expect(readFileSync(a.envFile, 'utf8')).toContain(`INSTANCE_ID=${row?.value}\n`)
    expect(verdict(a.database)).toBe('ok')
    await a.close()
  }
  console.log(`first starts killed: ${killed}`)
  expect(killed).toBeGreaterThan(6)
})

test('a migration killed anywhere is done by the next start, behind a snapshot; an older program refuses', async () => {
  let killed = 0
  for (const [round, nth] of [1, 10, 60, 120, 240, 300, 400, 480].entries()) {
    const runtime = RUNTIMES[round % 2] ?? 'node'
    const a = area(PLAIN)
    await once(a, { runtime })
    fillUsers(a, USERS)
    const root = nextVersion(a, { migrations: NEXT })
    const cut = await a
      .startServer({ runtime, root, through: killAt('pwrite64', nth) })
      .then((server) => server.kill())
      .catch(() => null)
    if (cut === null) killed++
    await once(a, { runtime, root })
    expect(a.query("select count(*) n from users where test_mark = 'migrated ' || tg_id")).toEqual([
      { n: USERS },
    ])
    expect(a.query('select count(*) n from test_copy')).toEqual([{ n: USERS }])
    expect(a.query('select count(*) n from __drizzle_migrations')).toEqual([
      { n: migrationNumbers().length + 1 },
    ])
    expect(verdict(a.database)).toBe('ok')

    const folder = join(a.dir, 'data/snapshots')
    const names = readdirSync(folder)
    expect(names).toEqual([expect.stringMatching(/^before-migration-from-\d+-\d{8}T\d{6}\.db$/)])
    const copy = join(folder, names[0] as string)
    expect((statSync(copy).mode & 0o777).toString(8)).toBe('600')
    expect(verdict(copy)).toBe('ok')
    const snapshot = new Sqlite(copy, { readonly: true })
    expect(snapshot.prepare('select count(*) n from users').get()).toEqual({ n: USERS })
    expect(() => snapshot.prepare('select test_mark from users')).toThrow()
    snapshot.close()

    const refused = await a.run({ runtime, env: { PORT: '0' } })
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringMatching(/^subpanel: .+newer version of Subpanel: update the program\n$/),
    ])
    await a.close()
  }
  console.log(`migrations killed: ${killed}`)
  expect(killed).toBeGreaterThan(4)
})

test('the database of another program is left alone', async () => {
  const a = area(PLAIN)
  const path = join(a.dir, 'other.db')
  const other = new Sqlite(path)
  other.exec('create table things (a); insert into things values (1)')
  other.close()
  const before = readFileSync(path)
  const { code, output } = await a.run({ env: { PORT: '0', DATABASE_URL: `file:${path}` } })
  expect([code, output]).toEqual([1, expect.stringMatching(/^subpanel: .+another program\n$/)])
  expect(readFileSync(path).equals(before)).toBe(true)
})

test.each([
  ['of customers who were known by their Telegram id alone', 13],
  ['of nodes without groups', 19],
])('a file of 100,000 users with 300,000 subscriptions, %s, is migrated within 30 s', (_, last) => {
  const path = join(area().dir, 'panel.db')
  const raw = new Sqlite(path)
  raw.pragma('synchronous = OFF')
  migrate(raw, migrationNumbers()[last])
  const [column, value] = last === 13 ? ['', ''] : ['telegram_id,', 'i,']
  raw.exec(`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      INSERT INTO users (tg_id, ${column} username, token, created_at) SELECT i, ${value} 'user' || i, 'token' || i, '2026-01-01T00:00:00' FROM n;
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299999)
      INSERT INTO subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at)
        SELECT printf('00000000-0000-4000-8000-%012d', i), i % 100000 + 1, 'de1', '1m', '2099-01-01T00:00:00', 'admin', '2026-01-01T00:00:00' FROM n`)
  raw.close()
  const startedAt = performance.now()
  const db = openDatabase(path, { now: new Date('2026-01-01T00:00:00Z') })
  const seconds = (performance.now() - startedAt) / 1000
  console.log(`300,000 subscriptions migrated from ${last} in ${seconds.toFixed(1)} s`)
  expect(seconds).toBeLessThan(30)
  expect(statSync(`${path}-wal`).size).toBe(0)
  const wrong = db.raw.prepare(
    "select count(*) from users where telegram_id is not tg_id or name is not null or tags <> '[]'",
  )
  expect(wrong.pluck().get()).toBe(0)
  const grouped = db.raw.prepare('select count(*) from subscriptions where node_group is not null')
  expect(grouped.pluck().get()).toBe(0)
  db.close()
})
