/** The rows of a verified copy, made what they shall be when they are live. */
import Sqlite from 'better-sqlite3'
import { neutral } from '../engine/sqlite/failures.ts'
import { peekInstance } from '../engine/sqlite/peek.ts'
import { STORED_TABLES } from '../rows.ts'
import { CUSTOMERS } from '../sequences.ts'
import { ROOM_FROM } from '../values.ts'
import type { FormerShop, RestoreFacts } from './facts.ts'

/** As answers name the former shops that were not taken. */
const FORMER_SHOPS = 'PREVIOUS_CREDENTIALS'

interface Reference {
  table: string
  column: string
}

/** The columns that name rows of a table by their numbers. */
const referencesTo = (raw: Sqlite.Database, table: string) =>
  raw
    .prepare(
      `SELECT m.name AS "table", f."from" AS "column" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f
       WHERE m.type = 'table' AND f."table" = ? AND f."to" = 'id'`,
    )
    .all(table) as Reference[]

/** Numbers the rows of a table anew, from 1 in their order, where the last number leaves too little room. */
function renumber(raw: Sqlite.Database, table: string): void {
  const last = raw.prepare(`SELECT max(id) FROM "${table}"`).pluck().get() as number | null
  if (last === null || last <= ROOM_FROM) return
  raw.exec('CREATE TEMP TABLE numbers (former INTEGER PRIMARY KEY, own INTEGER)')
  raw.exec(`INSERT INTO numbers SELECT id, row_number() OVER (ORDER BY id) FROM "${table}"`)
  const ownOf = (column: string) => `(SELECT own FROM numbers WHERE former = "${column}")`
  for (const { table: other, column } of referencesTo(raw, table)) {
    raw.exec(`UPDATE "${other}" SET "${column}" = ${ownOf(column)}`)
  }
  // By way of numbers that no row has.
  raw.exec(`UPDATE "${table}" SET id = -${ownOf('id')}; UPDATE "${table}" SET id = -id`)
  raw.exec('DROP TABLE numbers')
}

/**
 * Makes room above what goes up by one: from the last value that a column may hold the service would count on to one that no restore
 * takes, and all its later backups would be refused.
 */
function makeRoom(raw: Sqlite.Database): void {
  for (const [table, { columns }] of STORED_TABLES) {
    for (const { name, climbs } of columns) {
      if (!climbs) continue
      if (name === 'id') renumber(raw, table)
      else if (name !== 'admin_id') {
        const lower = raw.prepare(`UPDATE "${table}" SET "${name}" = @room WHERE "${name}" > @room`)
        lower.run({ room: ROOM_FROM })
      }
    }
  }
}

/** Customers below 0 that their copy has not counted: the service would look for a free number from the first one on. */
function countCustomers(raw: Sqlite.Database): void {
  raw
    .prepare(
      `INSERT INTO sequences SELECT ?, min(-min(tg_id), ?) FROM users WHERE tg_id < 0 HAVING count(*) > 0
       ON CONFLICT DO UPDATE SET last = max(last, excluded.last)`,
    )
    .run(CUSTOMERS, ROOM_FROM)
}

/** Drops the former shops that don't come back, and says whether there are any. The others count as if they had been replaced now at the latest. */
function dropFormerShops(raw: Sqlite.Database, { at, isFormerShop }: RestoreFacts): boolean {
  const rows = raw.prepare(
    'SELECT id, provider, shop_id AS shopId, secret, preset, api_url AS apiUrl, replaced_at AS replacedAt FROM former_credentials',
  )
  const dropped: number[] = []
  // One by one: their texts may be long.
  for (const { id, ...shop } of rows.iterate() as IterableIterator<FormerShop & { id: number }>) {
    if (!isFormerShop(shop)) dropped.push(id)
  }
  const drop = raw.prepare('DELETE FROM former_credentials WHERE id = ?')
  for (const id of dropped) drop.run(id)
  raw.prepare('UPDATE former_credentials SET replaced_at = min(replaced_at, ?)').run(at)
  return dropped.length > 0
}

/**
 * Makes the copy's rows what they shall be when they are live: sessions ended, nothing unsent of back then, pending payments due,
 * no settings but those that are named. Gives the INSTANCE_ID of the copy, and the names of the settings that were taken and
 * dropped.
 */
export function prepareRows(
  clean: string,
  facts: RestoreFacts,
): { instanceId: string | null; taken: string[]; dropped: string[] } {
  const raw = new Sqlite(clean, { fileMustExist: true })
  try {
    raw.pragma('journal_mode = MEMORY')
    raw.pragma('synchronous = OFF')
    raw.pragma('foreign_keys = OFF')
    const { at } = facts
    const settings = raw.prepare('SELECT key, value FROM settings').all() as {
      key: string
      value: string
    }[]
    const taken = facts.accepted(settings)
    const dropped = settings.filter(({ key }) => !taken.has(key))
    const names = dropped.map(({ key }) => key)
    raw.transaction(() => {
      makeRoom(raw)
      countCustomers(raw)
      for (const { key } of dropped) raw.prepare('DELETE FROM settings WHERE key = ?').run(key)
      if (dropFormerShops(raw, facts)) names.push(FORMER_SHOPS)
      raw.exec(
        'DELETE FROM admin_sessions; DELETE FROM pending_logins; DELETE FROM link_codes; DELETE FROM open_alerts',
      )
      // A number is one customer's, whatever else a row says.
      raw.exec(
        `UPDATE users SET telegram_id = NULL WHERE telegram_id IS NOT tg_id
           AND (tg_id > 0 OR telegram_id IN (SELECT tg_id FROM users WHERE tg_id > 0));
         UPDATE users SET telegram_id = tg_id WHERE tg_id > 0 AND telegram_id IS NULL;
         DELETE FROM user_tokens WHERE token IN (SELECT token FROM users)`,
      )
      raw
        .prepare(
          "UPDATE outbox SET status = 'skipped', done_at = ?, bot_token = NULL WHERE status IN ('ready', 'sending')",
        )
        .run(at)
      raw.exec("UPDATE events SET status = 'skipped' WHERE status IN ('ready', 'sending')")
      raw.prepare("UPDATE payments SET next_check_at = ? WHERE status = 'pending'").run(at)
      raw.exec("UPDATE nodes SET sync_blocked = (kind <> 'external')")
      raw.exec(
        "DELETE FROM add_only_nodes; INSERT INTO add_only_nodes SELECT code FROM nodes WHERE kind <> 'external'",
      )
      // By this a portion of its entries is found without going through all of them.
      raw.exec('CREATE INDEX IF NOT EXISTS audit_log_at ON audit_log (at)')
    })()
    return {
      instanceId: peekInstance(raw, 'instance_id') ?? null,
      taken: [...taken],
      dropped: names,
    }
  } catch (error) {
    throw neutral(error)
  } finally {
    raw.close()
  }
}
