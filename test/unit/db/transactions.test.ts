/** Transactions that come at once: committed together, undone alone, in their order. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { run } from '#db/engine/database.ts'
import { eq } from '#db/engine/orm.ts'
import { configure } from '#db/engine/sqlite/configure.ts'
import { type SqliteDatabase, wrap } from '#db/engine/sqlite/handle.ts'
import { settings } from '#db/schema/index.ts'

let dir: string
let statements: string[]
let db: SqliteDatabase
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'subpanel-transactions-'))
  statements = []
  const verbose = (text: unknown) => statements.push(String(text).split(' ')[0] as string)
  const raw = new Sqlite(join(dir, 'panel.db'), { verbose })
  configure(raw)
  raw.exec('create table settings (key text primary key, value text not null)')
  db = wrap(raw)
})
afterEach(() => {
  db.close()
  rmSync(dir, { recursive: true })
})

const keys = () => db.raw.prepare('select key from settings order by rowid').pluck().all()
const countOf = (word: string) => statements.filter((text) => text === word).length

const put = (key: string, more?: () => unknown) =>
  db.tx(function* (tx) {
    yield* run(tx.insert(settings).values({ key, value: 'v' }))
    more?.()
    return key
  })

/** Uses up what a turn has for transactions that do not wait. */
const busyTurn = () => {
  const end = performance.now() + 2
  return put('first', () => {
    while (performance.now() < end);
  })
}

const names = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`)

test('those that wait are committed together, each answered with its own result, in their order', async () => {
  statements.length = 0
  const all = [busyTurn(), ...names(40).map((key) => put(key))]
  expect(await Promise.all(all)).toEqual(['first', ...names(40)])
  expect(keys()).toEqual(['first', ...names(40)])
  expect(countOf('COMMIT')).toBeGreaterThan(1)
  expect(countOf('COMMIT')).toBeLessThan(41)
})

test('one that throws is undone alone, and sees those before it', async () => {
  const seen: unknown[] = []
  const outcomes = await Promise.allSettled([
    busyTurn(),
    put('a'),
    db.tx(function* (tx) {
      const [row] = yield* run(tx.select().from(settings).where(eq(settings.key, 'a')))
      seen.push(row?.value)
      yield* run(tx.insert(settings).values({ key: 'undone', value: '' }))
      throw new Error('no')
    }),
    put('a'),
    put('b'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled'],
  ])
  expect([seen, keys()]).toEqual([['v'], ['first', 'a', 'b']])
  expect(db.raw.inTransaction).toBe(false)
})

/** What was told of transactions that each put one key, and which of these keys are there. */
async function toldAndKept(all: [key: string, more?: () => unknown][]) {
  const first = busyTurn()
  const outcomes = await Promise.allSettled(all.map(([key, more]) => put(key, more)))
  await first
  const told = all.flatMap(([key], i) => (outcomes[i]?.status === 'fulfilled' ? [key] : []))
  return { told: ['first', ...told], kept: keys() }
}

// A slow machine may begin another transaction between any two of a line: who is told that they are done is what must agree with the rows.
test('where SQLite gives the whole transaction up, nobody of it is told that they are done', async () => {
  const giveUp = () =>
    db.raw.exec("insert or rollback into settings (key, value) values ('first', '')")
  const { told, kept } = await toldAndKept([
    ...names(20).map((key): [string] => [key]),
    ['failing', giveUp],
    ['last'],
  ])
  expect(told).toEqual(kept)
  expect(kept).not.toContain('failing')
  expect(kept.at(-1)).toBe('last')
})

test('a commit that fails is the failure of all that it would have kept', async () => {
  db.raw.exec('create table child (key text references settings deferrable initially deferred)')
  const dangle = () => db.raw.exec("insert into child values ('nobody')")
  const { told, kept } = await toldAndKept([
    ...names(20).map((key): [string] => [key]),
    ['failing', dangle],
  ])
  expect(told).toEqual(kept)
  expect(kept).not.toContain('failing')
  expect(db.raw.inTransaction).toBe(false)
  await put('later')
  expect(keys()).toEqual([...kept, 'later'])
})

test('what a power cut may undo does not wait for the disk, and what comes next does', async () => {
  const levels: unknown[] = []
  const look = () => levels.push(db.raw.pragma('synchronous', { simple: true }))
  await db.txVolatile(function* (tx) {
    yield* run(tx.insert(settings).values({ key: 'beat', value: '1' }))
    look()
  })
  await put('durable', look)
  const twice = db.txVolatile((tx) => run(tx.insert(settings).values({ key: 'beat', value: '2' })))
  await expect(twice).rejects.toThrow()
  look()
  const [NORMAL, FULL] = [1, 2]
  expect(levels).toEqual([NORMAL, FULL, FULL])
  expect(keys()).toEqual(['beat', 'durable'])
})

test('while another process writes all wait, and are told after two seconds', async () => {
  const other = new Sqlite(join(dir, 'panel.db'))
  other.exec('begin immediate')
  const waiting = Promise.all(names(5).map((key) => put(key)))
  await new Promise((resolve) => setTimeout(resolve, 150))
  expect(db.isCrowded()).toBe(true)
  other.exec('commit')
  expect(await waiting).toEqual(names(5))
  expect(db.isCrowded()).toBe(false)
  other.exec('begin immediate')
  const began = performance.now()
  const refused = await Promise.allSettled(['x', 'y'].map((key) => put(key)))
  expect(performance.now() - began).toBeLessThan(3500)
  expect(refused).toMatchObject([
    { reason: { code: 'SQLITE_BUSY' } },
    { reason: { code: 'SQLITE_BUSY' } },
  ])
  other.exec('rollback')
  other.close()
  await put('z')
  expect(keys()).toEqual([...names(5), 'z'])
})

test('the time that this process itself took is not held against those that wait', async () => {
  const other = new Sqlite(join(dir, 'panel.db'))
  const all = Promise.all([busyTurn(), ...names(3).map((key) => put(key))])
  const end = performance.now() + 2100
  while (performance.now() < end);
  other.exec('begin immediate')
  setTimeout(() => other.exec('commit'), 100)
  expect(await all).toEqual(['first', ...names(3)])
  other.close()
})
