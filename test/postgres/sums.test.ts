/** Sums that many add to at once: nobody waits, nothing is lost, and the rows do not grow in number. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type PostgresDatabase, wrap } from '#db/engine/postgres/handle.ts'
import { postgresStore } from '#db/engine/postgres/store.ts'
import { findFaults } from '#db/engine/postgres/verify.ts'
import { foldSums } from '#db/sums.ts'
import {
  createDatabase,
  dropDatabase,
  onDatabase,
} from '#test/support/worlds/postgres-databases.ts'

let url: string
let db: PostgresDatabase
beforeAll(async () => {
  url = await createDatabase()
  db = await wrap(url, { hears: false })
})
afterAll(async () => {
  await db.close()
  await dropDatabase(url)
})
beforeEach(() => onDatabase(url, (client) => client.query('delete from users')))

const ADD =
  "insert into users (tg_id, token, created_at) values ($1::bigint, 'token-of-' || $1::text, '2026-03-01T12:00:00')"
const faults = () => onDatabase(url, (client) => findFaults(client, '2026-01-01T00:00:00'))
const rows = () =>
  onDatabase(url, async (client) => {
    const found = await client.query(
      "select count(*)::int as rows, sum(n)::int as n from tallies where name = 'users' and slot = '2026-03-01T12:00'",
    )
    return found.rows[0]
  })
const BEGIN = "begin isolation level serializable; set local lock_timeout = '2s'"

test('two transactions that are counted in the same sum are both committed, whoever comes first', () =>
  onDatabase(url, (first) =>
    onDatabase(url, async (second) => {
      for (const client of [first, second]) await client.query(BEGIN)
      await first.query(ADD, [1])
      await second.query(ADD, [2])
      await second.query('commit')
      await first.query('commit')
      expect((await rows()).n).toBe(2)
      expect(await faults()).toEqual([])
    }),
  ))

test('rows of a sum become one, without those that are added meanwhile, which are not lost', () =>
  onDatabase(url, async (client) => {
    for (let user = 1; user <= 20; user++) await client.query(ADD, [user])
    await client.query(BEGIN)
    await client.query(ADD, [21])
    await foldSums(db)
    expect(await rows()).toEqual({ rows: 1, n: 20 })
    await client.query('commit')
    expect(await rows()).toEqual({ rows: 2, n: 21 })
    await foldSums(db)
    expect(await rows()).toEqual({ rows: 1, n: 21 })
    expect(await faults()).toEqual([])
  }))

test('several who fold at once fold each row once', async () => {
  await onDatabase(url, async (client) => {
    for (let user = 1; user <= 50; user++) await client.query(ADD, [user])
  })
  await Promise.all(Array.from({ length: 5 }, () => foldSums(db)))
  expect((await rows()).n).toBe(50)
  await foldSums(db)
  expect(await rows()).toEqual({ rows: 1, n: 50 })
  expect(await faults()).toEqual([])
})

test('of a sum that came to nothing no row is left', async () => {
  await onDatabase(url, async (client) => {
    await client.query(ADD, [1])
    await client.query('delete from users')
  })
  await foldSums(db)
  expect(await rows()).toEqual({ rows: 0, n: null })
})

test('in a copy for SQLite each sum has one row', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'subpanel-sums-'))
  try {
    await onDatabase(url, async (client) => {
      for (let user = 1; user <= 5; user++) await client.query(ADD, [user])
      await client.query(
        "insert into users (tg_id, token, created_at) values (6, 'gone', '2026-03-02T12:00:00')",
      )
      await client.query('delete from users where tg_id = 6')
    })
    const path = join(folder, 'copy.db')
    await postgresStore(url).copyInto(path)
    const copy = new Sqlite(path, { readonly: true })
    expect(copy.prepare("select slot, n from tallies where name = 'users'").all()).toEqual([
      { slot: '2026-03-01T12:00', n: 5 },
    ])
    copy.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
