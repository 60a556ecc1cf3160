/** How a table is declared for the rows that a backup brings (rows.ts): a schema for each column, and what is told of each. */
import * as v from 'valibot'
import { getTableColumns, getTableName } from './engine/orm.ts'
import * as is from './values.ts'

type Declared = Parameters<typeof getTableColumns>[0] & { $inferSelect: object }

/** A schema for every column, of what it holds where it is not null. */
type Schemas<T extends Declared> = {
  [K in keyof T['$inferSelect']]-?: v.GenericSchema<unknown, NonNullable<T['$inferSelect'][K]>>
}

export interface StoredColumn {
  /** In SQL. */
  name: string
  /** Whether it goes up by one: numbers of rows, steps, places. */
  climbs: boolean
  /** Whether it names the payment provider that is to be asked. */
  isProvider: boolean
  /** Whether the column may hold a value as SQLite gives it. */
  accepts(value: unknown): boolean
}

export interface StoredTable {
  columns: StoredColumn[]
  /** The first column of a row, as queries give it, that holds what it must not; null for a sound row. */
  faultOf(row: Record<string, unknown>): string | null
}

/** Whether a schema has left a value as it is; of objects it orders the keys. */
const isSame = (value: unknown, output: unknown): boolean =>
  Array.isArray(value)
    ? value.every((one, at) => isSame(one, (output as unknown[])[at]))
    : typeof value === 'object' || value === output

/** Whether the value is one that the schema gives back as it is. */
function isStored(schema: v.GenericSchema, value: unknown): boolean {
  const result = v.safeParse(schema, value, { abortEarly: true })
  return result.success && isSame(value, result.output)
}

/** A value of SQLite as queries give it; one that can't be read as it is, which no schema takes. */
export function decode(dataType: string, value: unknown): unknown {
  if (dataType === 'boolean') return value === 0 || value === 1 ? value === 1 : value
  if (dataType !== 'json' || typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

const CLIMBING = new Set<unknown>([is.rowId, is.steps, is.place])
const PROVIDERS = new Set<unknown>([is.providerId])

/** A table with its columns' schemas, by its name. */
export function stored<T extends Declared>(table: T, schemas: Schemas<T>): [string, StoredTable] {
  const fields = Object.entries(getTableColumns(table)).map(([key, { name, ...column }]) => {
    const schema = schemas[key as keyof typeof schemas]
    const holds = (value: unknown) => (value === null ? !column.notNull : isStored(schema, value))
    // Rows that follow each other often hold the same: one node, one plan, one time.
    let last: unknown
    const accepts = (value: unknown) => {
      if (value === last) return true
      if (!holds(decode(column.dataType, value))) return false
      last = value
      return true
    }
    const [climbs, isProvider] = [CLIMBING.has(schema), PROVIDERS.has(schema)]
    return { key, name, climbs, isProvider, holds, accepts }
  })
  const faultOf = (row: Record<string, unknown>) =>
    fields.find(({ key, holds }) => !holds(row[key]))?.key ?? null
  return [getTableName(table), { columns: fields, faultOf }]
}
