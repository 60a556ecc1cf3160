/** Rows of `settings` of a database that nothing is known of yet. */
import type Sqlite from 'better-sqlite3'
import { INSTANCE_ID } from '../../own-settings.ts'

export function peekSetting(raw: Sqlite.Database, key: string): string | undefined {
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'settings'"
  if (!raw.prepare(table).get()) return undefined
  const value = raw.prepare('SELECT value FROM settings WHERE key = ?').pluck().get(key)
  return value as string | undefined
}

/** Whose database that is. */
export const peekInstanceId = (raw: Sqlite.Database): string | undefined =>
  peekSetting(raw, INSTANCE_ID)
