/**
 * Column builders of the schema for PostgreSQL. They keep the values that SQLite keeps: booleans are 0 and 1, JSON is text, texts compare
 * by their bytes, so that one SQL serves both and rows go from one to the other as they are.
 */
import { createRequire } from 'node:module'
import { sql } from '../orm.ts'
import type * as sqlite from '../sqlite/columns.ts'

const load = createRequire(import.meta.url)

/** They are typed as SQLite's are: types of columns are declared once. */
export function postgresColumns(): typeof sqlite {
  const core = load('drizzle-orm/pg-core') as typeof import('drizzle-orm/pg-core')
  /** drizzle-kit writes the default of a custom type as JavaScript has it: `smallint DEFAULT true`. */
  const withDefault = <B extends { default(value: never): B }>(
    builder: B,
    literal: (value: unknown) => string,
  ): B => {
    const set = builder.default.bind(builder) as (value: unknown) => B
    return Object.assign(builder, { default: (value: unknown) => set(sql.raw(literal(value))) })
  }
  const text = core.customType<{ data: string }>({ dataType: () => 'text collate "C"' })
  const flag = core.customType<{ data: boolean; driverData: number }>({
    dataType: () => 'smallint',
    toDriver: Number,
    fromDriver: (value) => value === 1,
  })
  const jsonText = core.customType<{ data: unknown; driverData: string }>({
    dataType: () => 'text collate "C"',
    toDriver: (value) => JSON.stringify(value),
    fromDriver: (value) => JSON.parse(value),
  })
  /** What the rows of archives are checked by (db/rows.ts). */
  const known = <B>(builder: B, dataType: 'boolean' | 'json'): B => {
    Object.assign((builder as { config: object }).config, { dataType })
    return builder
  }
  const int = (name: string) => core.bigint(name, { mode: 'number' })
  const counted = (name: string) => int(name).primaryKey().generatedByDefaultAsIdentity()
  return {
    table: core.pgTable,
    index: core.index,
    uniqueIndex: core.uniqueIndex,
    primaryKey: core.primaryKey,
    sumKey: (name: string, ...columns: [never, ...never[]]) => core.index(name).on(...columns),
    text,
    int,
    real: core.doublePrecision,
    bool: (name: string) =>
      known(
        withDefault(flag(name), (value) => String(Number(value))),
        'boolean',
      ),
    autoId: counted,
    insertionOrder: counted,
    json: (name: string) =>
      known(
        withDefault(jsonText(name), (value) => `'${JSON.stringify(value)}'`),
        'json',
      ),
    // Only ever compared for equality, so that any order of theirs will do.
    oneOf: (name: string, values: [string, ...string[]]) => core.text(name, { enum: values }),
  } as unknown as typeof sqlite
}
