/** Archives of installations whose rows hold what somebody else has put there. */
import { STORED_TABLES } from '#db/rows.ts'
import { columnsOf, restoredTables } from '#db/upload.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { settingsTable } from '#src/settings/table.ts'
import { archiveOf } from '#test/support/calls/restores.ts'
import { fillEveryTable } from '#test/support/rows/full-rows.ts'
import { putSettings } from '#test/support/rows/records.ts'
import type { FileWorld } from '#test/support/worlds/file-world.ts'

/** The rows that get the text; the admin who looks at all this and the local node stay. */
function rowsOf(table: string): string {
  if (table === 'admins') return 'id = 2'
  return table === 'nodes' ? "code <> 'de1'" : `rowid = (select max(rowid) from "${table}")`
}

/** Puts the text in every column of a table that takes it. */
function putText(other: FileWorld, table: string, text: string): void {
  for (const { name, accepts } of STORED_TABLES.get(table)?.columns ?? []) {
    if (accepts(text))
      other.change(`update "${table}" set "${name}" = ? where ${rowsOf(table)}`, text)
  }
}

/** An archive with the text in every column that takes it, and in every setting. */
export const archiveWith = (text: string) =>
  archiveOf(async (other) => {
    await fillEveryTable(other)
    // By what `instance` says the archive would be made.
    const tables = restoredTables(other.s.db.raw).filter(
      (table) => table !== 'settings' && table !== 'instance',
    )
    for (const table of tables) putText(other, table, text)
    const keys = [...settingsTable(GATEWAYS).all.keys()]
    putSettings(other, Object.fromEntries(keys.map((key) => [key, text])))
  })

/** The columns of a database that hold whole numbers. */
export const numberColumns = ({ s }: Pick<FileWorld, 's'>) =>
  restoredTables(s.db.raw).flatMap((table) =>
    columnsOf(s.db.raw, table)
      .filter(({ type }) => type === 'integer')
      .map(({ name }): [table: string, column: string] => [table, name]),
  )

/** An archive with the number in every column that takes it; whoever a row belongs to keeps it. */
export const archiveWithNumber = (number: number) =>
  archiveOf(async (other) => {
    await fillEveryTable(other)
    other.s.db.raw.pragma('foreign_keys = OFF')
    for (const [table, column] of numberColumns(other)) {
      const { accepts } =
        STORED_TABLES.get(table)?.columns.find(({ name }) => name === column) ?? {}
      const rows = column === 'tg_id' ? 'tg_id > 0' : rowsOf(table)
      // The download adds an entry; all get numbers of their own where they come back.
      const isTaken = !(table === 'audit_log' && column === 'id') && accepts?.(number)
      if (isTaken) {
        other.change(`update "${table}" set "${column}" = ? where ${rows}`, number)
      }
    }
  })
