/** Column builders of the schema for SQLite: of drizzle no more than they need, as in ../orm.ts. */
import { createRequire } from 'node:module'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

const load = createRequire(import.meta.url)
type Core = typeof import('drizzle-orm/sqlite-core')

const core = {
  ...(load('drizzle-orm/sqlite-core/table') as Pick<Core, 'sqliteTable'>),
  ...(load('drizzle-orm/sqlite-core/indexes') as Pick<Core, 'index' | 'uniqueIndex'>),
  ...(load('drizzle-orm/sqlite-core/primary-keys') as Pick<Core, 'primaryKey'>),
  ...(load('drizzle-orm/sqlite-core/columns') as Pick<Core, 'text' | 'integer' | 'real'>),
}

export const table = core.sqliteTable
export const index = core.index
export const uniqueIndex = core.uniqueIndex
export const primaryKey = core.primaryKey
/** What a sum is found by: its key here, an index where each change of it is a row of its own until they are folded (../facts.ts). */
export const sumKey = <const C extends [SQLiteColumn, ...SQLiteColumn[]]>(
  _name: string,
  ...columns: C
) => core.primaryKey({ columns })
export const text = (name: string) => core.text(name)
export const int = (name: string) => core.integer(name)
export const real = (name: string) => core.real(name)
/** 0 and 1 in every engine: SQL compares with these. */
export const bool = (name: string) => core.integer(name, { mode: 'boolean' })
export const autoId = (name: string) => core.integer(name).primaryKey({ autoIncrement: true })
/** Numbers the rows in the order in which they are written: SQLite's own number of a row, so that it costs nothing. */
export const insertionOrder = (name: string) => core.integer(name).primaryKey()
export const json = <T>(name: string) => core.text(name, { mode: 'json' }).$type<T>()
export const oneOf = <const T extends readonly [string, ...string[]]>(name: string, values: T) =>
  core.text(name, { enum: values })
