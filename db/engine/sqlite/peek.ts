/** What a database says that nothing is known of yet: it may be one of an earlier version. */
import type Sqlite from 'better-sqlite3'

const hasTable = (raw: Sqlite.Database, name: string): boolean =>
  raw.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !==
  undefined

export function peekSetting(raw: Sqlite.Database, key: string): string | undefined {
  if (!hasTable(raw, 'settings')) return undefined
  const value = raw.prepare('SELECT value FROM settings WHERE key = ?').pluck().get(key)
  return value as string | undefined
}

/** Columns of `instance`, with the rows of `settings` that said it before there was that table. */
const FORMERLY = {
  instance_id: 'INSTANCE_ID',
  pending_env: 'PENDING_ENV',
  backup_key: 'BACKUP_KEY',
} as const

type Column = keyof typeof FORMERLY

/** What it knows of itself. */
export function peekInstance(raw: Sqlite.Database, column: Column): string | undefined {
  if (!hasTable(raw, 'instance')) return peekSetting(raw, FORMERLY[column])
  const value = raw.prepare(`SELECT ${column} FROM instance`).pluck().get()
  return (value ?? undefined) as string | undefined
}

/** Takes that out of it where it is this. */
export function forgetInstance(raw: Sqlite.Database, column: Column, value: string): void {
  const forget = hasTable(raw, 'instance')
    ? raw.prepare(`UPDATE instance SET ${column} = NULL WHERE ${column} = ?`)
    : raw.prepare(`DELETE FROM settings WHERE key = '${FORMERLY[column]}' AND value = ?`)
  forget.run(value)
}
