/** Roles of processes on several machines, whose clocks differ. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storeAt } from '#db/engine/open.ts'
import type { PostgresDatabase } from '#db/engine/postgres/handle.ts'
import { acquireLease, leaseOwner, releaseLease } from '#db/leases.ts'
import {
  createDatabase,
  dropDatabase,
  onDatabase,
} from '#test/support/worlds/postgres-databases.ts'

const TTL_MS = 10_000
const HOUR_MS = 3_600_000
let url: string
let db: PostgresDatabase
beforeAll(async () => {
  url = await createDatabase()
  db = (await (await storeAt({ databasePath: '', databaseUrl: url })).connect()) as PostgresDatabase
})
afterAll(async () => {
  await db.close()
  await dropDatabase(url)
})

test('a clock that is an hour ahead or behind takes no role away, and keeps none', async () => {
  const now = Date.now()
  expect(await acquireLease(db, 'r', 'a', now - HOUR_MS, TTL_MS)).toBe(1)
  expect(await acquireLease(db, 'r', 'b', now + HOUR_MS, TTL_MS)).toBe(null)
  expect(await leaseOwner(db, 'r')).toBe('a')
  expect(await acquireLease(db, 'r', 'a', now - HOUR_MS, TTL_MS)).toBe(1)
  await onDatabase(url, (client) =>
    client.query(`update leases set expires_at = expires_at - ${TTL_MS + 1}`),
  )
  expect(await acquireLease(db, 'r', 'b', now - HOUR_MS, TTL_MS)).toBe(2)
  await releaseLease(db, 'r', 'b')
  expect(await acquireLease(db, 'r', 'a', now + HOUR_MS, TTL_MS)).toBe(3)
})

test('of 20 who ask at once one has it', async () => {
  const got = await Promise.all(
    Array.from({ length: 20 }, (_, i) => acquireLease(db, 'one', `p${i}`, Date.now(), TTL_MS)),
  )
  expect(got.filter((fence) => fence !== null)).toEqual([1])
})
