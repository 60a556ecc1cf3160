/** What kind of failure of the database an error is. Each engine makes these of its own errors; nobody else knows its codes. */
import { errorCode, errorMessage } from '#src/lib/errors.ts'

/**
 * `busy`: others kept it from being done, and it may be tried again. `unique`: a key refused a row. `full`: there is no space for the
 * write. `damaged`: what is stored can no longer be trusted. `away`: the server can't be reached, or takes no changes. `refused`: this program must
 * leave the database alone. `other`: a fault of the program, or of the operator.
 */
export type FailureKind = 'busy' | 'unique' | 'full' | 'damaged' | 'away' | 'refused' | 'other'

export class DatabaseFailure extends Error {
  readonly kind: FailureKind
  /** What the engine calls it: for the log. */
  readonly code: string | undefined

  constructor(
    kind: FailureKind,
    message: string,
    options: { code?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'DatabaseFailure'
    this.kind = kind
    this.code = options.code
  }
}

/** A database that this program must leave alone; the message is for the operator. */
export class DatabaseRefused extends DatabaseFailure {
  constructor(message: string) {
    super('refused', message)
  }
}

/** The failure of the database that an error is, or that caused it. */
function failureOf(error: unknown): DatabaseFailure | undefined {
  let current: unknown = error
  for (let depth = 0; depth < 6 && current instanceof Error; depth++) {
    if (current instanceof DatabaseFailure) return current
    current = current.cause
  }
  return undefined
}

/** The kind of it; undefined for an error that is not the database's. */
export const failureKind = (error: unknown): FailureKind | undefined => failureOf(error)?.kind

/** Whether a unique or primary key refused a row. */
export const isUniqueViolation = (error: unknown): boolean => failureKind(error) === 'unique'

/** Whether the database can no longer be trusted: the process must end (PostgreSQL's lesson of failed fsyncs). */
export const isDamage = (error: unknown): boolean => failureKind(error) === 'damaged'

/** Whether another process held the write lock for longer than is waited for it. */
export const isBusy = (error: unknown): boolean => failureKind(error) === 'busy'

/** Whether a write failed for want of space. */
export const isFull = (error: unknown): boolean => failureKind(error) === 'full'

/** Whether this program must leave the database alone. */
export const isRefused = (error: unknown): boolean => failureKind(error) === 'refused'

/** Whether its server can't be reached, or takes no changes. */
export const isAway = (error: unknown): boolean => failureKind(error) === 'away'

const PASSING: ReadonlySet<FailureKind | undefined> = new Set(['busy', 'full', 'away'])

/** Whether the same may succeed later: nothing is wrong with what was asked. */
export const isPassing = (error: unknown): boolean => PASSING.has(failureKind(error))

/** Whether it comes from the database at all. */
export const isOfDatabase = (error: unknown): boolean => failureKind(error) !== undefined

/** What of an error one thread tells another. */
export interface Telling {
  message: string
  code: string | undefined
  kind: FailureKind | undefined
}

export const tellingOf = (error: unknown): Telling => ({
  message: errorMessage(error),
  code: errorCode(error),
  kind: failureKind(error),
})

/** The error that another thread told of. */
export function toldError({ message, code, kind }: Telling): Error {
  if (kind === undefined) return Object.assign(new Error(message), { code })
  return new DatabaseFailure(kind, message, code === undefined ? {} : { code })
}
