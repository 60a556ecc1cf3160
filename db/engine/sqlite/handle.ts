/** A database handle over open connections. */
import Sqlite from 'better-sqlite3'
import type { Database, Nothing, Question } from '../database.ts'
import { writtenValues } from '../question.ts'
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

const LISTS_REVISION = writtenValues<Nothing, number>(
  "select n from revisions where name = 'lists'",
)

/** An answer, and the revision for which it holds. */
interface Kept {
  revision: number
  answer: unknown
}

export function wrap(raw: Sqlite.Database): SqliteDatabase {
  const { db, steps, reads, read } = createReader(raw)
  const answers = new Map<unknown, Kept>()
  const revision = () => steps.ask(LISTS_REVISION, {})[0] ?? 0
  let scanner: { raw: Sqlite.Database; read: Database['read'] } | null = null
  const scannerOf = () => {
    const own = openScanner(raw)
    return { raw: own, read: createReader(own).read }
  }
  const database: SqliteDatabase = {
    raw,
    read,
    // Reads wait for nobody, and transactions are quick.
    onBehalfOf: () => database,
    async scan(body) {
      scanner ??= guarded(scannerOf)
      return scanner.read(body)
    },
    ask(question, params) {
      reads.share()
      return steps.ask(question, params)
    },
    revision,
    kept<Out>(question: Question<Nothing, Out>) {
      // What a transaction of this process sees may never come to be.
      if (raw.inTransaction && !reads.isShared()) return steps.ask(question, {})
      const now = revision()
      const known = answers.get(question)
      if (known?.revision === now) return known.answer as Out
      const answer = steps.ask(question, {})
      answers.set(question, { revision: now, answer })
      return answer
    },
    refresh: async () => {},
    ...createTransactions(raw, db, steps, reads.end),
    close() {
      reads.end()
      if (scanner && scanner.raw !== raw) scanner.raw.close()
      if (raw.open) raw.close()
    },
  }
  return database
}
