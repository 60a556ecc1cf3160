/** A database handle over open connections. */
import Sqlite from 'better-sqlite3'
import type { Database } from '../database.ts'
import { guarded } from './failures.ts'
import { type Builder, drizzle } from './orm.ts'
import { createReadTransactions } from './reads.ts'
import { createSteps } from './steps.ts'
import { createTransactions } from './transactions.ts'

/** The database in a file, for what is done with the file itself, and for tests. */
export interface SqliteDatabase extends Database {
  raw: Sqlite.Database
}

/** The driver of a handle, for tests and measurements. */
export const driverOf = (db: Database): Sqlite.Database => (db as SqliteDatabase).raw

/** Opens the connection that goes through indexes. A database in memory has but one. */
function openScanner(raw: Sqlite.Database): Sqlite.Database {
  if (raw.memory) return raw
  const scanner = new Sqlite(raw.name, { readonly: true })
  scanner.pragma('trusted_schema = OFF')
  scanner.pragma('cell_size_check = ON')
  scanner.pragma('cache_size = -2048')
  return scanner
}

/** What is read by a connection. */
function createReader(raw: Sqlite.Database) {
  const db = drizzle({ client: raw })
  // Its results come at once; whoever is typed by the interface awaits them.
  const steps = createSteps(raw, db as unknown as Builder)
  const reads = createReadTransactions(raw)
  const read: Database['read'] = async (body) =>
    guarded(() => reads.within(() => steps.drive(body, db)))
  return { db, steps, reads, read }
}

export function wrap(raw: Sqlite.Database): SqliteDatabase {
  const { db, steps, reads, read } = createReader(raw)
  let scanner: { raw: Sqlite.Database; read: Database['read'] } | null = null
  const scannerOf = () => {
    const own = openScanner(raw)
    return { raw: own, read: createReader(own).read }
  }
  return {
    raw,
    read,
    async scan(body) {
      scanner ??= guarded(scannerOf)
      return scanner.read(body)
    },
    ask: steps.ask,
    shareReads: reads.share,
    ...createTransactions(raw, db, steps, reads.end),
    close() {
      reads.end()
      if (scanner && scanner.raw !== raw) scanner.raw.close()
      if (raw.open) raw.close()
    },
  }
}
