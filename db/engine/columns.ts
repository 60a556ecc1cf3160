/** Column builders of the schema, those of this process's engine: the small set that each of them has. */
import { ENGINE } from './engine.ts'
import { postgresColumns } from './postgres/columns.ts'
import * as sqlite from './sqlite/columns.ts'

export const {
  autoId,
  bool,
  index,
  insertionOrder,
  int,
  json,
  oneOf,
  primaryKey,
  real,
  sumKey,
  table,
  text,
  uniqueIndex,
} = ENGINE === 'postgres' ? postgresColumns() : sqlite
