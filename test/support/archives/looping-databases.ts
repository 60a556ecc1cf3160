/** SQLite files that have more to read than they are large, each made from a sound one by changes of its pages. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { changedDatabase, inFolder } from './archives.ts'

const TABLE_INTERIOR = 5
const HEADER = 100

/** The pages of a file, numbered from 1, which may be changed and added to. */
function pagesOf(database: Uint8Array) {
  const file = Buffer.from(database)
  const bytes = file.readUInt16BE(16)
  const pages: Buffer[] = Array.from({ length: file.length / bytes }, (_, i) =>
    file.subarray(i * bytes, (i + 1) * bytes),
  )
  const get = (number: number) => pages[number - 1] as Buffer
  return {
    bytes,
    get,
    add: (page: Buffer) => pages.push(page),
    file() {
      get(1).writeUInt32BE(pages.length, 28)
      return Buffer.concat(pages)
    },
  }
}

type Pages = ReturnType<typeof pagesOf>

/** Makes a page one of a table's tree that names one other page `times` times. */
function putNames(page: Buffer, at: number, child: number, times: number): Buffer {
  page.fill(0, at)
  page[at] = TABLE_INTERIOR
  page.writeUInt16BE(times, at + 3)
  page.writeUInt16BE(page.length - 5 * times, at + 5)
  page.writeUInt32BE(child, at + 8)
  for (let i = 0; i < times; i++) {
    const cell = page.length - 5 * (i + 1)
    page.writeUInt16BE(cell, at + 12 + 2 * i)
    page.writeUInt32BE(child, cell)
    page[cell + 4] = Math.min(i + 1, 127)
  }
  return page
}

/** The number of the page at which the tree of a table or an index begins. */
function rootOf(database: Uint8Array, name: string): number {
  if (name === 'sqlite_schema') return 1
  return inFolder((folder) => {
    const path = join(folder, 'panel.db')
    writeFileSync(path, changedDatabase(database, 'select 1'))
    const raw = new Sqlite(path)
    try {
      const root = raw.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck()
      return root.get(name) as number
    } finally {
      raw.close()
    }
  })
}

/** A file with other pages, beginning at the root of a table. */
const changed = (
  database: Uint8Array,
  name: string,
  change: (pages: Pages, root: Buffer, at: number, number: number) => void,
): Buffer => {
  const number = rootOf(database, name)
  const pages = pagesOf(database)
  change(pages, pages.get(number), number === 1 ? HEADER : 0, number)
  return pages.file()
}

/** What the root has in a page of its own, and above it `levels` pages that each name the one below `times` times. */
const branching =
  (name: string, levels = 7, times = 400) =>
  (database: Uint8Array): Buffer =>
    changed(database, name, (pages, root, at) => {
      const copy = Buffer.alloc(pages.bytes)
      const cells = root.readUInt16BE(at + 3)
      root.copy(copy, 0, at, at + 12 + 2 * cells)
      root.copy(copy, root.readUInt16BE(at + 5), root.readUInt16BE(at + 5))
      let child = pages.add(copy)
      for (let level = 1; level < levels; level++)
        child = pages.add(putNames(Buffer.alloc(pages.bytes), 0, child, times))
      putNames(root, at, child, times)
    })

/** The rows that `setLabel` makes: one page with one cell, which goes on in a chain of pages. */
const LONG = 'test_rows'
const withChain = (database: Uint8Array) =>
  changedDatabase(
    database,
    `create table ${LONG} (x); insert into ${LONG} values (hex(zeroblob(30000)))`,
  )

/** Changes that cell; `at`: where it is in its page, `chain`: where its page number is. */
const ofChain =
  (change: (pages: Pages, page: Buffer, at: number, chain: number) => void) =>
  (database: Uint8Array): Buffer =>
    changed(withChain(database), LONG, (pages, page) => {
      const at = page.readUInt16BE(8)
      change(pages, page, at, page.length - 4)
    })

const chainOf = (pages: Pages, first: number): number[] => {
  const numbers = [first]
  for (let next = first; ; ) {
    next = pages.get(next).readUInt32BE(0)
    if (next === 0) return numbers
    numbers.push(next)
  }
}

/** A table with so many rules: SQLite compares each with all before it whenever it opens the file. */
function manyRules(count: number): string {
  const columns = Array.from({ length: 300 }, (_, i) => `c${i}`)
  const rule = (_: unknown, i: number) => `unique(c${i % 300},c${Math.floor(i / 300)})`
  const rules = Array.from({ length: count }, rule)
  return `create table rules (x); pragma writable_schema = on;
    update sqlite_schema set sql = 'create table rules (${[...columns, ...rules].join()})' where name = 'rules'`
}

export const LOOPING_DATABASES: [name: string, make: (database: Uint8Array) => Buffer][] = [
  ['a table with 400^7 rows', branching('plans')],
  ['400^7 migrations', branching('__drizzle_migrations')],
  ['400^7 tables', branching('sqlite_schema')],
  [
    '400^7 rows of what the planner is told',
    (database) => branching('sqlite_stat1')(changedDatabase(database, 'analyze')),
  ],
  ['a tree of 30 levels', branching('plans', 30, 1)],
  [
    'a page that names itself',
    (database) =>
      changed(database, 'plans', (_pages, root, at, number) => {
        putNames(root, at, number, 400)
      }),
  ],
  [
    'a page outside the file',
    (database) =>
      changed(database, 'plans', (_pages, root, at) => {
        putNames(root, at, 0x7fffffff, 3)
      }),
  ],
  [
    'one tree for two tables',
    (database) => {
      const first = rootOf(database, 'plans')
      return changedDatabase(
        database,
        `pragma writable_schema = on; update sqlite_schema set rootpage = ${first} where name = 'events'`,
      )
    },
  ],
  [
    'a row whose pages go round',
    ofChain((pages, page, _at, chain) => {
      const numbers = chainOf(pages, page.readUInt32BE(chain))
      pages.get(numbers.at(-1) as number).writeUInt32BE(numbers[0] as number, 0)
    }),
  ],
  [
    'a row of 2 GB whose pages go round',
    ofChain((pages, page, at, chain) => {
      const numbers = chainOf(pages, page.readUInt32BE(chain))
      pages.get(numbers.at(-1) as number).writeUInt32BE(numbers[0] as number, 0)
      page.set([0x87, 0xff, 0xff, 0xff, 0x7f], at)
    }),
  ],
  [
    'a row of 2^60 bytes',
    ofChain((_pages, page, at) => {
      page.set([0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1], at)
    }),
  ],
  [
    'a row named 1000 times',
    ofChain((_pages, page, at) => {
      page.writeUInt16BE(1000, 3)
      for (let i = 0; i < 1000; i++) page.writeUInt16BE(at, 8 + 2 * i)
    }),
  ],
  [
    'a cell in the header of its page',
    ofChain((_pages, page) => {
      page.writeUInt16BE(2, 8)
    }),
  ],
  ['a table with 60,000 rules', (database) => changedDatabase(database, manyRules(60_000))],
]

/** One whose unused pages name each other: nothing reads them. */
export function loopingFreelist(database: Uint8Array): Buffer {
  const dropped = changedDatabase(withChain(database), `drop table ${LONG}`)
  const pages = pagesOf(dropped)
  const first = pages.get(1).readUInt32BE(32)
  pages.get(first).writeUInt32BE(first, 0)
  return pages.file()
}
