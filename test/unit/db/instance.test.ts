/** What an installation knows of itself was rows of settings: what an earlier version kept there stays, and no such row is believed any more. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { findAddOnlyNodes, releaseAddOnlyNodes } from '#db/add-only-nodes.ts'
import { migrate, migrationNumbers } from '#db/engine/sqlite/migrate.ts'
import { peekInstance } from '#db/engine/sqlite/peek.ts'
import { snapshotInto } from '#db/engine/sqlite/snapshot.ts'
import { sqliteStore } from '#db/engine/sqlite/store.ts'
import { addFormerCredentials } from '#db/former-credentials.ts'
import { getInstance, notePaymentsAsked, updateInstance } from '#db/instance.ts'
import { readSettings } from '#src/domain/settings.ts'
import { completeRestore, openInstance } from '#src/instance.ts'
import { changedDatabase, gnuTar, gnuUntar } from '#test/support/archives/archives.ts'
import { archiveOf, restoreInto } from '#test/support/calls/restores.ts'
import {
  addFormerCredentials as addFormer,
  nowOf,
  putSettings,
} from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { INSTANCE_ID } from '#test/support/worlds/world.ts'

/** The number of the last migration before the table. */
const BEFORE = migrationNumbers()[17] as number

type Rows = Record<string, string>

function putRows(raw: Sqlite.Database, rows: Rows): void {
  const put = raw.prepare('INSERT INTO settings (key, value) VALUES (?, ?)')
  for (const row of Object.entries(rows)) put.run(...row)
}

/** A database of the version before, migrated. */
function migrated(rows: Rows): Sqlite.Database {
  const raw = new Sqlite(':memory:')
  migrate(raw, BEFORE)
  putRows(raw, rows)
  migrate(raw)
  return raw
}

const SHOP = { provider: 'provider_b', until: '2026-03-31T00:00:00', shopId: 'm1', secret: 's1' }
const NOTHING = {
  id: 1,
  ...{ instance_id: null, generation: null, payments_generation: null },
  ...{ pending_env: null, backup_key: null },
}

const ALL = {
  INSTANCE_ID: 'aaaaaaaa-2222-3333-4444-555555555555',
  ENV_GENERATION: 'g2',
  PAYMENTS_GENERATION: 'g1',
  PENDING_ENV: 'A=1\nB="2"\n',
  BACKUP_KEY: 'scrypt$16$8$2$salt$key',
  ADD_ONLY_NODES: 'g2 de1 n_l-1',
  PREVIOUS_CREDENTIALS: JSON.stringify([SHOP]),
}

describe('rows of settings of an earlier version', () => {
  const facts = (rows: Rows) => {
    const raw = migrated(rows)
    try {
      return raw.prepare('SELECT * FROM instance').all()
    } finally {
      raw.close()
    }
  }
  const column = (rows: Rows, sql: string) => {
    const raw = migrated(rows)
    try {
      return raw.prepare(sql).pluck().all()
    } finally {
      raw.close()
    }
  }

  test('become columns, and are gone; live settings stay', () => {
    expect(facts(ALL)).toEqual([
      {
        id: 1,
        instance_id: ALL.INSTANCE_ID,
        generation: 'g2',
        payments_generation: 'g1',
        pending_env: ALL.PENDING_ENV,
        backup_key: ALL.BACKUP_KEY,
      },
    ])
    const left = column({ ...ALL, BRAND_NAME: 'Mine' }, 'SELECT key FROM settings')
    expect(left).toEqual(['BRAND_NAME'])
    expect(facts({})).toEqual([NOTHING])
  })

  test.each(['', 'a b', 'x'.repeat(65)])('a generation of %j is none', (generation) => {
    const rows = { ENV_GENERATION: generation, PAYMENTS_GENERATION: generation }
    expect(facts(rows)).toEqual([NOTHING])
  })

  test.each(['', 'a b', 'a\nPORT=1', 'é', 'x'.repeat(65)])('an id of %j is none', (id) => {
    expect(facts({ INSTANCE_ID: id })).toEqual([NOTHING])
  })

  test.each([
    [ALL.ADD_ONLY_NODES, ['de1', 'n_l-1']],
    ['g', []],
    ['', []],
    ['g de1 de1', ['de1']],
    [`g de1 ${'x'.repeat(33)} a;b é  nl`, ['de1', 'nl']],
    ['g "] de1', []],
  ])('nodes that are only added to, from %j', (value, codes) => {
    const rows = { ADD_ONLY_NODES: value }
    expect(column(rows, 'SELECT code FROM add_only_nodes ORDER BY code')).toEqual(codes)
  })

  const row = { provider: 'provider_b', shop_id: 'm1', secret: 's1', preset: null, api_url: null }
  const kept = { ...row, replaced_at: '2026-03-01T00:00:00' }
  test.each<[object | string, object[]]>([
    [[SHOP], [kept]],
    [
      [{ ...SHOP, preset: 'generic', apiUrl: 'https://b.test' }, SHOP],
      [{ ...kept, preset: 'generic', api_url: 'https://b.test' }, kept],
    ],
    [[1, 'a', '{', null, [SHOP], {}, SHOP, { ...SHOP, secret: 1 }], [kept]],
    [[{ ...SHOP, preset: null }], []],
    [[{ ...SHOP, apiUrl: {} }], []],
    [[{ ...SHOP, until: undefined }], []],
    [[{ ...SHOP, until: 'zzzz' }], []],
    [[{ ...SHOP, until: 1 }], []],
    [[{ ...SHOP, until: '2026-99-99T00:00:00' }], []],
    [[{ ...SHOP, until: '0000-01-01T00:00:00' }], []],
    [{ a: SHOP }, []],
    ['{"a":1}', []],
    ['[', []],
    ['', []],
    ['['.repeat(5000), []],
    ['"x"', []],
  ])('former shops, from %j', (value, shops) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const raw = migrated({ PREVIOUS_CREDENTIALS: text })
    const columns = 'provider, shop_id, secret, preset, api_url, replaced_at'
    const rows = raw.prepare(`SELECT ${columns} FROM former_credentials ORDER BY id`).all()
    raw.close()
    expect(rows).toEqual(shops)
  })
})

describe('an installation', () => {
  let w: FileWorld
  beforeEach(async () => {
    // What no thread of a test may set.
    vi.spyOn(process, 'umask').mockReturnValue(0o077)
    w = await createFileWorld()
  })
  afterEach(() => {
    vi.restoreAllMocks()
    w.close()
  })
  const path = (name: string) => join(w.dir, name)

  /** A file of the version before. */
  function former(rows: Rows): string {
    const file = path(`former-${w.files('.').length}.db`)
    const raw = new Sqlite(file)
    migrate(raw, BEFORE)
    putRows(raw, rows)
    const { username, password_hash, created_at } = w.rows('select * from admins')[0]
    raw
      .prepare('INSERT INTO admins (username, password_hash, created_at) VALUES (?, ?, ?)')
      .run(username, password_hash, created_at)
    raw.close()
    return file
  }

  test.each(['update instance set instance_id = null', 'delete from instance'])(
    'is not called empty for lack of its id, and gets one by --init: %s',
    async (sql) => {
      w.change(sql)
      const config = { ...w.s.config, envFile: w.envFile, envInstanceId: INSTANCE_ID }
      const database = path('panel.db')
      const start = (init: boolean) =>
        openInstance(config, sqliteStore(database), { init, now: w.s.clock.now() })
      await expect(start(false)).rejects.toThrow(
        `${w.envFile} belongs to instance ${INSTANCE_ID}, but ${database} has no INSTANCE_ID. `,
      )
      const { db } = await start(true)
      expect(w.env()).toContain(`INSTANCE_ID=${getInstance(db).instanceId}\n`)
      db.close()
    },
  )

  test('believes no row of settings', async () => {
    const before = [getInstance(w.s.db), readSettings(w.s).text('BRAND_NAME')]
    const env = 'BRAND_NAME=Planted\n'
    putSettings(w, { ...ALL, PENDING_ENV: env })
    expect([getInstance(w.s.db), readSettings(w.s).text('BRAND_NAME')]).toEqual(before)
    expect(await w.s.db.scan(findAddOnlyNodes)).toBeUndefined()
    expect(peekInstance(w.s.db.raw, 'backup_key')).toBeUndefined()
    expect(
      await completeRestore({
        databasePath: path('panel.db'),
        databaseUrl: null,
        envFile: w.envFile,
      }),
    ).toBe(false)
    expect(w.s.instanceId()).toBe(INSTANCE_ID)
  })

  test('has what is kept in memory of it read anew, and nothing for the rest', async () => {
    const { db } = w.s
    const moved = async (work: () => unknown) => {
      const before = db.revision()
      await work()
      return db.revision() !== before
    }
    const update = (values: Parameters<typeof updateInstance>[1]) =>
      moved(() => db.tx((tx) => updateInstance(tx, values)))
    expect(await update({ instanceId: 'x' })).toBe(true)
    expect(await update({ generation: 'g' })).toBe(true)
    expect(await update({ pendingEnv: 'A=1' })).toBe(true)
    expect(await update({ backupKey: 'k' })).toBe(true)
    expect(await moved(() => db.tx(notePaymentsAsked))).toBe(false)
    const shop = { provider: 'provider_b', shopId: '', secret: 's', replacedAt: '' }
    const keep = { since: '', most: 1 }
    expect(await moved(() => db.tx((tx) => addFormerCredentials(tx, shop, keep)))).toBe(false)
    w.change("insert into add_only_nodes values ('gone')")
    const held = await db.scan(findAddOnlyNodes)
    expect(held).toEqual({ generation: 'g', codes: ['gone'] })
    expect(await moved(() => releaseAddOnlyNodes(db, held as never, ['gone']))).toBe(false)
    expect(await db.scan(findAddOnlyNodes)).toBeUndefined()
  })

  test('asks about payments once after each restore', async () => {
    const { db } = w.s
    expect(await db.tx(notePaymentsAsked)).toBe(false)
    for (const generation of ['one', 'two']) {
      await db.tx((tx) => updateInstance(tx, { generation }))
      expect(await db.tx(notePaymentsAsked)).toBe(true)
      expect(await db.tx(notePaymentsAsked)).toBe(false)
    }
    await db.tx((tx) => updateInstance(tx, { generation: null }))
    expect(await db.tx(notePaymentsAsked)).toBe(false)
  })

  test('releases no node of a later restore', async () => {
    const { db } = w.s
    w.change("update instance set generation = 'one'")
    w.change("insert into add_only_nodes values ('de1'), ('nl')")
    const held = await db.scan(findAddOnlyNodes)
    w.change("update instance set generation = 'two'")
    await releaseAddOnlyNodes(db, held as never, ['de1'])
    expect((await db.scan(findAddOnlyNodes))?.codes).toEqual(['de1', 'nl'])
    await releaseAddOnlyNodes(db, { generation: 'two', codes: [] }, ['de1', 'xx'])
    expect((await db.scan(findAddOnlyNodes))?.codes).toEqual(['nl'])
  })

  test('whose restore was cut off before an update gets its env file at the first start after it', async () => {
    const databasePath = former(ALL)
    const envFile = path('of-former.env')
    writeFileSync(envFile, 'A=0\n')
    expect(await completeRestore({ databasePath, databaseUrl: null, envFile })).toBe(true)
    expect(readFileSync(envFile, 'utf8')).toBe(ALL.PENDING_ENV)
    expect(await completeRestore({ databasePath, databaseUrl: null, envFile })).toBe(false)
  })

  test('of an earlier version is copied without the key of its backups', () => {
    const database = former(ALL)
    const secret = 'scrypt$16$8$2$salt$key'
    expect(readFileSync(database).includes(secret)).toBe(true)
    snapshotInto(database, path('copy.db'))
    expect(readFileSync(path('copy.db')).includes(secret)).toBe(false)
    const raw = new Sqlite(path('copy.db'))
    expect(peekInstance(raw, 'backup_key')).toBeUndefined()
    expect(peekInstance(raw, 'instance_id')).toBe(ALL.INSTANCE_ID)
    raw.close()
  })

  test('is copied without the key, however long what stands beside it is', () => {
    const secret = 'scrypt$16$8$2$c2FsdA$0123456789'
    for (const [i, length] of [0, 3000, 9000].entries()) {
      w.change('update instance set backup_key = ?, pending_env = ?', secret, 'x'.repeat(length))
      snapshotInto(path('panel.db'), path(`copy-${i}.db`))
      expect(readFileSync(path(`copy-${i}.db`)).includes(secret)).toBe(false)
    }
    expect(getInstance(w.s.db).backupKey).toBe(secret)
  })

  const rows = {
    ...ALL,
    PREVIOUS_CREDENTIALS: JSON.stringify([
      SHOP,
      { ...SHOP, shopId: 'm2', apiUrl: 'http://169.254.169.254/' },
      { ...SHOP, shopId: 'm3', until: '9999-12-31T23:59:59' },
    ]),
  }
  const ofFormer = () => gnuTar({ 'panel.db': readFileSync(former(rows)) })
  const ofPresent = () =>
    archiveOf((other) => {
      other.change(
        `update instance set instance_id = ?, generation = 'g2', payments_generation = 'g2'`,
        ALL.INSTANCE_ID,
      )
      writeFileSync(other.envFile, `INSTANCE_ID=${ALL.INSTANCE_ID}\n`)
      other.change("insert into add_only_nodes values ('zz')")
      other.change("update nodes set kind = 'external'")
      const shop = { provider: 'provider_b', secret: 's1', replaced_at: '2026-03-01T00:00:00' }
      addFormer(other, { ...shop, shop_id: 'm1' })
      addFormer(other, { ...shop, shop_id: 'm2', api_url: 'http://169.254.169.254/' })
      addFormer(other, { ...shop, shop_id: 'm3', replaced_at: '9999-12-31T23:59:59' })
    })

  test.each([
    ['an earlier version', ofFormer],
    ['this one', ofPresent],
  ])('takes of an archive of %s the id and sound former shops alone', async (_version, make) => {
    w.change("update instance set generation = 'own', payments_generation = 'own'")
    w.change("insert into add_only_nodes values ('de1')")
    const { dropped } = await restoreInto(w, await make())
    expect(dropped).toEqual(['PREVIOUS_CREDENTIALS'])
    expect(w.rows('select * from instance')).toEqual([
      {
        id: 1,
        instance_id: ALL.INSTANCE_ID,
        generation: expect.stringMatching(/^[0-9a-f]{16}$/),
        payments_generation: 'own',
        pending_env: null,
        backup_key: null,
      },
    ])
    expect(await w.s.db.scan(findAddOnlyNodes)).toBeUndefined()
    expect(w.rows('select shop_id, replaced_at from former_credentials')).toEqual([
      { shop_id: 'm1', replaced_at: '2026-03-01T00:00:00' },
      { shop_id: 'm3', replaced_at: nowOf(w) },
    ])
    expect(w.s.instanceId()).toBe(ALL.INSTANCE_ID)
    expect(w.env()).toContain(`INSTANCE_ID=${ALL.INSTANCE_ID}\n`)
  })

  test('spares every node of its own that an archive of an earlier version has', async () => {
    const raw = new Sqlite(former(ALL))
    raw.exec(
      `INSERT INTO nodes (code, label, kind, address, sort_order, created_at) VALUES
         ('nl', 'x', 'managed', 'nl.test', 1, '2026-01-01T00:00:00'), ('ex', 'x', 'external', 'ex.test', 2, '2026-01-01T00:00:00')`,
    )
    raw.close()
    await restoreInto(w, gnuTar({ 'panel.db': readFileSync(raw.name) }))
    expect((await w.s.db.scan(findAddOnlyNodes))?.codes).toEqual(['nl'])
  })

  test('keeps its own id where an archive has none, or in a row of settings alone', async () => {
    const archive = await archiveOf((other) => putSettings(other, ALL))
    const { 'panel.db': database } = gnuUntar(archive)
    const bytes = changedDatabase(database as Buffer, 'delete from instance')
    const { dropped } = await restoreInto(w, gnuTar({ 'panel.db': bytes }))
    expect(dropped).toEqual(Object.keys(ALL).sort())
    expect(getInstance(w.s.db)).toMatchObject({ instanceId: INSTANCE_ID, backupKey: null })
    expect(getInstance(w.s.db).generation).toMatch(/^[0-9a-f]{16}$/)
  })
})
