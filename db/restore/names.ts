/** Columns by name, for statements that copy rows. */
import type Sqlite from 'better-sqlite3'
import { copiedColumns } from '../upload.ts'

/** The columns of a table that are copied for a statement, all but one where it is named. */
export const namesOf = (raw: Sqlite.Database, table: string, except?: string) =>
  copiedColumns(raw, table)
    .filter(({ name }) => name !== except)
    .map(({ name }) => `"${name}"`)
    .join(', ')
