/** What SQLite writes passes, in every form that its files have; what would keep it reading does not. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkSqliteFile, DamagedFile } from '#src/lib/sqlite-file.ts'
import { LOOPING_DATABASES } from '#test/support/archives/looping-databases.ts'
import { seeded } from '#test/support/drivers/torture.ts'

const RULE = { maxBytes: 128 * 1024, accepts: (sql: string) => sql.startsWith('CREATE ') }

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

test.each([
  ['as they are by default', ''],
  ['with the smallest pages', 'pragma page_size = 512;'],
  ['with the largest pages', 'pragma page_size = 65536;'],
  ['that give pages back', 'pragma auto_vacuum = full;'],
  ['in another encoding', "pragma encoding = 'UTF-16le';"],
])('sound files pass: %s', (_name, pragmas) => {
  const path = makeFile(pragmas)
  const raw = new Sqlite(path)
  expect(raw.pragma('integrity_check', { simple: true })).toBe('ok')
  raw.close()
  checkSqliteFile(path, RULE)
})

test.each(LOOPING_DATABASES)('refused within 2 s: %s', (_name, make) => {
  const path = join(dir, 'looping.db')
  writeFileSync(path, make(sound))
  const startedAt = performance.now()
  expect(() => checkSqliteFile(path, RULE)).toThrow(DamagedFile)
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
      checkSqliteFile(path, RULE)
    } catch (error) {
      expect(error).toBeInstanceOf(DamagedFile)
    }
  }
})
