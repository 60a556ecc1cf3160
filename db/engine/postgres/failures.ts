/** PostgreSQL's errors as everyone else knows them. Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
import { errorCode } from '#src/lib/errors.ts'
import { DatabaseFailure, type FailureKind } from '../failures.ts'

/** Others changed what a transaction has read (serialization_failure, deadlock_detected): it may be run again. */
export const isConflict = (error: unknown): boolean =>
  error instanceof DatabaseFailure && (error.code === '40001' || error.code === '40P01')

/**
 * The server is gone, ends, starts, takes no more, or is a standby: connection_exception, admin_shutdown, crash_shutdown, cannot_connect_now,
 * too_many_connections, read_only_sql_transaction, idle_in_transaction_session_timeout; what Node says of sockets and names; and what the driver says without a code.
 */
const AWAY = /^(?:08...|57P0[123]|53300|25006|25P03|E(?!RR_)[A-Z_]+)$/
const LOST =
  /^(?:Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Client was closed|Query read timeout)/

function kindOf(code: string | undefined, message: string): FailureKind {
  if (code === undefined) return LOST.test(message) ? 'away' : 'other'
  if (code === '23505') return 'unique'
  if (code === '40001' || code === '40P01' || code === '55P03' || code === '57014') return 'busy'
  if (code === '53100') return 'full'
  // data_corrupted, index_corrupted
  if (code === 'XX001' || code === 'XX002') return 'damaged'
  return AWAY.test(code) ? 'away' : 'other'
}

/** The innermost: drizzle's own have the statement with all its parameters in their message, hashes and tokens among them. */
function innermost(error: unknown): unknown {
  let current = error
  for (
    let depth = 0;
    depth < 6 && current instanceof Error && current.cause instanceof Error;
    depth++
  )
    current = current.cause
  return current
}

/** An error of the driver as a DatabaseFailure, without what was written or asked. */
export function neutral(error: unknown): DatabaseFailure {
  const own = innermost(error)
  if (own instanceof DatabaseFailure) return own
  const message = own instanceof Error ? own.message : String(own)
  const code = errorCode(own)
  return new DatabaseFailure(kindOf(code, message), message, code === undefined ? {} : { code })
}

/** Work of the driver, whose errors are neutral. */
export async function guarded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw neutral(error)
  }
}

export const crowded = () =>
  new DatabaseFailure('busy', 'other transactions came first again and again', { code: '40001' })
