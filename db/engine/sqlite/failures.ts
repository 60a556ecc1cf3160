/** SQLite's errors as everyone else knows them. */
import Sqlite from 'better-sqlite3'
import { DatabaseFailure, type FailureKind } from '../failures.ts'

function kindOf(code: string): FailureKind {
  if (/^SQLITE_BUSY/.test(code)) return 'busy'
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
    return 'unique'
  if (code === 'SQLITE_FULL') return 'full'
  return /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(code) ? 'damaged' : 'other'
}

/** SQLite's own error that this one is, or that caused it: drizzle wraps some. */
function ownError(error: unknown): InstanceType<typeof Sqlite.SqliteError> | undefined {
  let current: unknown = error
  for (let depth = 0; depth < 6 && current instanceof Error; depth++) {
    if (current instanceof Sqlite.SqliteError) return current
    current = current.cause
  }
  return undefined
}

/** An error of SQLite as a DatabaseFailure; any other as it is. */
export function neutral(error: unknown): unknown {
  if (error instanceof DatabaseFailure) return error
  const own = ownError(error)
  if (!own) return error
  const { code, message } = own
  return new DatabaseFailure(kindOf(code), message, { code, cause: error })
}

/** Runs `work`, whose errors are neutral. */
export function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw neutral(error)
  }
}

export const damaged = (message: string) =>
  new DatabaseFailure('damaged', message, { code: 'SQLITE_CORRUPT' })

export const locked = () =>
  new DatabaseFailure('busy', 'the database is locked', { code: 'SQLITE_BUSY' })
