/** Databases made once in a process and copied from then on: sixteen migrations take 14 ms, a copy takes one. */
import { existsSync, writeFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { configure } from '#db/engine/sqlite/configure.ts'
import { type SqliteDatabase, wrap } from '#db/engine/sqlite/handle.ts'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import { findFaults } from '#db/engine/sqlite/verify.ts'
import type { Fill, OpenWorldDatabase } from './database-of-world.ts'

const images = new Map<string, Promise<Buffer>>()

async function makeImage(now: Date, fill: Fill): Promise<Buffer> {
  const db = openDatabase(':memory:', { now })
  try {
    await fill(db)
    return db.raw.serialize()
  } finally {
    db.close()
  }
}

function openCopy(image: Buffer, path: string, now: Date): SqliteDatabase {
  if (path !== ':memory:') {
    if (existsSync(path)) throw new Error(`${path} is there already`)
    writeFileSync(path, image, { mode: 0o600 })
    return openDatabase(path, { now })
  }
  const raw = new Sqlite(image)
  configure(raw)
  return wrap(raw)
}

/** Gives every row of every table. Its statements are prepared once: that takes longer than to run them. */
function createDump(raw: SqliteDatabase['raw']): (except: string[]) => string {
  const tables = raw.prepare("select name from sqlite_master where type = 'table'").pluck()
  const rows = new Map<string, Sqlite.Statement>()
  const rowsOf = (name: string) => {
    const statement = rows.get(name) ?? raw.prepare(`select * from "${name}"`).raw()
    rows.set(name, statement)
    return JSON.stringify(statement.all())
  }
  return (except) =>
    (tables.all() as string[])
      .filter((name) => !except.includes(name))
      .sort()
      .map((name) => `${name} ${rowsOf(name)}`)
      .join('\n')
}

export const openSqlite: OpenWorldDatabase = async (key, path, now, fill) => {
  const made = images.get(key) ?? makeImage(now, fill)
  images.set(key, made)
  const image = await made
  const db = openCopy(image, path, now)
  const { raw } = db
  // What a new database makes by chance, each has for itself.
  raw.exec('UPDATE installation SET secret = lower(hex(randomblob(32)))')
  let dumped: ReturnType<typeof createDump> | undefined
  return {
    db,
    rows: (sql, ...values) => raw.prepare(sql).all(...values),
    change: (sql, ...values) => {
      raw.prepare(sql).run(...values)
    },
    changeMany: raw.transaction((sql, rows) => {
      const statement = raw.prepare(sql)
      for (const row of rows) statement.run(...row)
    }),
    changeBeside: async (sql, ...values) => {
      raw.prepare(sql).run(...values)
    },
    obstruct(change, table, when = 'true') {
      raw.exec(
        `create trigger obstruction before ${change} on ${table} when ${when} begin select raise(abort, 'no'); end`,
      )
      return () => {
        raw.exec('drop trigger obstruction')
      }
    },
    faults: (since) => findFaults(raw, since),
    dump: (except) => {
      dumped ??= createDump(raw)
      return dumped(except)
    },
    settle: async () => {},
    quiet: async () => {},
    close: () => db.close(),
  }
}
