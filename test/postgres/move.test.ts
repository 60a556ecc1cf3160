/** A shop goes from SQLite to PostgreSQL and back: each row the same, or nothing at all. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { storeAt } from '#db/engine/open.ts'
import { compareRows } from '#db/engine/postgres/compare.ts'
import { tablesOf as ourTables } from '#db/engine/postgres/copy.ts'
import { moveToFile, moveToServer } from '#db/engine/postgres/move.ts'
import { withConnection } from '#db/engine/sqlite/snapshot.ts'
import type { Store } from '#db/engine/store.ts'
import { FULL_INSTANCE, makeFullFile } from '#test/support/rows/full-file.ts'
import {
  createDatabase,
  createEmptyDatabase,
  dropDatabase,
  onDatabase,
} from '#test/support/worlds/postgres-databases.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const OWN = ['__drizzle_migrations', 'revisions', 'leases']

let folder: string
let path: string
let url: string
let server: Store

/** What the file of a shop that was moved at NOW is named. */
const leftOf = () => `${path}.moved-20260301T120000`
const stateOf = (databasePath: string) =>
  storeAt({ databasePath, databaseUrl: null }).then((store) => store.state())

const moving = (isTrial = false) => ({ isTrial, told: vi.fn() })

const tablesOf = (file: string) =>
  withConnection(
    file,
    (raw) =>
      raw
        .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'")
        .pluck()
        .all() as string[],
  ).filter((name) => !OWN.includes(name))

/** All rows of a file, by table. */
const rowsOf = (file: string) =>
  Object.fromEntries(
    tablesOf(file).map((table) => [
      table,
      withConnection(file, (raw) => {
        const columns = raw.prepare('select name from pragma_table_info(?) order by name').pluck()
        const names = columns.all(table).map((name) => `"${name}"`)
        return raw.prepare(`select ${names} from "${table}" order by ${names}`).raw().all()
      }),
    ]),
  )

const schemaOf = (file: string) =>
  withConnection(file, (raw) => raw.prepare('select name, sql from sqlite_schema order by 1').all())

const tablesThere = () =>
  onDatabase(url, async (client) => {
    const { rows } = await client.query(
      "select count(*) as n from pg_class where relnamespace = 'public'::regnamespace",
    )
    return rows[0].n
  })

/** The indexes and rules of a database. */
const formOf = (database: string) =>
  onDatabase(database, async (client) => {
    const { rows } = await client.query(
      `select indexdef as text from pg_indexes where schemaname = 'public' union all
       select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated
       from pg_constraint where connamespace = 'public'::regnamespace order by 1`,
    )
    return rows.map(({ text }) => text)
  })

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-move-'))
  path = join(folder, 'panel.db')
  await makeFullFile(path)
  url = await createEmptyDatabase()
  server = await storeAt({ databasePath: '', databaseUrl: url })
})
afterEach(async () => {
  rmSync(folder, { recursive: true })
  await dropDatabase(url)
})

test('there and back: a row of every table is the same, and the file is one of ours again', async () => {
  const there = moving()
  const before = rowsOf(path)
  const form = schemaOf(path)
  expect(await moveToServer(path, url, NOW, there)).toBe(leftOf())
  const told = there.told.mock.calls as [string, number][]
  expect(told.map(([table]) => table).sort()).toEqual(tablesOf(leftOf()).sort())
  // Attempts to log in, and the pages' days, may be none.
  expect(told.filter(([, rows]) => rows > 0).length).toBeGreaterThan(30)
  expect(await server.read('instance_id')).toBe(FULL_INSTANCE)
  expect(await server.faults('2026-01-01T00:00:00')).toEqual([])
  const made = await createDatabase()
  expect(await formOf(url)).toEqual(await formOf(made))
  await dropDatabase(made)
  const back = join(folder, 'back.db')
  await moveToFile(url, back, NOW, moving())
  expect(rowsOf(back)).toEqual(before)
  expect(schemaOf(back)).toEqual(form)
  expect(rowsOf(leftOf())).toEqual(before)
  expect(existsSync(`${back}.moving`)).toBe(false)
})

test('a file whose shop has gone is there under another name, whole, and what comes back takes its place', async () => {
  // As a process that was killed leaves it: its last row is in the write-ahead log alone.
  const service = new Sqlite(path)
  service.pragma('journal_mode = WAL')
  service.exec("update users set note = 'the last' where tg_id = 7")
  const killed = join(folder, 'killed')
  mkdirSync(killed)
  for (const part of ['', '-wal', '-shm'])
    copyFileSync(path + part, join(killed, `panel.db${part}`))
  service.close()
  path = join(killed, 'panel.db')
  expect(await stateOf(path)).toBe('there')
  await moveToServer(path, url, NOW, moving(true))
  expect(await stateOf(path)).toBe('there')
  await moveToServer(path, url, NOW, moving())
  expect(await stateOf(path)).toBe('moved')
  expect(readdirSync(killed)).toEqual(['panel.db.moved-20260301T120000'])
  const note = "select note from users where note = 'the last'"
  expect(withConnection(leftOf(), (raw) => raw.prepare(note).all())).toHaveLength(1)
  await moveToFile(url, path, NOW, moving())
  expect(await stateOf(path)).toBe('there')
  expect(rowsOf(path)).toEqual(rowsOf(leftOf()))
})

test('a file that can not be renamed is said to be in the way', async () => {
  mkdirSync(leftOf())
  await expect(moveToServer(path, url, NOW, moving())).rejects.toThrow(
    /^the server has the whole shop, but its file can not be renamed \(EISDIR.+\): move .+panel\.db away yourself/,
  )
  expect(await server.read('instance_id')).toBe(FULL_INSTANCE)
  expect(await stateOf(path)).toBe('there')
})

test('the numbers of rows go on behind the highest that was ever given', async () => {
  withConnection(path, (raw) =>
    raw.exec("update sqlite_sequence set seq = 900 where name = 'outbox'"),
  )
  await moveToServer(path, url, NOW, moving())
  const next = await onDatabase(url, async (client) => {
    const { rows } = await client.query(
      `insert into outbox (tg_id, kind, payload, next_try_at, created_at) values (7, 'alert', '{}', '', '') returning id`,
    )
    return rows[0].id
  })
  expect(next).toBe(901)
  await onDatabase(url, (client) => client.query('delete from outbox'))
  const back = join(folder, 'back.db')
  await moveToFile(url, back, NOW, moving())
  const last = "select seq from sqlite_sequence where name = 'outbox'"
  expect(withConnection(back, (raw) => raw.prepare(last).pluck().get())).toBe(901)
})

test('texts with NUL have a sign in its place', async () => {
  withConnection(path, (raw) =>
    raw.prepare('update users set note = ? where tg_id = 7').run('a\0b'),
  )
  await moveToServer(path, url, NOW, moving())
  const rows = await onDatabase(url, (client) =>
    client.query('select note from users where tg_id = 7'),
  )
  expect(rows.rows).toEqual([{ note: 'a\u{fffd}b' }])
})

test('a trial keeps nothing', async () => {
  const trial = moving(true)
  await moveToServer(path, url, NOW, trial)
  expect(trial.told).toHaveBeenCalled()
  expect(await tablesThere()).toBe(0)
  await moveToServer(path, url, NOW, moving())
  const back = join(folder, 'back.db')
  await moveToFile(url, back, NOW, moving(true))
  expect([existsSync(back), existsSync(`${back}.moving`)]).toEqual([false, false])
})

test('a service that runs is not moved, whichever of its processes', async () => {
  const web = new Sqlite(path)
  web.prepare('select 1 from users').get()
  await expect(moveToServer(path, url, NOW, moving())).rejects.toThrow(/the service is running/)
  expect(await tablesThere()).toBe(0)
  web.close()
  await moveToServer(path, url, NOW, moving())
  const back = join(folder, 'back.db')
  const refused = () =>
    expect(moveToFile(url, back, NOW, moving())).rejects.toThrow(/the service is running/)
  const process = await server.connect()
  await refused()
  process.close()
  await onDatabase(url, (client) =>
    client.query("insert into leases values ('scheduler', 'x', 1, 1772366400001)"),
  )
  await vi.waitFor(refused)
  expect([existsSync(back), existsSync(`${back}.moving`)]).toEqual([false, false])
  const later = new Date(NOW.getTime() + 10)
  await vi.waitFor(() => moveToFile(url, back, later, moving()), 5000)
  expect(existsSync(back)).toBe(true)
})

test('nothing that SQLite would take for a part of the new file may be there', async () => {
  await moveToServer(path, url, NOW, moving())
  const back = join(folder, 'back.db')
  writeFileSync(`${back}-wal`, 'of another file')
  await expect(moveToFile(url, back, NOW, moving())).rejects.toThrow('back.db-wal is there already')
})

test('tables of others stay where they are', async () => {
  await moveToServer(path, url, NOW, moving())
  await onDatabase(url, (client) => client.query('create table notes (id int)'))
  const back = join(folder, 'back.db')
  await moveToFile(url, back, NOW, moving())
  expect(rowsOf(back)).toEqual(rowsOf(leftOf()))
})

test('where a shop is already, none is moved to', async () => {
  await moveToServer(path, url, NOW, moving())
  renameSync(leftOf(), path)
  await expect(moveToServer(path, url, NOW, moving())).rejects.toThrow(
    /has a shop already: make a new database$/,
  )
  expect(await stateOf(path)).toBe('there')
})

test('nobody opens the file meanwhile', async () => {
  const told = vi.fn(() => {
    const other = new Sqlite(path, { timeout: 0 })
    expect(() => other.exec("update users set note = 'x'")).toThrow(/locked/)
    other.close()
  })
  await moveToServer(path, url, NOW, { isTrial: false, told })
  expect(told).toHaveBeenCalled()
})

test.each([
  ['another value', "update users set note = 'other' where tg_id = 7", 'users', 1],
  ['null for empty', "update outbox set error = ''", 'outbox', 1],
  ['one more', "insert into known_hosts values ('z.test', 22, 'k', 'AAAA', '')", 'known_hosts', 1],
  ['one less', 'delete from known_hosts', 'known_hosts', 1],
])('what is not the same is found: %s', async (_name, sql, table, rows) => {
  await moveToServer(path, url, NOW, moving())
  await onDatabase(url, (client) => client.query(sql))
  const raw = new Sqlite(leftOf(), { readonly: true })
  const unequal = await onDatabase(url, async (client) => {
    await client.query('begin')
    return compareRows(client, raw, await ourTables(client, new Set(OWN)))
  })
  raw.close()
  expect(unequal).toContainEqual({ table, rows })
})
