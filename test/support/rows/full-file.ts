/** A file of SQLite with a row in every table, whatever engine the process has. */
import { driverOf } from '#db/engine/sqlite/handle.ts'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import { createHandClock, type World } from '#test/support/worlds/world.ts'
import { fillEveryTable } from './full-rows.ts'

export const FULL_INSTANCE = '22222222-3333-4444-8555-666666666666'

export async function makeFullFile(path: string): Promise<void> {
  const clock = createHandClock('2026-03-01T12:00:00')
  const db = openDatabase(path, { now: clock.now() })
  const raw = driverOf(db)
  const change = (sql: string, ...values: unknown[]) => {
    raw.prepare(sql).run(...values)
  }
  try {
    change('update instance set instance_id = ?', FULL_INSTANCE)
    change('insert into bot_state (id, wanted_generation) values (1, 3)')
    change(
      "insert into admins (id, username, password_hash, created_at) values (1, 'admin', 'x', '')",
    )
    change(
      "insert into plans (code, label, days, price, sort_order) values ('1m', '1 month', 30, 100, 0)",
    )
    change(
      "insert into nodes (code, label, kind, address, public_key, short_id, sni, sort_order, created_at) values ('de1', 'DE', 'local', 'de1.test', '', '', '', 0, '')",
    )
    const rows: World['rows'] = (sql, ...values) => raw.prepare(sql).all(...values)
    await fillEveryTable({ clock, change, rows } as World)
  } finally {
    db.close()
  }
}
