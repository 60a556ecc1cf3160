/** Largest numbers, recovery codes and credentials of former shops come back from a backup. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { STORED_TABLES } from '#db/rows.ts'
import { upload } from '#test/support/archives/archives.ts'
import { codeNow, codeStep, pendingToken, turnTotpOn } from '#test/support/calls/admins.ts'
import { archiveOf, logInTo, restoreInto } from '#test/support/calls/restores.ts'
import { fillEveryTable } from '#test/support/rows/full-rows.ts'
import { addFormerCredentials, inSeconds, nowOf, putSettings } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { PASSWORD } from '#test/support/worlds/world.ts'

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})

afterEach(() => w.close())

const RESTORE = '/admin/api/backup/restore'
const backup = async () => (await w.admin('/admin/api/backup')).bytes

test('400 for a name that has fewer than 3 characters in its one form', async () => {
  const body = { username: ' e\u0301\u00a8 ', password: PASSWORD }
  const { status, json } = await w.admin('/admin/api/admins', {
    body: { ...body, username: 'e\u0301b' },
  })
  expect([status, json]).toEqual([400, { error: 'username must have at least 3 characters' }])
  const long = await w.admin('/admin/api/admins', {
    body: { ...body, username: '\ufdfa'.repeat(20) },
  })
  expect([long.status, long.json]).toEqual([
    400,
    { error: 'username must have at most 256 characters' },
  ])
})

test.each([
  ['outbox', 'id'],
  ['outbox', 'attempts'],
  ['audit_log', 'id'],
  ['orphan_payments', 'id'],
  ['payments', 'amount'],
  ['devices', 'id'],
  ['nodes', 'sort_order'],
  ['plans', 'sort_order'],
])('400 for an archive that counts %s.%s to the end of exact numbers', async (table, column) => {
  const archive = await archiveOf(async (other) => {
    await fillEveryTable(other)
    other.change(
      `update "${table}" set "${column}" = ? where rowid = (select max(rowid) from "${table}")`,
      2 ** 53 - 1,
    )
  })
  const answer = await w.admin(RESTORE, upload(archive))
  expect([answer.status, answer.json.error]).toEqual([
    400,
    `the database in the backup holds a value of a wrong kind in the column ${column} of ${table}`,
  ])
})

test('after an archive with the largest numbers that columns take, rows are written and alerts wait their turn', async () => {
  const archive = await archiveOf(async (other) => {
    await fillEveryTable(other)
    for (const [table, { columns }] of STORED_TABLES) {
      for (const { name, accepts } of columns) {
        const most = [2 ** 53 - 1, 2 ** 48, 2 ** 31, 65_535].find(accepts)
        const isKey = /(?:^|_)(?:admin_)?id$/.test(name) && table !== 'outbox'
        if (most === undefined || isKey) continue
        other.change(
          `update "${table}" set "${name}" = ? where rowid = (select max(rowid) from "${table}")`,
          most,
        )
      }
    }
  })
  putSettings(w, { ADMIN_TG_IDS: '501' })
  await restoreInto(w, archive)
  putSettings(w, { ADMIN_TG_IDS: '501' })
  expect(w.fatal).toEqual([])
  const cookie = await logInTo(w)
  const body = { username: 'third', password: PASSWORD }
  expect((await w.admin('/admin/api/admins', { body, cookie })).status).toBe(200)
  const alerts = w.rows(
    "select id, payload ->> 'about' as about from outbox where status = 'ready' order by id",
  )
  expect(alerts.map(({ about }) => about)).toEqual(['restored', 'admin-created'])
  for (const { id } of alerts) expect(Number.isSafeInteger(id)).toBe(true)
  expect(new Set(alerts.map(({ id }) => id)).size).toBe(2)
})

describe('a recovery code', () => {
  const make = async (): Promise<string[]> =>
    (await w.admin('/admin/api/2fa/recovery-codes', { body: { password: PASSWORD } })).json.codes
  const statusWith = async (given = '') => (await codeStep(w, await pendingToken(w), given)).status
  const leftAfter = async (archive: Uint8Array) => {
    await restoreInto(w, archive)
    return (await w.admin('/admin/api/2fa/recovery-codes', { cookie: await session() })).json.left
  }
  const session = async () => {
    w.clock.advance(60_000)
    const answer = await codeStep(w, await pendingToken(w), codeNow(w))
    return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  }
  beforeEach(() => turnTotpOn(w))

  test('that was used after the backup is used up after its restore', async () => {
    const [code, other] = await make()
    const archive = await backup()
    expect(await statusWith(code)).toBe(200)
    await restoreInto(w, archive)
    expect([await statusWith(code), await statusWith(other)]).toEqual([401, 200])
  })

  test('that others took the place of does not come back, used or not', async () => {
    const [code, other] = await make()
    const archive = await backup()
    expect(await statusWith(code)).toBe(200)
    await make()
    expect(await leftAfter(archive)).toBe(0)
    expect([await statusWith(code), await statusWith(other)]).toEqual([401, 401])
  })

  test('that ended with two-factor login does not come back with it', async () => {
    const [code] = await make()
    const archive = await backup()
    await w.admin('/admin/api/2fa/disable', { body: { password: PASSWORD } })
    expect(await leftAfter(archive)).toBe(0)
    expect(await statusWith(code)).toBe(401)
  })

  test('that was used is used up too where a backup that lacks it was restored in between', async () => {
    const earlier = await backup()
    const [code, other] = await make()
    const archive = await backup()
    expect(await statusWith(code)).toBe(200)
    await restoreInto(w, earlier)
    const again = await w.admin(RESTORE, { ...upload(archive), cookie: await session() })
    expect(again.status, again.text).toBe(200)
    expect([await statusWith(code), await statusWith(other)]).toEqual([401, 200])
  })

  test('comes to another machine as the backup has it', async () => {
    const [code, other] = await make()
    expect(await statusWith(code)).toBe(200)
    const archive = await backup()
    w.close()
    w = await createFileWorld()
    expect(await leftAfter(archive)).toBe(9)
    expect([await statusWith(code), await statusWith(other)]).toEqual([401, 200])
  })
})

describe('credentials of former shops in an archive', () => {
  const FORMER = {
    provider: 'provider_b',
    shop_id: 'm1',
    secret: 's1',
    preset: 'generic',
    api_url: 'https://b.test/api',
  }
  const archiveWith = (...rows: Record<string, string>[]) =>
    archiveOf((other) => {
      for (const row of rows) addFormerCredentials(other, row)
    })
  const stored = () =>
    w.rows(
      'select provider, shop_id, secret, preset, api_url, replaced_at from former_credentials order by id',
    )

  test('count for 30 days at most', async () => {
    const before = { ...FORMER, replaced_at: inSeconds(w, -29 * 86_400) }
    const later = { ...FORMER, shop_id: 'm2', replaced_at: '9999-12-31T23:59:59' }
    const { dropped } = await restoreInto(w, await archiveWith(before, later))
    expect(dropped).toEqual([])
    expect(stored()).toEqual([before, { ...later, replaced_at: nowOf(w) }])
  })

  test.each([
    ['an address that is not encrypted', { api_url: 'http://169.254.169.254/' }],
    ['an address that is none', { api_url: 'x' }],
    ['a secret of two lines', { secret: 'a\r\nx-evil: 1' }],
    ['a shop id of two lines', { shop_id: 'a\nb' }],
    ['a time that is none', { replaced_at: 'zzzz' }],
    ['a provider that is none', { provider: 'provider_z' }],
    ['another kind of gateway', { preset: 'x' }],
  ])('are dropped with %s', async (_what, change) => {
    const sound = { ...FORMER, replaced_at: nowOf(w) }
    const { dropped } = await restoreInto(w, await archiveWith(sound, { ...sound, ...change }))
    expect(dropped).toEqual(['PREVIOUS_CREDENTIALS'])
    expect(stored()).toEqual([sound])
  })
})
