/** What becomes of a fault that goes no further: the one way to catch what may come from the database. */
import { errorMessage } from './errors.ts'
import type { Log, LogFields } from './log.ts'

/** What a fault is noted with; `fatal` ends the process where the database can't be trusted any more. */
export interface FaultDeps {
  log: Log
  fatal(error: unknown): void
}

/** Ends the process where the fault means that it has to end, else logs it, with its message as `reason` unless `fields` have one. */
export function noteFault(
  s: FaultDeps,
  level: 'error' | 'warn' | 'debug',
  text: string,
  error: unknown,
  fields: LogFields = {},
): void {
  s.fatal(error)
  s.log[level](text, 'reason' in fields ? fields : { ...fields, reason: errorMessage(error) })
}
