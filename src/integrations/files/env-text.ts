/** The env file's text. */
import { existsSync, readFileSync } from 'node:fs'

/** What a restore decided on and could not write any more (`pending`), else what is there; null for neither. */
export function presentEnv(path: string, pending: string | undefined): string | null {
  if (pending !== undefined) return pending
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}
