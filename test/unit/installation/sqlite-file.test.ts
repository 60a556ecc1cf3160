/** What SQLite writes passes, in every form that its files have; what would keep it reading does not. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkSqliteFile, DamagedFile } from '#src/lib/sqlite-file.ts'
import { type SchemaEntry, writeSchema } from '#src/lib/sqlite-schema.ts'
import { LOOPING_DATABASES } from '#test/support/archives/looping-databases.ts'
import { seeded } from '#test/support/drivers/torture.ts'

const MAX_SCHEMA_BYTES = 128 * 1024

let dir: string
let sound: Buffer
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'subpanel-sqlite-file-'))
  sound = readFileSync(makeFile('pragma page_size = 4096;'))
})
afterAll(() => rmSync(dir, { recursive: true }))

let number = 0
/** A file with rows of all lengths, in tables and indexes of every kind, some of them removed again. */
function makeFile(pragmas: string): string {
  const path = join(dir, `${number++}.db`)
  const raw = new Sqlite(path)
  const any = seeded(number)
  raw.exec(`${pragmas}
    create table rows (id integer primary key, a, b text unique); create index rows_a on rows (a);
    create table words (word text primary key, n integer) without rowid;
    create table plans (x); create table __drizzle_migrations (x); create table events (x);
    insert into plans values (1); insert into __drizzle_migrations values (1);
    create view seen as select a from rows; create table "${'long'.repeat(4000)}" (x);
    create trigger counted after insert on rows begin select 1; end; begin`)
  const row = raw.prepare('insert into rows values (?, ?, ?)')
  const word = raw.prepare('insert into words values (?, ?)')
  for (let i = 0; i < 3000; i++) {
    const text = 'x'.repeat(Math.floor(any() ** 8 * 20_000))
    row.run(Math.floor(any() * 2 ** 52) * (any() < 0.3 ? -1 : 1), text, `${i} ${text}`)
    word.run(`${i} ${text}`, i)
  }
  raw.exec('delete from rows where a > 2000 and id % 2; commit; analyze')
  raw.close()
  return path
}

const UTF_8 = [
  ['as they are by default', ''],
  ['with the smallest pages', 'pragma page_size = 512;'],
  ['with the largest pages', 'pragma page_size = 65536;'],
  ['that give pages back', 'pragma auto_vacuum = full;'],
] as const
const UTF_16 = ['in another encoding', "pragma encoding = 'UTF-16le';"] as const

test.each([...UTF_8, UTF_16])('sound files pass: %s', (_name, pragmas) => {
  const path = makeFile(pragmas)
  const raw = new Sqlite(path)
  expect(raw.pragma('integrity_check', { simple: true })).toBe('ok')
  raw.close()
  checkSqliteFile(path, MAX_SCHEMA_BYTES)
})

/** What a schema has of some tables, as it is written anew. */
const entriesOf = (raw: Sqlite.Database) =>
  raw
    .prepare(
      `SELECT type, name, tbl_name AS "table", rootpage AS root, sql FROM sqlite_schema
       WHERE tbl_name IN ('rows', 'words', '${'long'.repeat(4000)}') AND name <> 'rows_a' AND type <> 'trigger'
       ORDER BY type DESC`,
    )
    .all() as SchemaEntry[]

const contentOf = (raw: Sqlite.Database) => [
  raw.prepare('SELECT count(*), total(length(a)), max(b) FROM rows').get(),
  raw.prepare('SELECT count(*), total(n), max(word) FROM words').get(),
]

/** Replaces the schema, and expects that the file has what it is given and nothing else. */
function expectReplaced(path: string, grow = (_path: string) => {}): void {
  const before = new Sqlite(path)
  const [entries, content] = [entriesOf(before), contentOf(before)]
  before.close()
  grow(path)
  writeSchema(path, entries)
  expect(checkSqliteFile(path, MAX_SCHEMA_BYTES)).toHaveLength(entries.length)
  const after = new Sqlite(path, { readonly: true })
  expect(after.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()).toBe(entries.length)
  expect([entriesOf(after), contentOf(after)]).toEqual([entries, content])
  expect(after.pragma('quick_check("rows")', { simple: true })).toBe('ok')
  after.close()
}

test.each(UTF_8)('files get another schema: %s', (_name, pragmas) => {
  expectReplaced(makeFile(pragmas))
})

test('a file that ends where the page of locks would follow gets another schema', () => {
  expectReplaced(makeFile(''), (path) => truncateSync(path, 2 ** 30))
})

test('a file in another encoding gets none: none of ours has it', () => {
  expect(() => writeSchema(makeFile(UTF_16[1]), [])).toThrow(DamagedFile)
})

test.each(LOOPING_DATABASES)('refused within 2 s: %s', (_name, make) => {
  const path = join(dir, 'looping.db')
  writeFileSync(path, make(sound))
  const startedAt = performance.now()
  expect(() => checkSqliteFile(path, MAX_SCHEMA_BYTES)).toThrow(DamagedFile)
  expect(performance.now() - startedAt).toBeLessThan(2000)
})

test('whatever bytes of a file are others, it is refused or read to its end', () => {
  const whole = readFileSync(makeFile('pragma page_size = 512;')).subarray(0, 512 * 200)
  const any = seeded(7)
  const path = join(dir, 'bytes.db')
  for (let i = 0; i < 300; i++) {
    const bytes = Buffer.from(whole)
    for (let j = 0; j < 20; j++)
      bytes[Math.floor(any() ** 2 * bytes.length)] = Math.floor(any() * 256)
    writeFileSync(path, bytes.subarray(0, Math.floor((1 - any() ** 9) * bytes.length)))
    try {
      checkSqliteFile(path, MAX_SCHEMA_BYTES)
    } catch (error) {
      expect(error).toBeInstanceOf(DamagedFile)
    }
  }
})
