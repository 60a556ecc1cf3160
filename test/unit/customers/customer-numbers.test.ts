/** Who a number means, whatever is written of customers; what a migration and a restore make of their numbers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrate, migrationNumbers } from '#db/engine/sqlite/migrate.ts'
import { snapshotInto } from '#db/engine/sqlite/snapshot.ts'
import { readUser } from '#db/users.ts'
import { gnuTar } from '#test/support/archives/archives.ts'
import { logInTo, restoreInto } from '#test/support/calls/restores.ts'
import { seeded } from '#test/support/drivers/torture.ts'
import { createFileWorld } from '#test/support/worlds/file-world.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const USERS = '/admin/api/users'
const AT = '2026-01-01T00:00:00'

/** Telegram ids by number, as they were answered. */
type Model = Map<number, number | null>
type Change = (w: World, model: Model, number: number, telegramId: number | null) => Promise<void>

const meant = (model: Model, number: number) =>
  model.has(number) ? number : [...model].find(([, id]) => id === number)?.[0]

const create: Change = async (w, model, _number, telegramId) => {
  const { status, json } = await w.admin(USERS, { body: { telegram_id: telegramId } })
  const isTaken = telegramId !== null && meant(model, telegramId) !== undefined
  expect(status).toBe(isTaken ? 400 : 200)
  if (!isTaken) model.set(json.tg_id, telegramId)
}

const limit: Change = async (w, model, number) => {
  const { status } = await w.admin(`${USERS}/${number}/hwid-limit`, { body: { limit: 2 } })
  expect(status).toBe(meant(model, number) === undefined ? 404 : 200)
}

const remove: Change = async (w, model, number) => {
  const known = meant(model, number)
  const { status } = await w.admin(`${USERS}/${number}`, { method: 'DELETE' })
  expect(status).toBe(known === undefined ? 404 : 200)
  if (known !== undefined) model.delete(known)
}

const edit: Change = async (w, model, number, telegramId) => {
  const known = meant(model, number)
  const body = { telegram_id: telegramId }
  const { status } = await w.admin(`${USERS}/${number}`, { method: 'PATCH', body })
  if (known === undefined) return expect(status).toBe(404)
  const isFree = telegramId === null || meant(model, telegramId) === undefined
  const isAllowed = model.get(known) === telegramId || (known < 0 && isFree)
  expect(status).toBe(isAllowed ? 200 : 400)
  if (isAllowed) model.set(known, telegramId)
}

const CHANGES = [create, create, limit, remove, edit, edit, edit]

test.each([1, 2, 3, 4, 5])(
  'a number means the same one customer after anything that is written of them (seed %i)',
  async (seed) => {
    const w = await createWorld()
    const next = seeded(seed)
    const any = (most: number) => Math.floor(next() * most)
    const model: Model = new Map()
    for (let step = 0; step < 60; step++) {
      const number = any(2) === 0 ? 1 + any(6) : -1 - any(6)
      const telegramId = any(3) === 0 ? null : 1 + any(6)
      await CHANGES[any(CHANGES.length)]?.(w, model, number, telegramId)
      for (const n of [1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -4, -5, -6])
        expect([n, (await w.s.db.read((q) => readUser(q, n)))?.tgId]).toEqual([n, meant(model, n)])
    }
    expect(w.faults(AT)).toEqual([])
    w.close()
  },
)

test('customers come back with a backup, and the numbers of those after it are not given again', async () => {
  const w = await createFileWorld()
  await w.admin(USERS, { body: { name: 'Anna', email: 'a@b.test', tags: ['vip'] } })
  w.change(
    "insert into user_tokens (token, tg_id, kind, created_at) values ('former', -1, 'former', ?)",
    AT,
  )
  const archive = (await w.admin('/admin/api/backup')).bytes
  await w.admin(`${USERS}/-1`, { method: 'DELETE' })
  expect((await w.admin(USERS, { body: {} })).json.tg_id).toBe(-2)
  await restoreInto(w, archive)
  const cookie = await logInTo(w)
  const [user] = (await w.call(`${USERS}?tag=vip`, { cookie })).json
  expect(user).toMatchObject({ tg_id: -1, name: 'Anna', email: 'a@b.test', tags: ['vip'] })
  expect((await w.call('/sub/former', { headers: { 'user-agent': 'Happ/3.5.0' } })).status).toBe(
    200,
  )
  expect((await w.call(USERS, { cookie, body: {} })).json.tg_id).toBe(-3)
  expect(w.faults(AT)).toEqual([])
  w.close()
})

test('an archive that gives a number to two is put right: whose own it is keeps it', async () => {
  const other = await createFileWorld()
  for (const id of [5, 6]) {
    other.change('insert into users (tg_id, token, created_at) values (?, ?, ?)', id, `t${id}`, AT)
  }
  other.change('update users set telegram_id = 99 where tg_id = 5')
  other.change('update users set telegram_id = null where tg_id = 6')
  other.change(
    "insert into users (tg_id, telegram_id, token, created_at) values (-1, 5, 'x', ?)",
    AT,
  )
  const archive = (await other.admin('/admin/api/backup')).bytes
  other.close()
  const w = await createFileWorld()
  await restoreInto(w, archive)
  expect(w.rows('select tg_id, telegram_id from users order by tg_id')).toEqual([
    { tg_id: -1, telegram_id: null },
    { tg_id: 5, telegram_id: 5 },
    { tg_id: 6, telegram_id: 6 },
  ])
  const cookie = await logInTo(w)
  expect((await w.call(USERS, { cookie, body: {} })).json.tg_id).toBe(-2)
  w.close()
})

/** Users -first, -first - 1, … whom nothing has counted. */
const addUncounted = (w: World, first: number, count: number) =>
  w.change(
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < ? - 1)
     insert into users (tg_id, token, created_at) select -? - i, 'token' || i, ? from n`,
    count,
    first,
    AT,
  )

const FAR = 2 ** 47 + 1

test.each([
  ['none counted', 1, undefined, 30_001],
  ['some counted', 1, 5, 30_001],
  ['more counted', 1, 50_000, 50_001],
  ['none counted, far from 0', FAR, undefined, FAR + 30_000],
  ['at the end of what a row may have', 2 ** 48 - 29_999, undefined, FAR],
])(
  'an archive with 30,000 customers below 0, %s: the next one has a number at once',
  async (_name, first, counted, next) => {
    const other = await createFileWorld()
    addUncounted(other, first, 30_000)
    if (counted) other.change("insert into sequences (name, last) values ('customers', ?)", counted)
    const archive = (await other.admin('/admin/api/backup')).bytes
    other.close()
    const w = await createFileWorld()
    await restoreInto(w, archive)
    const cookie = await logInTo(w)
    const startedAt = performance.now()
    const create = async () => (await w.call(USERS, { cookie, body: {} })).json.tg_id
    expect([await create(), await create()]).toEqual([-next, -next - 1])
    expect(performance.now() - startedAt).toBeLessThan(2000)
    w.close()
  },
  60_000,
)

test('a database that has more of them than were counted counts on behind them', async () => {
  const w = await createWorld()
  addUncounted(w, 2, 30_000)
  w.change('delete from users where tg_id = -10000')
  const numbers: number[] = []
  const startedAt = performance.now()
  for (let i = 0; i < 4; i++) numbers.push((await w.admin(USERS, { body: {} })).json.tg_id)
  expect(numbers).toEqual([-1, -10_000, -30_002, -30_003])
  expect(performance.now() - startedAt).toBeLessThan(2000)
  w.close()
})

test('a backup from before them is restored', async () => {
  const w = await createFileWorld()
  const path = join(w.dir, 'former.db')
  const former = new Sqlite(path)
  migrate(former, migrationNumbers()[13])
  former.exec(
    `INSERT INTO users (tg_id, token, created_at) VALUES (7, 'seven', '${AT}');
     INSERT INTO admins (id, username, password_hash, created_at)
       SELECT 1, 'admin', '${w.rows('select password_hash from admins')[0].password_hash}', '${AT}'`,
  )
  former.close()
  const copy = join(w.dir, 'copy.db')
  snapshotInto(path, copy)
  await restoreInto(w, gnuTar({ 'panel.db': readFileSync(copy) }))
  expect(w.rows('select tg_id, telegram_id, tags from users')).toEqual([
    { tg_id: 7, telegram_id: 7, tags: '[]' },
  ])
  w.close()
})
