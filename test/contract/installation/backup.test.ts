import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gnuTar, gnuUntar, rawTarGz, upload } from '#test/support/archives/archives.ts'
import { archiveOf, download, logInTo, restoreInto } from '#test/support/calls/restores.ts'
import {
  addNode,
  addPayment,
  addSubscription,
  addUser,
  auditOf,
  inSeconds,
  nowOf,
} from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

const _BACKUP = '/admin/api/backup'
const RESTORE = '/admin/api/backup/restore'
let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld({ ownThreads: true })
})

afterEach(() => w.close())

const restore = (archive: Uint8Array) => restoreInto(w, archive)
const login = () => logInTo(w)

describe('POST /admin/api/backup/restore', () => {
  test('200: what was backed up is back, what came later is gone', async () => {
    const token = addUser(w, 1)
    const uuid = addSubscription(w, 1)
    const archive = await download(w)
    addUser(w, 2)
    w.change("update subscriptions set expires_at = '2020-01-01T00:00:00'")
    const answer = await restore(archive)
    expect(answer).toEqual({
      ok: true,
      restored_db: true,
      restored_env: true,
      restart_needed: [],
      dropped: [],
      kept: [],
      safety_copies: ['before-restore-20260301-120000.db', 'before-restore-20260301-120000.env'],
      reviews: 0,
      restarted_bot: false,
    })
    expect(w.rows('select tg_id, token from users')).toEqual([{ tg_id: 1, token }])
    expect(w.rows('select uuid, expires_at from subscriptions')).toEqual([
      { uuid, expires_at: inSeconds(w, 30 * 86_400) },
    ])
    expect(auditOf(w)).toEqual(['backup.download', 'backup.restore'])
    expect(w.files('work')).toEqual([])
    expect(w.env()).toContain('INSTANCE_ID=11111111-2222-3333-4444-555555555555\n')
  })

  test('the safety copies hold what was there, owner-only; those of the last 7 days stay', async () => {
    const archive = await download(w)
    addUser(w, 2)
    for (let i = 0; i < 7; i++) {
      w.change(
        'insert into admin_sessions (token, admin_id, created_at, expires_at, last_seen_at, ip) select token || ?, admin_id, created_at, expires_at, last_seen_at, ip from admin_sessions limit 1',
        i,
      )
      const cookie = i === 0 ? undefined : await login()
      await w.admin(RESTORE, { ...upload(archive), ...(cookie ? { cookie } : {}) })
      w.clock.advance(1000)
    }
    const names = w.files('safety')
    expect(names.filter((name) => name.endsWith('.db'))).toHaveLength(7)
    expect(names.filter((name) => name.endsWith('.env'))).toHaveLength(7)
    for (const name of names) expect(statSync(join(w.dir, 'safety', name)).mode & 0o777).toBe(0o600)
    expect(names[0]).toBe('before-restore-20260301-120000.db')
    w.clock.advance(8 * 86_400_000)
    await w.admin(RESTORE, { ...upload(archive), cookie: await login() })
    expect(w.files('safety').filter((name) => name.endsWith('.db'))).toEqual([
      ...[3, 4, 5, 6].map((second) => `before-restore-20260301-12000${second}.db`),
      'before-restore-20260309-120007.db',
    ])
    expect(w.files('safety')).toHaveLength(10)
  })

  test('the first safety copy has the rows that the restore took away', async () => {
    const archive = await download(w)
    addUser(w, 2)
    const { safety_copies: names } = await restore(archive)
    const copy = new Sqlite(join(w.dir, 'safety', names[0]))
    expect(copy.prepare('select tg_id from users').pluck().all()).toEqual([2])
    copy.close()
  })

  test('all sessions end, restored ones and present ones, and pending logins', async () => {
    const archive = await download(w)
    const cookie = await login()
    await restore(archive)
    expect(w.rows('select * from admin_sessions')).toEqual([])
    for (const own of [undefined, cookie]) {
      const answer = await w.admin('/admin/api/nodes', own ? { cookie: own } : {})
      expect(answer.status).toBe(401)
    }
    expect((await w.admin('/admin/api/nodes', { cookie: await login() })).status).toBe(200)
  })

  test('401 and nothing changed when the session ended while the upload was checked', async () => {
    const archive = await download(w)
    addUser(w, 2)
    const answers = await Promise.all([1, 2].map(() => w.admin(RESTORE, upload(archive))))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    expect(w.files('safety')).toHaveLength(2)
  })

  test('unsent messages and events of back then are skipped, pending payments are due at once', async () => {
    const at = nowOf(w)
    for (const status of ['ready', 'sending', 'done', 'failed']) {
      w.change(
        "insert into outbox (tg_id, kind, payload, status, next_try_at, created_at) values (1, 'x', '{}', ?, ?, ?)",
        ...[status, at, at],
      )
      w.change(
        "insert into events (id, event, data, status, created_at) values (?, 'node.added', '{}', ?, ?)",
        ...[status, status, at],
      )
    }
    addPayment(w, { id: 'waiting', next_check_at: inSeconds(w, 86_400) })
    addPayment(w, { id: 'settled', status: 'failed', next_check_at: null })
    const archive = await download(w)
    w.clock.advance(60_000)
    await restore(archive)
    expect(w.rows('select status from outbox order by id').map((row) => row.status)).toEqual([
      ...['skipped', 'skipped', 'done', 'failed'],
    ])
    expect(w.rows('select id, status from events order by seq')).toEqual([
      { id: 'ready', status: 'skipped' },
      { id: 'sending', status: 'skipped' },
      { id: 'done', status: 'done' },
      { id: 'failed', status: 'failed' },
    ])
    expect(w.rows('select id, next_check_at from payments order by id')).toEqual([
      { id: 'settled', next_check_at: null },
      { id: 'waiting', next_check_at: nowOf(w) },
    ])
  })

  test('paid payments that the backup does not know come up for review', async () => {
    addUser(w, 1)
    addPayment(w, { id: 'known', status: 'paid', deleted_user: 1 })
    addPayment(w, { id: 'was-pending', external_id: 'e-1' })
    addPayment(w, { id: 'was-failed', status: 'failed' })
    const archive = await download(w)
    const renewed = addSubscription(w, 1)
    w.change("update payments set status = 'paid', paid_at = ? where id like 'was-%'", nowOf(w))
    const paid = { status: 'paid', paid_at: nowOf(w), external_id: 'e-2', checks: 3 }
    addPayment(w, { id: 'new', ...paid, renews_uuid: renewed, subscription_uuid: renewed })
    addPayment(w, { id: 'refunded', status: 'paid', paid_at: nowOf(w), refunded_at: nowOf(w) })
    addPayment(w, { id: 'unpaid' })
    w.change(
      "insert into orphan_payments (provider, external_id, found_at) values ('provider_a', 'o-1', ?)",
      nowOf(w),
    )
    const answer = await restore(archive)
    expect(answer.reviews).toBe(4)
    const reason = 'paid, but unknown to the backup restored at 2026-03-01T12:00:00'
    const columns =
      'id, status, review_reason, next_check_at, paid_at, checks, renews_uuid, subscription_uuid'
    const due = {
      next_check_at: nowOf(w),
      paid_at: null,
      checks: 0,
      renews_uuid: null,
      subscription_uuid: null,
    }
    expect(w.rows(`select ${columns} from payments order by id`)).toEqual([
      { ...due, id: 'known', status: 'paid', review_reason: null, next_check_at: null },
      { ...due, id: 'new', status: 'pending', review_reason: reason },
      {
        ...{ ...due, id: 'refunded', status: 'pending', next_check_at: null },
        review_reason:
          'paid and refunded, but unknown to the backup restored at 2026-03-01T12:00:00',
      },
      // Its bill may be paid yet.
      { ...due, id: 'unpaid', status: 'pending', review_reason: null },
      { ...due, id: 'was-failed', status: 'failed', review_reason: reason, next_check_at: null },
      { ...due, id: 'was-pending', status: 'pending', review_reason: reason },
    ])
    expect(w.rows('select external_id from orphan_payments')).toEqual([{ external_id: 'o-1' }])
  })

  test('nothing is removed from a node until force, and its alarm stays so long', async () => {
    addUser(w, 1)
    addNode(w, 'ex1')
    const archive = await download(w)
    const later = addSubscription(w, 1)
    await w.admin('/admin/api/sync', { body: {} })
    expect(w.node.clients.has(later)).toBe(true)
    await restore(archive)
    const cookie = await login()
    for (let pass = 0; pass < 3; pass++) await w.s.nodeSync.syncAll({ force: false, remove: true })
    expect(w.node.clients.has(later)).toBe(true)
    const blocked = () => w.rows('select code, sync_blocked from nodes order by code')
    expect(blocked()).toEqual([
      { code: 'de1', sync_blocked: 1 },
      { code: 'ex1', sync_blocked: 0 },
    ])
    const added = addSubscription(w, 1)
    await w.s.nodeSync.syncAll({ force: false, remove: true })
    expect([...w.node.clients.keys()].sort()).toEqual([added, later].sort())
    const forced = await w.admin('/admin/api/sync', { body: { force: true }, cookie })
    expect(forced.json.nodes).toMatchObject([{ code: 'de1', removed: 1 }])
    expect([...w.node.clients.keys()]).toEqual([added])
    expect(blocked()[0]).toEqual({ code: 'de1', sync_blocked: 0 })
    w.change('update subscriptions set active = 0')
    await w.s.nodeSync.syncAll({ force: false, remove: true })
    expect(w.node.clients.size).toBe(0)
  })

  test('the id of the backup is adopted, in the database, the env file and the running sync', async () => {
    const id = 'aaaaaaaa-2222-3333-4444-555555555555'
    const archive = await archiveOf((other) => {
      other.change('update instance set instance_id = ?', id)
      writeFileSync(other.envFile, `INSTANCE_ID=${id}\n`)
    })
    const { dropped } = await restore(archive)
    expect(dropped).toEqual([])
    expect(w.s.instanceId()).toBe(id)
    expect(w.env()).toBe(`INSTANCE_ID=${id}\n`)
    await w.admin('/admin/api/sync', { body: { force: true }, cookie: await login() })
    expect(w.node.owner).toBe(id)
  })

  test('a backup without an env file restores the database alone', async () => {
    const { 'panel.db': database } = gnuUntar(await download(w))
    const before = w.env()
    const answer = await restore(gnuTar({ 'panel.db': database as Buffer }))
    expect([answer.restored_env, answer.restarted_bot]).toEqual([false, false])
    expect(w.env()).toBe(before)
  })

  test('a live bot is restarted by the handshake', async () => {
    const archive = await download(w)
    w.change(
      'insert into bot_state (id, wanted_generation, running_generation, heartbeat_at) values (1, 3, 3, ?)',
      nowOf(w),
    )
    const bot = setInterval(
      () => w.change('update bot_state set running_generation = wanted_generation'),
      20,
    )
    const answer = await restore(archive)
    clearInterval(bot)
    expect(answer.restarted_bot).toBe(true)
    expect(w.rows('select wanted_generation from bot_state')).toEqual([{ wanted_generation: 4 }])
  })

  test('a second factor that was used after the backup works no second time', async () => {
    w.change("update admins set totp_secret = 'SECRETSECRETSECR', totp_last_step = 5")
    const archive = await download(w)
    w.change('update admins set totp_last_step = 9')
    await restore(archive)
    expect(w.rows('select totp_last_step from admins')).toEqual([{ totp_last_step: 9 }])
  })

  test.each(['gnu', 'oldgnu', 'ustar'])(
    'an archive that GNU tar made is accepted: %s',
    async (format) => {
      addUser(w, 1)
      const files = gnuUntar(await download(w))
      addUser(w, 2)
      await restore(
        gnuTar({ './.env': files['.env'] as Buffer, './panel.db': files['panel.db'] as Buffer }, [
          `--format=${format}`,
        ]),
      )
      expect(w.rows('select tg_id from users')).toEqual([{ tg_id: 1 }])
    },
  )

  test('a size in base 256 is read', async () => {
    const files = gnuUntar(await download(w))
    const database = files['panel.db'] as Buffer
    const size = Buffer.alloc(12)
    size[0] = 0x80
    size.writeUInt32BE(database.length, 8)
    await restore(
      rawTarGz([{ name: 'panel.db', content: database, size: size.toString('latin1') }]),
    )
  })

  test('a copy of the running file, with its mark of a write-ahead log, is accepted', async () => {
    addUser(w, 1)
    const copy = join(w.dir, 'plain.db')
    w.change('vacuum into ?', copy)
    const raw = new Sqlite(copy)
    raw.pragma('journal_mode = WAL')
    raw.close()
    addUser(w, 2)
    await restore(gnuTar({ 'panel.db': readFileSync(copy) }))
    expect(w.rows('select tg_id from users')).toEqual([{ tg_id: 1 }])
  })
})
