/**
 * The one import of drizzle-orm: what all its dialects share. Through its CommonJS build, because the ESM import parses the package's
 * 179 KB of `exports` once per internal file: +150 MB RSS and +250 ms at start on Node. By its parts, as the whole has relations, and with
 * them another dialect: 69 modules in place of 24 for each thread that knows the tables.
 */
import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

export const {
  and,
  asc,
  count,
  desc,
  eq,
  exists,
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
  notExists,
  notInArray,
  or,
  sql,
  sum,
} = load('drizzle-orm/sql') as typeof import('drizzle-orm/sql')
export const { getTableName } = load('drizzle-orm/table') as typeof import('drizzle-orm/table')
export const { getTableColumns } = load('drizzle-orm/utils') as typeof import('drizzle-orm/utils')
export type { SQL, SQLWrapper } from 'drizzle-orm'
/** The types of queries are those of one dialect: only what others have too is used of them. */
export type { Builder } from './sqlite/orm.ts'
