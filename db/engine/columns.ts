/** Column builders of the schema, those of this process's engine: the small set that each of them has. */
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
  table,
  text,
  uniqueIndex,
} = sqlite
