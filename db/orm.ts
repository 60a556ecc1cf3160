/**
 * The one import of drizzle-orm. Through its CommonJS build, because the ESM import parses the package's 179 KB
 * of `exports` once per internal file: +150 MB RSS and +250 ms at start on Node.
 */
import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

export const core = load('drizzle-orm/sqlite-core') as typeof import('drizzle-orm/sqlite-core')
export const { drizzle } = load(
  'drizzle-orm/better-sqlite3',
) as typeof import('drizzle-orm/better-sqlite3')
export const { readMigrationFiles } = load(
  'drizzle-orm/migrator',
) as typeof import('drizzle-orm/migrator')
export const {
  and,
  asc,
  count,
  desc,
  eq,
  exists,
  getTableColumns,
  getTableName,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  like,
  lt,
  lte,
  max,
  ne,
  notInArray,
  or,
  sql,
  sum,
} = load('drizzle-orm') as typeof import('drizzle-orm')
export type { SQL, SQLWrapper } from 'drizzle-orm'
export type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
