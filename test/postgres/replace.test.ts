/** The whole of a database is replaced, as a restore does, while others read and write. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ask, type Nothing, type Query, run } from '#db/engine/database.ts'
import { isBusy } from '#db/engine/failures.ts'
import { storeAt } from '#db/engine/open.ts'
import type { PostgresDatabase } from '#db/engine/postgres/handle.ts'
import { writtenValues } from '#db/engine/question.ts'
import { withConnection } from '#db/engine/sqlite/snapshot.ts'
import type { Store } from '#db/engine/store.ts'
import { botState, events, settings } from '#db/schema/index.ts'
import { listSettings, putSetting } from '#db/settings.ts'
import { pause } from '#src/lib/pause.ts'
import { createDatabase, dropDatabase } from '#test/support/worlds/postgres-databases.ts'

const finish = async () => {}
/** As a transaction that takes long. */
const SLEEP = writtenValues<Nothing, string>('select pg_sleep(2)::text')

/** Of a table with one row: -1 until the server has looked. */
const COUNTED = writtenValues<Nothing, string>(
  "select reltuples::text from pg_class where oid = 'settings'::regclass",
)

let url: string
let store: Store
let db: PostgresDatabase
let folder: string

const brandIn = (rows: readonly { key: string; value: string }[]) =>
  rows.find(({ key }) => key === 'BRAND_NAME')?.value
const brand = async () => brandIn(await db.read((q) => run(q.select().from(settings))))
const put = (value: string) => db.tx((tx) => putSetting(tx, 'BRAND_NAME', value))
const changeTo = (value: string) => (path: string) =>
  withConnection(path, (raw) =>
    raw.prepare("update settings set value = ? where key = 'BRAND_NAME'").run(value),
  )

beforeEach(async () => {
  url = await createDatabase()
  store = await storeAt({ databasePath: '', databaseUrl: url })
  db = (await store.connect()) as PostgresDatabase
  folder = mkdtempSync(join(tmpdir(), 'subpanel-replace-'))
  await put('before')
})
afterEach(async () => {
  await db.close()
  rmSync(folder, { recursive: true })
  await dropDatabase(url)
})

test('what the file has then is what the server has, and processes know', async () => {
  const revision = db.revision()
  const finished = vi.fn(async () => expect(await brand()).toBe('after'))
  const { changes } = await store.replace(folder, changeTo('after'), finished)
  expect(changes).toBe(1)
  expect(finished).toHaveBeenCalledOnce()
  // By the notice, without being asked.
  await vi.waitFor(() => expect(brandIn(listSettings(db))).toBe('after'), 900)
  expect(db.revision()).toBeGreaterThan(revision)
  expect(await store.faults('2026-01-01T00:00:00')).toEqual([])
  expect(await db.read(() => ask(COUNTED, {}))).toEqual(['1'])
})

test('a change that fails leaves all as it was, and the next one is done', async () => {
  const failing = store.replace(
    folder,
    (path) => {
      changeTo('half')(path)
      throw new TypeError('as it is')
    },
    finish,
  )
  await expect(failing).rejects.toThrow(new TypeError('as it is'))
  expect(await brand()).toBe('before')
  rmSync(join(folder, 'live.db'))
  await store.replace(folder, changeTo('after'), finish)
  expect(await brand()).toBe('after')
})

test('triggers count again afterwards', async () => {
  await store.replace(folder, changeTo('after'), finish)
  const revision = db.revision()
  await put('later')
  expect(db.revision()).toBeGreaterThan(revision)
})

test('what is of the machine and of the moment stays', async () => {
  await db.tx(function* (tx) {
    yield* run(tx.insert(botState).values({ id: 1, wantedGeneration: 7 }))
  })
  const change = (path: string) =>
    withConnection(path, (raw) => raw.prepare('select count(*) from bot_state').pluck().get())
  expect(await store.replace(folder, change, finish)).toBe(0)
  const rows = await db.read((q) => run(q.select().from(botState)))
  expect(rows).toMatchObject([{ wantedGeneration: 7 }])
})

test('two changes at once are one after the other', async () => {
  const other = mkdtempSync(join(tmpdir(), 'subpanel-replace-'))
  let inside = 0
  const alone = async () => {
    inside++
    await pause(100)
    expect(inside).toBe(1)
    inside--
  }
  const add = (path: string) =>
    withConnection(path, (raw) =>
      raw.exec("update settings set value = value || '+' where key = 'BRAND_NAME'"),
    )
  await Promise.all([store.replace(folder, add, alone), store.replace(other, add, alone)])
  rmSync(other, { recursive: true })
  expect(await brand()).toBe('before++')
})

const noted = (name: string) => ({
  ...{ id: name, event: name, data: '{}', createdAt: '2026-03-01T12:00:00' },
  ...{ status: 'done' as const },
})

test('who has read before it, and writes after it, is run again on what is there then', async () => {
  const seen: (string | undefined)[] = []
  let hasRead = () => {}
  const read = new Promise<void>((resolve) => {
    hasRead = resolve
  })
  // Writes in a table of its own what it has read in another: no row of theirs meets.
  function* note(tx: Query) {
    const value = brandIn(yield* run(tx.select().from(settings)))
    seen.push(value)
    hasRead()
    yield* ask(SLEEP, {})
    yield* run(tx.insert(events).values(noted(`saw ${value}`)))
  }
  const writing = db.tx(note)
  await read
  await store.replace(folder, changeTo('after'), finish)
  await writing
  const rows = await db.read((q) => run(q.select().from(events)))
  expect(rows.map(({ event }) => event)).toEqual(['saw after'])
  expect(seen).toEqual(['before', 'after'])
})

const brandOf = (path: string) =>
  withConnection(path, (raw) =>
    raw.prepare("select value from settings where key = 'BRAND_NAME'").pluck().get(),
  )

test('what is committed while it waits for others is in it', async () => {
  const client = await db.pool.connect()
  await client.query('begin')
  await client.query("update settings set value = 'meanwhile' where key = 'BRAND_NAME'")
  const replacing = store.replace(folder, brandOf, finish)
  await pause(500)
  await client.query('commit')
  client.release()
  expect(await replacing).toBe('meanwhile')
  expect(await brand()).toBe('meanwhile')
})

test('one that would wait for each other with a writer is tried again', async () => {
  const client = await db.pool.connect()
  await client.query('begin')
  await client.query("update settings set value = 'meanwhile' where key = 'BRAND_NAME'")
  const replacing = store.replace(folder, brandOf, finish)
  await pause(500)
  // It has this table, and waits for the other.
  await client.query(
    "insert into audit_log (at, ip, action) values ('2026-03-01T12:00:00', '', 'x')",
  )
  await client.query('commit')
  client.release()
  expect(await replacing).toBe('meanwhile')
}, 30_000)

test('who reads does not wait, who writes waits for two seconds', async () => {
  const client = await db.pool.connect()
  await client.query('begin')
  await client.query('lock table settings in share row exclusive mode')
  expect(await brand()).toBe('before')
  const began = performance.now()
  await expect(put('late')).rejects.toSatisfy(isBusy)
  expect(performance.now() - began).toBeLessThan(5000)
  await client.query('rollback')
  client.release()
})
