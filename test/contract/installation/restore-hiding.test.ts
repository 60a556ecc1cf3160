/** Who restores an archive of their own making hides neither that nor what they did before. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { upload } from '#test/support/archives/archives.ts'
import { archiveOf, logInTo, restoreInto } from '#test/support/calls/restores.ts'
import { type FakeSystem, startFakeSystem } from '#test/support/fakes/system.ts'
import { readEvent, SECRET } from '#test/support/rows/events.ts'
import { addUser, auditOf, inSeconds, nowOf, putSettings } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

const RESTORE = '/admin/api/backup/restore'
const OWNER = 777
const OWN_BOT = '100:own'

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld({ environment: { SNAPSHOT_MAX_MB: '1' } })
  putSettings(w, { ADMIN_TG_IDS: `${OWNER}`, BOT_TOKEN: OWN_BOT })
})
afterEach(() => w.close())

/** An archive with other recipients, another bot, another admin, and nothing that was noted. */
const evilArchive = (settings: Record<string, string>) =>
  archiveOf((other) => {
    other.change("update admins set username = 'evil'")
    other.change('delete from audit_log')
    putSettings(other, settings)
  })

const alerts = () =>
  w.rows(
    "select tg_id, status, bot_token, payload ->> 'about' as about from outbox where kind = 'alert' and status <> 'skipped' order by id",
  )

test('those who were alerted before are told by the bot of then, the new ones by the new one', async () => {
  await restoreInto(w, await evilArchive({ ADMIN_TG_IDS: '666', BOT_TOKEN: '666:evil' }))
  expect(w.rows('select username from admins')).toEqual([{ username: 'evil' }])
  expect(alerts()).toEqual([
    { tg_id: OWNER, status: 'ready', bot_token: OWN_BOT, about: 'restored' },
    { tg_id: 666, status: 'ready', bot_token: null, about: 'restored' },
  ])
})

test('they are told where the archive names nobody and no bot, and where they come from the environment', async () => {
  w.close()
  w = await createFileWorld({ env: `ADMIN_TG_IDS=${OWNER}\nBOT_TOKEN=${OWN_BOT}\n` })
  await restoreInto(w, await evilArchive({}))
  expect(w.env()).not.toContain('ADMIN_TG_IDS')
  expect(alerts()).toEqual([
    { tg_id: OWNER, status: 'ready', bot_token: OWN_BOT, about: 'restored' },
  ])
})

test('nobody is told twice', async () => {
  await restoreInto(w, (await w.admin('/admin/api/backup')).bytes)
  expect(alerts().filter(({ about }) => about === 'restored')).toMatchObject([{ tg_id: OWNER }])
})

test('alerts that were not sent yet stay, with the bot of then', async () => {
  const archive = await evilArchive({ BOT_TOKEN: '666:evil' })
  const add = (kind: string, status: string, about: string) =>
    w.change(
      'insert into outbox (tg_id, kind, payload, status, next_try_at, created_at) values (?, ?, ?, ?, ?, ?)',
      ...[OWNER, kind, JSON.stringify({ about }), status, nowOf(w), nowOf(w)],
    )
  add('alert', 'ready', 'admin-created')
  add('alert', 'sending', 'new-address')
  add('alert', 'done', 'node-back')
  add('granted', 'ready', 'none')
  await restoreInto(w, archive)
  expect(w.rows("select * from outbox where kind = 'granted'")).toEqual([])
  expect(alerts()).toMatchObject([
    { status: 'ready', bot_token: OWN_BOT, about: 'admin-created' },
    { status: 'sending', bot_token: OWN_BOT, about: 'new-address' },
    { status: 'ready', bot_token: OWN_BOT, about: 'restored' },
  ])
})

describe('the webhook of before', () => {
  const ticked = (path: string, secret: string) => ({
    WEBHOOK_URL: `${receiver.url}${path}`,
    WEBHOOK_SECRET: secret,
    WEBHOOK_EVENTS: 'backup.restored',
  })
  const own = () => ticked('/own', SECRET)
  const other = 'cd'.repeat(32)
  let receiver: FakeSystem
  beforeAll(async () => {
    receiver = await startFakeSystem(() => ({ status: 204 }))
  })
  afterAll(() => receiver.close())
  beforeEach(() => {
    receiver.reset()
  })

  /** Restores where events are sent as `before` says; gives what was sent by then, and what is written. */
  async function restoredOver(before: Record<string, string>, settings: Record<string, string>) {
    const archive = await evilArchive(settings)
    putSettings(w, before)
    await restoreInto(w, archive)
    const rows = w.rows('select event, status from events order by seq')
    return { sent: receiver.asked.map(({ path }) => path), rows }
  }
  const DONE = { event: 'backup.restored', status: 'done' }
  const READY = { event: 'backup.restored', status: 'ready' }

  test.each([
    ['names another one', () => ticked('/evil', other), [READY, DONE]],
    ['has another secret', () => ticked('/own', other), [READY, DONE]],
    ['has none', () => ({}), [DONE]],
    ['sends it no more', () => ({ ...own(), WEBHOOK_EVENTS: '' }), [DONE]],
  ])('is told where the archive %s', async (_what, settings, rows) => {
    expect(await restoredOver(own(), settings())).toEqual({ sent: ['/own'], rows })
    const { event, data } = readEvent(receiver.asked[0])
    expect([event, data]).toEqual(['backup.restored', { admin: 'admin', ip: '127.0.0.1' }])
  })

  test('is told once where it is the present one too', async () => {
    expect(await restoredOver(own(), own())).toEqual({ sent: [], rows: [READY] })
  })

  test.each([{ WEBHOOK_EVENTS: 'admin.added' }, { WEBHOOK_URL: '' }])(
    'is not told what it was not to be told: %j',
    async (before) => {
      const done = await restoredOver({ ...own(), ...before }, {})
      expect(done).toEqual({ sent: [], rows: [] })
    },
  )
})

const note = (world: FileWorld, at: string, action: string) =>
  world.change(
    "insert into audit_log (at, admin, ip, action) values (?, 'x', '::1', ?)",
    at,
    action,
  )

test('the audit log keeps what was noted here and gains what it lacks, each once and nothing of the future', async () => {
  note(w, inSeconds(w, -5), 'here.only')
  note(w, inSeconds(w, -9), 'in.both')
  const archive = await archiveOf((other) => {
    note(other, inSeconds(w, -9), 'in.both')
    note(other, inSeconds(w, -20), 'there.only')
    note(other, inSeconds(w, 3600), 'planted')
  })
  await restoreInto(w, archive)
  const actions = () => auditOf(w).filter((action) => action !== 'login')
  const once = ['here.only', 'in.both', 'there.only', 'backup.download']
  expect(actions().toSorted()).toEqual([...once, 'backup.restore'].toSorted())
  const cookie = await logInTo(w)
  expect((await w.admin(RESTORE, { ...upload(archive), cookie })).status).toBe(200)
  expect(actions().toSorted()).toEqual([...once, 'backup.restore', 'backup.restore'].toSorted())
})

test('entries of one second are found among many of it, and those that the log lacks come as often as the archive has them', async () => {
  const ROWS = 20_000
  const crowded = (of: FileWorld) =>
    of.change(
      `with recursive k (n) as (select 1 union all select n + 1 from k where n < ${ROWS})
       insert into audit_log (at, admin, ip, action, object, detail)
         select '${inSeconds(w, -9)}', case when n % 2 = 0 then 'admin' end, '127.0.0.1', 'grant', '', '' || n from k`,
    )
  crowded(w)
  const archive = await archiveOf((other) => {
    crowded(other)
    for (let twice = 0; twice < 2; twice++) note(other, inSeconds(w, -20), 'there.only')
  })
  const begin = performance.now()
  await restoreInto(w, archive)
  // 75 s while each entry was held against all of its second.
  expect(performance.now() - begin).toBeLessThan(15_000)
  const count = (action: string) =>
    w.rows('select count(*) as n from audit_log where action = ?', action)[0].n
  expect([count('grant'), count('there.only')]).toEqual([ROWS, 2])
})

test('400 and nothing changed where a safety copy of the last 7 days would have to go', async () => {
  const archive = (await w.admin('/admin/api/backup')).bytes
  const grow = () => {
    for (let id = 1; id <= 300; id++) addUser(w, id, { note: 'x'.repeat(2000) })
  }
  grow()
  await restoreInto(w, archive)
  grow()
  expect((await w.admin(RESTORE, { ...upload(archive), cookie: await logInTo(w) })).status).toBe(
    200,
  )
  const cookie = await logInTo(w)
  const before = [w.dump(), w.env(), w.files('safety')]
  const refused = await w.admin(RESTORE, { ...upload(archive), cookie })
  expect([refused.status, refused.json]).toEqual([
    400,
    {
      error:
        'the safety copies of the last 7 days fill SNAPSHOT_MAX_MB: on the machine, move what you can spare out of safety in DATA_DIR',
    },
  ])
  expect([w.dump(), w.env(), w.files('safety')]).toEqual(before)
  w.clock.advance(8 * 86_400_000)
  const later = await w.admin(RESTORE, { ...upload(archive), cookie: await logInTo(w) })
  expect(later.status).toBe(200)
  expect(w.files('safety').filter((name) => name.endsWith('.db'))).toHaveLength(2)
})
