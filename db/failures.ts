/** What kind of failure of the database an error is: the codes of its engine are known here alone. */
import { errorCode } from '#src/lib/errors.ts'

/** Whether a unique or primary key refused a row. */
export function isUniqueViolation(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** Whether the database file can no longer be trusted: the process must end (PostgreSQL's lesson of failed fsyncs). */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(errorCode(error) ?? '')
}

/** Whether another process held the write lock for longer than the busy timeout. */
export const isBusy = (error: unknown): boolean => /^SQLITE_BUSY/.test(errorCode(error) ?? '')

/** Whether a write failed for want of space. */
export const isFull = (error: unknown): boolean => errorCode(error) === 'SQLITE_FULL'

/** Whether it comes from the database at all. */
export const isOfDatabase = (error: unknown): boolean =>
  errorCode(error)?.startsWith('SQLITE_') ?? false
