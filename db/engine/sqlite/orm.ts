/** drizzle for SQLite, through its CommonJS build as in ../orm.ts. */
import { createRequire } from 'node:module'
import type { BaseSQLiteDatabase } from 'drizzle-orm/sqlite-core'

const load = createRequire(import.meta.url)

export const { drizzle } = load(
  'drizzle-orm/better-sqlite3',
) as typeof import('drizzle-orm/better-sqlite3')
export type { BetterSQLite3Database as SyncBuilder } from 'drizzle-orm/better-sqlite3'
/** The same as everyone else sees it: its results are awaited. */
export type Builder = BaseSQLiteDatabase<'async', unknown>
