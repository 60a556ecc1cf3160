/** Texts that should be nothing but texts, in every text column of an archive: most columns refuse them. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dropFactTriggers } from '#db/engine/sqlite/facts.ts'
import { migrate } from '#db/engine/sqlite/migrate.ts'
import { snapshotInto } from '#db/engine/sqlite/snapshot.ts'
import { STORED_TABLES } from '#db/rows.ts'
import { columnsOf, rebuild, rebuildIn, restoredTables } from '#db/upload.ts'
import { GATEWAY_IDS } from '#src/integrations/payments/index.ts'
import { fillEveryTable, HOSTILE_TEXTS } from '#test/support/rows/full-rows.ts'
import { createWorld } from '#test/support/worlds/world.ts'

let dir: string
let good: string
/** A database that the migrations made, from which a new one costs a third of what they do. */
let blank: Buffer
let textColumns: [table: string, column: string][]
let numberColumns: [table: string, column: string][]
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'subpanel-hostile-'))
  const live = join(dir, 'live.db')
  const w = await createWorld({ path: live })
  await fillEveryTable(w)
  const { raw } = w.s.db
  const tables = restoredTables(raw)
  const empty = tables.filter((table) => !raw.prepare(`select 1 from "${table}"`).get())
  // A table that is new needs a row in fillEveryTable: else its columns would be tested by nothing.
  expect(empty).toEqual([])
  const columnsOfType = (wanted: string) =>
    tables.flatMap((table) =>
      columnsOf(raw, table)
        .filter(({ type }) => type === wanted)
        .map(({ name }): [string, string] => [table, name]),
    )
  textColumns = columnsOfType('text')
  numberColumns = columnsOfType('integer')
  good = join(dir, 'good.db')
  snapshotInto(live, good)
  w.close()
  const copy = new Sqlite(good)
  dropFactTriggers(copy)
  copy.close()
  const made = new Sqlite(':memory:')
  migrate(made, undefined, { keepFacts: false })
  blank = made.serialize()
  made.close()
})
afterAll(() => rmSync(dir, { recursive: true }))

type Value = string | number | bigint

/** The good archive with another value in the last row of a column. */
function uploadWith(table: string, column: string, value: Value): string {
  const upload = join(dir, 'upload.db')
  copyFileSync(good, upload)
  const raw = new Sqlite(upload)
  raw.pragma('journal_mode = DELETE')
  raw.pragma('synchronous = OFF')
  raw.pragma('foreign_keys = OFF')
  raw
    .prepare(
      `update "${table}" set "${column}" = ? where rowid = (select max(rowid) from "${table}")`,
    )
    .run(value)
  raw.close()
  return upload
}

/** What becomes of it; null: it is taken, and in `clean`. */
function refusalIn(
  clean: Sqlite.Database,
  table: string,
  column: string,
  value: Value,
): string | null {
  const upload = uploadWith(table, column, value)
  try {
    rebuildIn(clean, upload, GATEWAY_IDS)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

function refusalOf(table: string, column: string, value: Value): string | null {
  const clean = new Sqlite(blank)
  try {
    return refusalIn(clean, table, column, value)
  } finally {
    clean.close()
  }
}

/** The columns that may hold anything: words of people and outside systems, shown escaped and part of nothing else. */
const FREE = new Set([
  ...[
    'nodes.last_error',
    'nodes.core_version',
    'retired_nodes.last_error',
    'settings.key',
    'settings.value',
  ],
  ...['users.username', 'devices.device_os', 'devices.device_model', 'devices.user_agent'],
  ...['payments.failed_reason', 'payments.review_reason', 'payments.shop_id', 'outbox.error'],
  ...['events.error', 'orphan_payments.currency', 'audit_log.admin', 'audit_log.ip'],
  ...['audit_log.object', 'audit_log.detail', 'admin_sessions.ip', 'admin_sessions.user_agent'],
  // Which of them come back a restore decides row by row; the env file's text never does.
  ...['provider', 'shop_id', 'secret', 'preset', 'api_url', 'replaced_at'].map(
    (column) => `former_credentials.${column}`,
  ),
  'instance.pending_env',
  ...['counters.epoch', 'readings.reading', 'nodes.label', 'users.note'],
  // Looked at before a list is written by it, once for each text (lists/template-rules.ts).
  'list_templates.body',
])

test('lines that a configuration would run refuse the archive, naming table and column, never the value', () => {
  const [, text] = HOSTILE_TEXTS[0] as [string, string]
  const taken = textColumns.filter(([table, column]) => {
    const refusal = refusalOf(table, column, text)
    if (refusal === null) return true
    const place = `the database in the backup holds a value of a wrong kind in the column ${column} of ${table}`
    expect(refusal).toBe(place)
    return false
  })
  expect(taken.map((place) => place.join('.')).sort()).toEqual([...FREE].sort())
}, 120_000)

test.each(HOSTILE_TEXTS)(
  '%s: no column whose values become part of something takes it',
  (_name, text) => {
    const taken = textColumns.filter(([table, column]) =>
      STORED_TABLES.get(table)
        ?.columns.find(({ name }) => name === column)
        ?.accepts(text),
    )
    // Parts of links, encoded wherever they are put; what providers call payments, checked where it becomes part of an address; labels and notes of one or more lines, escaped.
    const SHOWN =
      /^(?:nodes\.(?:address|public_key|short_id|sni|shared_uuid)|retired_nodes\.address|known_hosts\.host|plans\.label|traffic_packs\.label|node_groups\.label|node_hosts\.label|users\.name|admins\.username|outbox\.bot_token|(?:payments|orphan_payments)\.external_id)$/
    const others = taken.map((place) => place.join('.')).filter((place) => !FREE.has(place))
    expect(others.filter((place) => !SHOWN.test(place))).toEqual([])
  },
)

/** Customers are numbered below 0 too. */
const isOfCustomer = (table: string, column: string) =>
  table !== 'outbox' && (column === 'tg_id' || column === 'used_by')

test.each([-1, -(2 ** 48) - 1, 2 ** 53, 2n ** 63n - 1n])(
  '%d in a column of numbers refuses the archive, naming table and column',
  (number) => {
    expect(numberColumns.length).toBeGreaterThan(50)
    for (const [table, column] of numberColumns) {
      if (column === 'seq' || (number === -1 && isOfCustomer(table, column))) continue
      const place = `the database in the backup holds a value of a wrong kind in the column ${column} of ${table}`
      expect(refusalOf(table, column, number)).toBe(place)
    }
  },
  120_000,
)

test.each([-1, -(2 ** 48) - 1, 2 ** 53, 2n ** 63n - 1n])(
  'whatever place an archive gives a row (%d), its rows come back in their order, numbered from 1',
  (number) => {
    const ordered = numberColumns.filter(([, column]) => column === 'seq')
    expect(ordered.map(([table]) => table)).toEqual([
      'events',
      'gift_codes',
      'payments',
      'subscriptions',
    ])
    for (const [table] of ordered) {
      const clean = new Sqlite(blank)
      expect(refusalIn(clean, table, 'seq', number)).toBe(null)
      const upload = new Sqlite(join(dir, 'upload.db'), { readonly: true })
      const orderOf = (raw: Sqlite.Database, columns: string) =>
        raw.prepare(`select ${columns} from "${table}" order by seq`).pluck().all()
      const key = table === 'gift_codes' ? 'code' : table === 'subscriptions' ? 'uuid' : 'id'
      const keys = orderOf(upload, key)
      expect(orderOf(clean, key)).toEqual(keys)
      expect(orderOf(clean, 'seq')).toEqual(keys.map((_, i) => i + 1))
      upload.close()
      clean.close()
    }
  },
)

test('what a restore calls refuses and takes the same', () => {
  expect.assertions(3)
  const [, text] = HOSTILE_TEXTS[0] as [string, string]
  for (const [table, column] of [
    ['nodes', 'code'],
    ['users', 'note'],
    ['list_templates', 'body'],
  ] as const) {
    const upload = uploadWith(table, column, text)
    const clean = join(dir, `clean-${column}.db`)
    const refusal = refusalOf(table, column, text)
    const take = () => rebuild(upload, clean, GATEWAY_IDS)
    if (refusal !== null) {
      expect(take).toThrow(refusal)
      continue
    }
    take()
    const raw = new Sqlite(clean, { readonly: true })
    expect(raw.prepare(`select "${column}" from "${table}"`).pluck().all()).toContain(text)
    raw.close()
  }
})

test('the attack of restore to command: a code with line breaks', () => {
  const code =
    'zz@\n]},"streamSettings":{}},\n{"tag":"x\\nCORE_RESTART=id > /tmp/x; exit 1\\n"}],\n"log":{"loglevel":"debug","error":"@dir@/node.conf"},\n"zzz":[{"a":{"b":[\n@clients zz'
  expect(refusalOf('nodes', 'code', code)).toMatch(/in the column code of nodes$/)
  const transports = JSON.stringify([
    { type: 'hysteria2', port: '443"\nauth: {type: command, command: id}\n#' },
  ])
  expect(refusalOf('nodes', 'transports_json', transports)).toMatch(/transports_json of nodes$/)
})
