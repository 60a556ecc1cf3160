/** What a start finds where DATABASE_URL points: refused with a line that says what to do, and nothing is touched. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { DatabaseRefused, isAway } from '#db/engine/failures.ts'
import { storeAt } from '#db/engine/open.ts'
import type { Store } from '#db/engine/store.ts'
import type { Config } from '#src/config.ts'
import { openInstance } from '#src/instance.ts'
import { type PostgresServer, startPostgres } from '#test/support/labs/postgres-server.ts'
import {
  createDatabase,
  createEmptyDatabase,
  dropDatabase,
  onDatabase,
} from '#test/support/worlds/postgres-databases.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
let url: string
const at = (databaseUrl: string) => storeAt({ databasePath: '', databaseUrl })
const nameOf = () => new URL(url).pathname.slice(1)

const tablesThere = (of = url) =>
  onDatabase(of, async (client) => {
    const { rows } = await client.query(
      "select relname::text as name from pg_class where relnamespace = 'public'::regnamespace order by 1",
    )
    return rows.map(({ name }) => name)
  })

async function refusalOf(databaseUrl: string, accept?: (id: string | undefined) => void) {
  const store = await at(databaseUrl)
  const opening = accept ? { now: NOW, accept } : { now: NOW }
  const error = await store.open(opening).then(
    (db) => {
      db.close()
      return null
    },
    (thrown: unknown) => thrown,
  )
  expect(error instanceof DatabaseRefused || isAway(error)).toBe(true)
  return (error as Error).message
}

beforeEach(async () => {
  url = await createEmptyDatabase()
})
afterEach(() => dropDatabase(url))

test('two that start at once make one shop', async () => {
  const stores = await Promise.all([at(url), at(url), at(url)])
  const opened = await Promise.all(
    stores.map((store) => store.withStartLock(() => store.open({ now: NOW }))),
  )
  for (const db of opened) db.close()
  expect(await tablesThere()).toContain('subscriptions')
  expect(await stores[0]?.isPresentForm()).toBe(true)
})

test('whose it is is asked before anything is touched', async () => {
  const own = await createDatabase()
  await onDatabase(own, (client) => client.query("update instance set instance_id = 'other'"))
  const accept = vi.fn(() => {
    throw new DatabaseRefused('not mine')
  })
  expect(await refusalOf(own, accept)).toBe('not mine')
  expect(accept).toHaveBeenCalledWith('other')
  await dropDatabase(own)
})

test('nothing, our tables without an INSTANCE_ID, and a shop are told apart', async () => {
  const store = await at(url)
  expect(await store.state()).toBe('empty')
  const own = await createDatabase()
  const there = await at(own)
  expect(await there.state()).toBe("nobody's")
  await onDatabase(own, (client) => client.query("update instance set instance_id = 'mine'"))
  expect(await there.state()).toBe('there')
  await onDatabase(own, (client) => client.query('delete from instance'))
  expect(await there.state()).toBe("nobody's")
  const config = { envFile: '.env', envInstanceId: 'mine' } as Config
  const start = (of: Store) => openInstance(config, of, { init: false, now: NOW })
  await expect(start(there)).rejects.toThrow(/ has no INSTANCE_ID\. /)
  await expect(start(store)).rejects.toThrow(/ is empty\. /)
  expect(await tablesThere()).toEqual([])
  await dropDatabase(own)
})

test('the tables of another program', async () => {
  await onDatabase(url, (client) => client.query('create table users (id int)'))
  expect(await refusalOf(url)).toBe(
    `DATABASE_URL, ${nameOf()} on ${new URL(url).searchParams.get('host')}: it has the tables of another program: make a database of its own`,
  )
  expect(await tablesThere()).toEqual(['users'])
})

test('the tables of another program that drizzle has made', async () => {
  await onDatabase(url, (client) =>
    client.query(
      "create table __drizzle_migrations (id int, hash text, created_at bigint); insert into __drizzle_migrations values (1, 'x', 1)",
    ),
  )
  expect(await refusalOf(url)).toMatch(/the tables of another program/)
})

test('what a newer version has written', async () => {
  const own = await createDatabase()
  await onDatabase(own, (client) =>
    client.query("insert into __drizzle_migrations (hash, created_at) values ('x', 9999999999999)"),
  )
  expect(await refusalOf(own)).toMatch(/was written by a newer version of Subpanel: update/)
  await dropDatabase(own)
})

const alter = (sql: string) =>
  onDatabase(url, (client) => client.query(sql.replaceAll(':name', nameOf())))

test.each([
  [
    'takes no changes',
    'alter database :name set default_transaction_read_only = on',
    /takes no changes/,
  ],
  [
    'would put tables elsewhere',
    'create schema other; alter database :name set search_path = other',
    /the schema other: ours are in public/,
  ],
])('one that %s', async (_name, sql, expected) => {
  await alter(sql)
  expect(await refusalOf(url)).toMatch(expected)
  expect(await tablesThere()).toEqual([])
})

test('one in which this user may make no tables', async () => {
  await alter('create role guest_of_:name login')
  const guest = new URL(url)
  guest.username = `guest_of_${nameOf()}`
  expect(await refusalOf(guest.toString())).toMatch(/may make no tables in it: grant create/)
  await alter('drop role guest_of_:name')
})

test('one with another encoding', async () => {
  const latin = `latin_${nameOf()}`
  await onDatabase(url, (client) =>
    client.query(
      `create database ${latin} encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0`,
    ),
  )
  const other = new URL(url)
  other.pathname = `/${latin}`
  expect(await refusalOf(other.toString())).toMatch(/has the encoding LATIN1: make one with/)
  await dropDatabase(other.toString())
})

test('no such database, and nobody there: without the password', async () => {
  const none = new URL(url)
  none.pathname = '/none'
  none.password = 'secret-of-the-shop'
  expect(await refusalOf(none.toString())).toMatch(/there is no such database: make it/)
  const nobody = 'postgres://shop:secret-of-the-shop@127.0.0.1:1/shop'
  expect(await refusalOf(nobody)).toBe('DATABASE_URL, shop on 127.0.0.1:1: nobody listens there')
  for (const bad of [none.toString(), nobody, `${url}&sslmode=verify-full`])
    expect(await refusalOf(bad)).not.toContain('secret-of-the-shop')
})

test('behind a proxy that hands out connections for single transactions nothing is prepared, nor listened to', async () => {
  const store = await at(`${url}&pgbouncer=true`)
  const db = await store.withStartLock(() => store.open({ now: NOW }))
  await db.tx(function* () {})
  const { rows } = await onDatabase(url, (client) =>
    client.query(
      `select query from pg_stat_activity where datname = '${nameOf()}' and pid <> pg_backend_pid() and query ilike 'listen%'`,
    ),
  )
  db.close()
  expect(rows).toEqual([])
})

let second: PostgresServer
beforeAll(async () => {
  second = await startPostgres(['fsync=off', 'max_connections=20'])
})
afterAll(() => second.stop())

test('a standby', async () => {
  const standby = await second.startStandby()
  expect(await refusalOf(standby.url)).toMatch(
    /is a standby, which takes no changes: name the primary/,
  )
  await standby.stop()
})

test('a server that goes away is away, and there again a moment later', async () => {
  const store = await at(second.url)
  const db = await store.withStartLock(() => store.open({ now: NOW }))
  const ask = () => db.tx(function* () {})
  await ask()
  await second.restart(async () => {
    await expect(ask()).rejects.toSatisfy(isAway)
  })
  await vi.waitFor(ask, { timeout: 5000 })
  db.close()
})

test('a server that is frozen is away after its time', async () => {
  const store = await at(second.url)
  const db = await store.withStartLock(() => store.open({ now: NOW }))
  const ask = () => db.tx(function* () {})
  await ask()
  await second.frozen(async () => {
    const began = performance.now()
    await expect(Promise.all([ask(), ask(), ask()])).rejects.toSatisfy(isAway)
    expect(performance.now() - began).toBeLessThan(14_000)
  })
  await vi.waitFor(ask, { timeout: 5000 })
  db.close()
}, 40_000)
