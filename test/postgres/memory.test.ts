/** What a process keeps of nodes, plans and settings while others change them. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type PostgresDatabase, wrap } from '#db/engine/postgres/handle.ts'
import { listSettings, putSetting } from '#db/settings.ts'
import {
  createDatabase,
  dropDatabase,
  onDatabase,
} from '#test/support/worlds/postgres-databases.ts'

let url: string
let db: PostgresDatabase
const opened: PostgresDatabase[] = []

async function open(hears: boolean) {
  const own = await wrap(url, { hears })
  opened.push(own)
  return own
}

beforeEach(async () => {
  url = await createDatabase()
  db = await open(true)
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((own) => own.close()))
  await dropDatabase(url)
})

const put = (of: PostgresDatabase, value: string) =>
  of.tx((tx) => putSetting(tx, 'BRAND_NAME', value))
const brand = (of: PostgresDatabase) =>
  listSettings(of).find(({ key }) => key === 'BRAND_NAME')?.value

test('its own change is known as soon as it is told as committed', async () => {
  for (let i = 0; i < 20; i++) {
    await put(db, `${i}`)
    expect(brand(db)).toBe(`${i}`)
  }
})

test('what was rolled back was never there', async () => {
  await put(db, 'a')
  const failed = db.tx(function* (tx) {
    yield* putSetting(tx, 'BRAND_NAME', 'b')
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  expect(brand(db)).toBe('a')
})

test('a change of another process is heard of at once', async () => {
  const other = await open(true)
  await vi.waitFor(() => expect(brand(other)).toBeUndefined())
  await new Promise((resolve) => setTimeout(resolve, 100))
  await put(db, 'new')
  await vi.waitFor(() => expect(brand(other)).toBe('new'), { timeout: 500, interval: 5 })
})

test('and within about a second where no notices come through', async () => {
  const other = await open(false)
  await put(db, 'new')
  expect(brand(other)).toBeUndefined()
  await vi.waitFor(() => expect(brand(other)).toBe('new'), { timeout: 3000, interval: 20 })
})

test('so is one that an operator makes by hand', async () => {
  await onDatabase(url, (client) =>
    client.query("insert into settings (key, value) values ('BRAND_NAME', 'by hand')"),
  )
  await vi.waitFor(() => expect(brand(db)).toBe('by hand'), { timeout: 3000, interval: 5 })
})

test('what came while the connection of notices was lost is made up for', async () => {
  await new Promise((resolve) => setTimeout(resolve, 100))
  await onDatabase(url, (client) =>
    client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    ),
  )
  await onDatabase(url, (client) =>
    client.query("insert into settings (key, value) values ('BRAND_NAME', 'meanwhile')"),
  )
  await vi.waitFor(() => expect(brand(db)).toBe('meanwhile'), { timeout: 5000, interval: 20 })
})

test('columns of a node that no list shows leave the revision as it is', async () => {
  const before = db.revision()
  await onDatabase(url, (client) => client.query("update nodes set last_error = 'x'"))
  await db.refresh()
  expect(db.revision()).toBe(before)
})
