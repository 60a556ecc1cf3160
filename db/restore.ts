/** The rows of a verified copy take the place of the live ones, in one transaction that other processes only see whole. */
import Sqlite from 'better-sqlite3'
import { isBusy } from './engine/failures.ts'
import { configure } from './engine/sqlite/configure.ts'
import { dropFactTriggers, rebuildFacts } from './engine/sqlite/facts.ts'
import { neutral } from './engine/sqlite/failures.ts'
import { peekInstance, peekSetting } from './engine/sqlite/peek.ts'
import { snapshotInto, withConnection } from './engine/sqlite/snapshot.ts'
import { STORED_TABLES } from './rows.ts'
import { CUSTOMERS } from './sequences.ts'
import { copiedColumns, restoredTables } from './upload.ts'
import { ROOM_FROM } from './values.ts'

interface Former {
  tgIds: number[]
  botToken: string | null
  /** Who is sent events of restores; null where nobody is. */
  receiver: { url: string; secret: string } | null
}

/** A row of `former_credentials`, with what may be anything. */
export interface FormerShop {
  provider: string
  shopId: string
  secret: string
  preset: string | null
  apiUrl: string | null
  replacedAt: string
}

/** As answers name the former shops that were not taken. */
const FORMER_SHOPS = 'PREVIOUS_CREDENTIALS'

export interface RestoreFacts {
  /** The timestamp of the restore. */
  at: string
  generation: string
  /** The keys of the rows of `settings` that come back. */
  accepted(rows: { key: string; value: string }[]): Set<string>
  /** Whether the credentials of a former shop come back. */
  isFormerShop(shop: FormerShop): boolean
  reviewReason: string
  refundedReason: string
  audit: { admin: string | null; ip: string }
  /** The shops that new payments go to, by the settings that `row` reads; `env`: the env file as it will be, undefined for now. */
  shops(row: (key: string) => string | undefined, env?: string): FormerShop[]
  /** Who is told before the restore, and by which bot; `row` reads a live setting. */
  former(row: (key: string) => string | undefined): Former
  /** What they are told of it; `passphraseTaken`: backups are encrypted from now on, to the archive's passphrase. */
  message(passphraseTaken: boolean): { kind: string; payload: object }
  /** The session that asks; null for the operator's script. */
  sessionId: number | null
  /** The key of the archive: that of backups from now on where this machine has none. Null for none, and for one that is too weak. */
  adoptable: string | null
}

/** The restore was asked for by a session that has ended since. */
export class SessionEnded extends Error {}

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

/**
 * What of the live rows outlives them; kept in temporary tables while they are replaced. Of payments: what is paid, what is in review, which
 * an earlier restore may have brought there, whose money went back, and bills that may be paid yet; whose they are, with their links, and the
 * keys by which gateways are asked about them.
 */
const KEEP = `
  CREATE TEMP TABLE lost_payments AS SELECT * FROM main.payments AS p
    WHERE (status <> 'failed' OR review_reason IS NOT NULL OR refunded_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM restored.payments AS r
      WHERE r.id = p.id AND (r.refunded_at IS NOT NULL OR p.refunded_at IS NULL)
      AND (r.status = 'paid' AND (p.status <> 'paid' OR p.review_reason IS NULL OR r.review_reason IS NOT NULL)
        OR p.status = 'pending' AND p.review_reason IS NULL AND p.external_id IN ('', r.external_id)));
  CREATE TEMP TABLE lost_buyers AS SELECT * FROM main.users
    WHERE tg_id IN (SELECT tg_id FROM temp.lost_payments) AND tg_id NOT IN (SELECT tg_id FROM restored.users);
  CREATE TEMP TABLE lost_links AS SELECT * FROM main.user_tokens WHERE tg_id IN (SELECT tg_id FROM temp.lost_buyers);
  CREATE TEMP TABLE own_shops AS SELECT * FROM main.former_credentials;
  CREATE TEMP TABLE lost_orphans AS SELECT * FROM main.orphan_payments AS o
    WHERE NOT EXISTS (SELECT 1 FROM restored.orphan_payments AS r
      WHERE r.provider = o.provider AND r.external_id = o.external_id);
  CREATE TEMP TABLE unsent_alerts AS SELECT * FROM main.outbox WHERE kind = 'alert' AND status IN ('ready', 'sending');
  CREATE TEMP TABLE own_installation AS SELECT * FROM main.installation;
  CREATE TEMP TABLE own_sequences AS SELECT * FROM main.sequences;
  CREATE TEMP TABLE used_codes AS SELECT admin_id, code, used_at FROM main.recovery_codes WHERE used_at IS NOT NULL;
  CREATE TEMP TABLE used_steps AS SELECT totp_secret, max(totp_last_step) AS last_step FROM main.admins
    WHERE totp_last_step IS NOT NULL GROUP BY totp_secret;
`

/** The columns of a table that are copied for a statement, all but one where it is named. */
const namesOf = (raw: Sqlite.Database, table: string, except?: string) =>
  copiedColumns(raw, table)
    .filter(({ name }) => name !== except)
    .map(({ name }) => `"${name}"`)
    .join(', ')

interface Index {
  name: string
  sql: string
}

/**
 * Replaces the rows of one table. Indexes that keep no rule are built anew at the end: one sort instead of a search for each
 * row, a third of the time.
 */
function replaceTable(raw: Sqlite.Database, table: string): void {
  const columns = namesOf(raw, table)
  const indexes = raw
    .prepare(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql LIKE 'CREATE INDEX%'",
    )
    .all(table) as Index[]
  for (const { name } of indexes) raw.exec(`DROP INDEX main."${name}"`)
  raw.exec(`DELETE FROM main."${table}"`)
  raw.exec(`INSERT INTO main."${table}" (${columns}) SELECT ${columns} FROM restored."${table}"`)
  for (const { sql } of indexes) raw.exec(sql)
}

/** Which restored payments (m) and which lost ones (p) are the same, as these columns: by their ids, or by what the provider calls them. */
const sameAsLost = (columns: string) => `
  SELECT ${columns} FROM temp.lost_payments AS p JOIN main.payments AS m ON m.id = p.id
  UNION ALL SELECT ${columns} FROM temp.lost_payments AS p JOIN main.payments AS m
    ON m.provider = p.provider AND m.external_id = p.external_id AND m.external_id <> ''`

/**
 * Paid payments that the restored rows do not know as paid come back for review, as pending: nothing was given for them there. What
 * was in review stays so, what went back is given for no more, and is in review where it was given for, and bills are asked about, by what
 * their provider calls them. Gives how many are in review.
 */
function keepPayments(raw: Sqlite.Database, facts: RestoreFacts): number {
  const columns = namesOf(raw, 'payments')
  const granted = "id IN (SELECT id FROM main.payments WHERE status = 'paid')"
  raw
    .prepare(
      `UPDATE temp.lost_payments SET status = iif(status = 'paid', 'pending', status), paid_at = NULL,
       subscription_uuid = NULL, checks = 0,
       review_reason = CASE WHEN refunded_at IS NOT NULL AND (status = 'paid' OR ${granted}) THEN @refunded
         WHEN status = 'paid' AND NOT ${granted} THEN @unknown ELSE review_reason END,
       next_check_at = CASE WHEN refunded_at IS NULL AND status <> 'failed' THEN @at END,
       renews_uuid = (SELECT uuid FROM main.subscriptions WHERE uuid = renews_uuid)`,
    )
    .run({ refunded: facts.refundedReason, unknown: facts.reviewReason, at: facts.at })
  raw.exec(
    `UPDATE main.payments AS r SET review_reason = coalesce(f.review_reason, r.review_reason),
       refunded_at = coalesce(r.refunded_at, f.refunded_at),
       next_check_at = iif(f.refunded_at IS NULL, r.next_check_at, NULL)
     FROM (${sameAsLost('m.id, p.review_reason, p.refunded_at')}) AS f WHERE f.id = r.id;
     UPDATE main.payments AS r SET external_id = p.external_id, pay_url = p.pay_url,
       pay_url_expires_at = p.pay_url_expires_at, order_json = NULL
     FROM temp.lost_payments AS p WHERE p.id = r.id AND p.provider = r.provider AND r.external_id = '' AND p.external_id <> ''
       AND NOT EXISTS (SELECT 1 FROM main.payments AS o WHERE o.provider = p.provider AND o.external_id = p.external_id)`,
  )
  raw.exec(
    `INSERT INTO main.payments (${columns}) SELECT ${columns} FROM temp.lost_payments
     WHERE id NOT IN (${sameAsLost('p.id')}) ORDER BY seq`,
  )
  return raw
    .prepare('SELECT count(*) FROM temp.lost_payments WHERE review_reason IS NOT NULL')
    .pluck()
    .get() as number
}

/**
 * Whoever has bought or may be paying, and came after the backup, comes back with their links: what is given for their payment is theirs by
 * these, and a guest has nothing else. Not where the restored rows know their number, their Telegram id or their link as somebody's.
 */
function keepBuyers(raw: Sqlite.Database): void {
  const columns = namesOf(raw, 'users')
  raw.exec(
    `INSERT INTO main.users (${columns}) SELECT ${columns} FROM temp.lost_buyers AS u
       WHERE NOT EXISTS (SELECT 1 FROM main.users AS o WHERE o.token = u.token)
       AND NOT EXISTS (SELECT 1 FROM main.users AS o WHERE o.telegram_id IN (u.tg_id, u.telegram_id))
       AND token NOT IN (SELECT token FROM main.user_tokens);
     INSERT OR IGNORE INTO main.user_tokens SELECT * FROM temp.lost_links
       WHERE tg_id IN (SELECT u.tg_id FROM temp.lost_buyers AS l JOIN main.users AS u ON u.tg_id = l.tg_id AND u.token = l.token)
       AND token NOT IN (SELECT token FROM main.users)`,
  )
}

/** Shops that payments went to until now, and those of before, count as former ones: what was ordered there can be asked about by their keys. */
function keepShops(raw: Sqlite.Database, before: FormerShop[], after: FormerShop[]): void {
  const columns = namesOf(raw, 'former_credentials', 'id')
  const names = ['provider', 'shopId', 'secret', 'preset', 'apiUrl'] as const
  const isSame = (one: FormerShop, other: FormerShop) =>
    names.every((name) => one[name] === other[name])
  const add = raw.prepare(
    `INSERT INTO temp.own_shops (provider, shop_id, secret, preset, api_url, replaced_at)
     VALUES (@provider, @shopId, @secret, @preset, @apiUrl, @replacedAt)`,
  )
  for (const shop of before) if (!after.some((one) => isSame(one, shop))) add.run(shop)
  raw.exec(
    `INSERT INTO temp.own_shops (${columns}) SELECT ${columns} FROM main.former_credentials;
     DELETE FROM main.former_credentials;
     INSERT INTO main.former_credentials (provider, shop_id, secret, preset, api_url, replaced_at)
       SELECT provider, shop_id, secret, preset, api_url, max(replaced_at) FROM temp.own_shops
       GROUP BY 1, 2, 3, 4, 5 ORDER BY 6`,
  )
}

function keepRest(raw: Sqlite.Database): void {
  // A backup from before this table brings none.
  raw.exec('INSERT OR IGNORE INTO main.installation SELECT * FROM temp.own_installation')
  // What was numbered after the backup keeps its number to itself: payments name it.
  raw.exec(
    `INSERT INTO main.sequences SELECT * FROM temp.own_sequences WHERE true
       ON CONFLICT DO UPDATE SET last = max(last, excluded.last)`,
  )
  const columns = namesOf(raw, 'orphan_payments', 'id')
  // What was given by hand for one of them is gone.
  raw.exec(
    `UPDATE temp.lost_orphans SET resolved_at = NULL;
     INSERT INTO main.orphan_payments (${columns}) SELECT ${columns} FROM temp.lost_orphans`,
  )
  // A code that was used after the backup must not work a second time.
  raw.exec(
    `UPDATE main.admins AS a SET totp_last_step = u.last_step FROM temp.used_steps AS u
     WHERE u.totp_secret = a.totp_secret AND u.last_step > coalesce(a.totp_last_step, 0)`,
  )
  raw.exec(
    `UPDATE main.recovery_codes AS c SET used_at = u.used_at FROM temp.used_codes AS u
     WHERE u.code = c.code AND c.used_at IS NULL`,
  )
  // Nor after the restore of a later backup that has it.
  raw.exec(
    `INSERT OR IGNORE INTO main.recovery_codes (admin_id, code, used_at) SELECT admin_id, code, used_at FROM temp.used_codes
     WHERE admin_id IN (SELECT id FROM main.admins)`,
  )
}

function begin(raw: Sqlite.Database): void {
  for (let attempt = 1; ; attempt++) {
    try {
      raw.exec('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(neutral(error)) || attempt === 6) throw error
    }
  }
}

export interface ReplaceSteps {
  step(name: string): void
  /**
   * Called under the write lock, when the safety copy is made: nothing more can be written that it lacks. `pending` is the text of
   * the env file where an earlier restore could not write it; gives the one to be written after the commit.
   */
  decide(
    pending: string | undefined,
    instanceId: string,
  ): {
    instanceId: string
    envText: string
    /** As it is kept until it is written. */
    pending: string
    /** For the audit log. */
    detail: string
  }
}

/** So many entries of an archive are held against those that are here at a time, and what is of the second of the last one. */
const AUDIT_PORTION = 20_000

/**
 * The present audit log stays, so that no archive hides what was done here; entries of the future come from none of ours. An entry that
 * is noted here already doesn't come back, any other as often as the archive has it. Thousands may be of one second: those of the
 * present log are found by all that they say, some of them at a time, as they are kept in memory meanwhile.
 */
function addAudit(raw: Sqlite.Database, at: string): void {
  const columns = namesOf(raw, 'audit_log', 'id')
  raw.exec(
    `CREATE TEMP TABLE noted AS SELECT ${columns} FROM main.audit_log LIMIT 0;
     CREATE INDEX temp.noted_entry ON noted (${columns})`,
  )
  const lastOf = raw
    .prepare<[from: string, to: string], string>(
      `SELECT at FROM restored.audit_log WHERE at > ? AND at <= ? ORDER BY at LIMIT 1 OFFSET ${AUDIT_PORTION - 1}`,
    )
    .pluck()
  const span = 'at > :from AND at <= :to'
  const note = raw.prepare(
    `INSERT INTO temp.noted SELECT ${columns} FROM main.audit_log
     WHERE at IN (SELECT at FROM restored.audit_log WHERE ${span})`,
  )
  const add = raw.prepare(
    `INSERT INTO main.audit_log (${columns}) SELECT ${columns} FROM restored.audit_log AS r WHERE ${span}
     AND NOT EXISTS (SELECT 1 FROM temp.noted AS n WHERE n.at = r.at AND n.action = r.action AND n.object = r.object
       AND n.admin IS r.admin AND n.ip = r.ip AND n.detail = r.detail) ORDER BY r.id`,
  )
  for (let from = ''; from < at; ) {
    const to = lastOf.get(from, at) ?? at
    note.run({ from, to })
    add.run({ from, to })
    raw.exec('DELETE FROM temp.noted')
    from = to
  }
  raw.exec('DROP TABLE temp.noted')
}

/**
 * What admins were to be told, and the restore itself, goes to those who were alerted before it, by the bot of then: who puts other
 * recipients or another bot in place by an archive keeps nothing from them.
 */
function keepAlerts(
  raw: Sqlite.Database,
  { tgIds, botToken }: Pick<Former, 'tgIds' | 'botToken'>,
  { at }: RestoreFacts,
  { kind, payload }: ReturnType<RestoreFacts['message']>,
): void {
  const columns = namesOf(raw, 'outbox', 'id')
  raw.prepare('UPDATE temp.unsent_alerts SET bot_token = coalesce(bot_token, ?)').run(botToken)
  raw.exec(
    `INSERT INTO main.outbox (${columns}) SELECT ${columns} FROM temp.unsent_alerts ORDER BY id`,
  )
  const add = raw.prepare(
    'INSERT INTO main.outbox (tg_id, kind, payload, next_try_at, created_at, bot_token) VALUES (?, ?, ?, ?, ?, ?)',
  )
  for (const tgId of tgIds) add.run(tgId, kind, JSON.stringify(payload), at, at, botToken)
}

function replaceAll(
  raw: Sqlite.Database,
  facts: RestoreFacts,
  steps: ReplaceSteps,
  { passphraseTaken, envText }: { passphraseTaken: boolean; envText: string },
) {
  raw.exec(KEEP)
  const row = (key: string) => peekSetting(raw, key)
  const former = facts.former(row)
  const shops = facts.shops(row)
  dropFactTriggers(raw)
  const tables = restoredTables(raw)
  for (const table of tables) {
    // What this machine says of itself stays.
    if (table === 'instance') continue
    if (table === 'audit_log') addAudit(raw, facts.at)
    else replaceTable(raw, table)
    steps.step(`rows of ${table}`)
  }
  const reviews = keepPayments(raw, facts)
  keepBuyers(raw)
  keepShops(raw, shops, facts.shops(row, envText))
  keepRest(raw)
  keepAlerts(raw, former, facts, facts.message(passphraseTaken))
  rebuildFacts(raw)
  steps.step('facts made')
  if ((raw.pragma('main.foreign_key_check') as unknown[]).length > 0) {
    throw new Error('the restored rows point nowhere: nothing was changed')
  }
  return { reviews, alerted: former.tgIds, formerReceiver: former.receiver }
}

/**
 * Copies the rows of `clean` over those of the live database: all or nothing, other processes only wait with their writes. A copy
 * of the live database is at `safety` first. Gives how many payments came up for review, who was told of the restore, who is still to
 * be, and the env file's text that is to be written now: it is kept in `instance` until somebody takes it out. `passphraseTaken`: backups are
 * encrypted from now on.
 */
export function replaceRows(
  files: { database: string; clean: string; safety: string },
  facts: RestoreFacts,
  steps: ReplaceSteps,
): {
  reviews: number
  alerted: number[]
  formerReceiver: Former['receiver']
  envText: string
  passphraseTaken: boolean
} {
  return withConnection(files.database, (raw) => {
    configure(raw)
    raw.pragma('cache_size = -16384')
    raw.pragma('foreign_keys = OFF')
    raw.prepare('ATTACH ? AS restored').run(files.clean)
    begin(raw)
    const { sessionId } = facts
    const session = raw.prepare('SELECT 1 FROM admin_sessions WHERE id = ?')
    if (sessionId !== null && !session.get(sessionId)) throw new SessionEnded()
    steps.step('locked')
    snapshotInto(files.database, files.safety)
    const { instanceId, envText, pending, detail } = steps.decide(
      peekInstance(raw, 'pending_env'),
      peekInstance(raw, 'instance_id') ?? '',
    )
    steps.step('safety copies made')
    const ownKey = peekInstance(raw, 'backup_key')
    const backupKey = ownKey ?? facts.adoptable
    const passphraseTaken = backupKey !== (ownKey ?? null)
    const done = replaceAll(raw, facts, steps, { passphraseTaken, envText })
    raw
      .prepare(
        'UPDATE instance SET instance_id = ?, generation = ?, pending_env = ?, backup_key = ?',
      )
      .run(instanceId, facts.generation, pending, backupKey)
    raw
      .prepare(
        "INSERT INTO audit_log (at, admin, ip, action, detail) VALUES (?, ?, ?, 'backup.restore', ?)",
      )
      .run(
        facts.at,
        facts.audit.admin,
        facts.audit.ip,
        [detail, passphraseTaken ? 'took the passphrase of backups' : '']
          .filter(Boolean)
          .join('; '),
      )
    steps.step('rows copied')
    raw.exec('COMMIT')
    steps.step('committed')
    return { ...done, envText, passphraseTaken }
  })
}
