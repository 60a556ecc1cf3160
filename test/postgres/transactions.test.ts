/** Transactions of PostgreSQL: serializable, tried again, and told as those of SQLite are. */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import {
  ask,
  type Nothing,
  type Query,
  type Reading,
  run,
  type Steps,
} from '#db/engine/database.ts'
import { DatabaseFailure, failureKind } from '#db/engine/failures.ts'
import { count } from '#db/engine/orm.ts'
import { type PostgresDatabase, wrap } from '#db/engine/postgres/handle.ts'
import { createSteps } from '#db/engine/postgres/steps.ts'
import { createTransactions } from '#db/engine/postgres/transactions.ts'
import { written } from '#db/engine/question.ts'
import { leases, settings } from '#db/schema/index.ts'
import {
  createDatabase,
  dropDatabase,
  onDatabase,
} from '#test/support/worlds/postgres-databases.ts'

let url: string
let db: PostgresDatabase
let other: PostgresDatabase

beforeAll(async () => {
  url = await createDatabase()
  db = await wrap(url, { hears: false })
  other = await wrap(url, { hears: false })
})
afterAll(async () => {
  await Promise.all([db.close(), other.close()])
  await dropDatabase(url)
})
beforeEach(() =>
  onDatabase(url, (client) => client.query('delete from leases; delete from settings')),
)

function* countLeases(q: Reading): Steps<number> {
  const [row] = yield* run(q.select({ n: count() }).from(leases))
  return row?.n ?? 0
}

const insert = (tx: Query, name: string) =>
  run(tx.insert(leases).values({ name, owner: 'x', fence: 1, expiresAt: 0 }))

/** Takes a place of `most`, as limits of attempts, devices and payments are kept. */
function takePlace(name: string, most: number) {
  return function* (tx: Query) {
    if ((yield* countLeases(tx)) >= most) return false
    yield* insert(tx, name)
    return true
  }
}

const left = () => db.read((q) => countLeases(q))

test('of 40 who count before they insert, in two processes, as many come in as there are places', async () => {
  const taken = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 ? db : other).tx(takePlace(`${i}`, 5))),
  )
  expect(taken.filter(Boolean)).toHaveLength(5)
  expect(await left()).toBe(5)
})

test('what a body throws undoes all of it, and is told as it is', async () => {
  const error = new Error('no')
  const tried = db.tx(function* (tx) {
    yield* insert(tx, 'a')
    throw error
  })
  await expect(tried).rejects.toBe(error)
  expect(await left()).toBe(0)
})

test('a second row of a key is told as such, without the values of either', async () => {
  await db.tx((tx) => insert(tx, 'secret-name'))
  const error = (await db.tx((tx) => insert(tx, 'secret-name')).catch((thrown) => thrown)) as Error
  expect(failureKind(error)).toBe('unique')
  expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('secret-name')
})

test('a body that goes on after a statement that failed is not committed in part', async () => {
  await db.tx((tx) => insert(tx, 'a'))
  const tried = db.tx(function* (tx) {
    yield* insert(tx, 'b')
    try {
      yield* insert(tx, 'a')
    } catch {
      // As if nothing had happened.
    }
    return 'done'
  })
  await expect(tried).rejects.toThrow('went on after')
  expect(await left()).toBe(1)
})

test('who comes too late again and again is busy after two seconds', async () => {
  await onDatabase(url, async (client) => {
    await client.query('begin')
    await client.query(
      "insert into leases (name, owner, fence, expires_at) values ('held', '', 1, 0)",
    )
    const startedMs = performance.now()
    const waiting = db.tx((tx) => insert(tx, 'held')).catch((thrown) => thrown)
    await new Promise((resolve) => setTimeout(resolve, 3000))
    expect(failureKind(await waiting)).toBe('busy')
    expect(performance.now() - startedMs).toBeLessThan(3500)
    await client.query('rollback')
  })
})

const rest = written<Nothing, unknown>('select pg_sleep(0.5)')

test('a row that another one has written since it was looked for is seen the next time; one that is there stays a fault', async () => {
  const add = (q: Query) =>
    run(q.insert(settings).values({ key: 'double', value: 'a' }).returning())
  await db.tx(add)
  let runs = 0
  const seen = await db.tx(function* (q) {
    if (++runs === 1) yield* add(q)
    return 'seen'
  })
  expect([seen, runs]).toEqual(['seen', 2])
  await expect(
    db.tx(function* (q) {
      runs++
      return yield* add(q)
    }),
  ).rejects.toMatchObject({ kind: 'unique' })
  expect(runs).toBe(4)
})

test('what is committed is told as such and not run again, whatever fails afterwards', async () => {
  const afterwards = vi.fn(async () => {
    throw new DatabaseFailure('busy', 'of somebody else', { code: '40001' })
  })
  const tx = createTransactions(db.pool, createSteps(true), afterwards).txOf()
  expect(
    await tx((q) => run(q.insert(settings).values({ key: 'once', value: 'a' }).returning())),
  ).toEqual([{ key: 'once', value: 'a' }])
  expect(afterwards).toHaveBeenCalledOnce()
})

test('a server that is not there is told as such', async () => {
  const nowhere = wrap('postgres://subpanel@127.0.0.1:9/x')
  expect(failureKind(await nowhere.catch((error) => error))).toBe('away')
})

test('a read sees one moment, whatever is committed meanwhile', async () => {
  const seen = db.read(function* (q) {
    const before = yield* countLeases(q)
    yield* ask(rest, {})
    return [before, yield* countLeases(q)]
  })
  await new Promise((resolve) => setTimeout(resolve, 100))
  await other.tx((tx) => insert(tx, 'a'))
  expect(await left()).toBe(1)
  expect(await seen).toEqual([0, 0])
})

test('a read can change nothing', async () => {
  await expect(db.read((q) => insert(q as Query, 'a'))).rejects.toThrow('read-only')
})

test('a text with a NUL is kept without it, and found by none', async () => {
  await db.tx((tx) => run(tx.insert(settings).values({ key: 'a\0b', value: 'c\0d' })))
  const rows = await onDatabase(url, (client) => client.query('select * from settings'))
  expect(rows.rows).toEqual([{ key: 'a\u{fffd}b', value: 'c\u{fffd}d' }])
})

test('whoever is cut off from the server is told so, and is served again by another connection', async () => {
  await left()
  await onDatabase(url, (client) =>
    client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    ),
  )
  const tries = await Promise.all(
    Array.from({ length: 4 }, () => left().then(() => 'served', failureKind)),
  )
  expect(tries.every((one) => one === 'served' || one === 'away')).toBe(true)
  expect(await left()).toBe(0)
})
