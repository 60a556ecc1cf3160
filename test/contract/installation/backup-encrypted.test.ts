/** Backups, snapshots and restores with a passphrase. What holds for all of them is in backup.test.ts and backup-refusals.test.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keepSnapshots } from '#src/domain/installation/snapshots.ts'
import { gnuUntar } from '#test/support/archives/archives.ts'
import { decryptByDocs } from '#test/support/archives/decrypt.ts'
import {
  look,
  PASSPHRASE,
  setPassphrase,
  storedPassphrases,
} from '#test/support/calls/passphrases.ts'
import { download, restoreInto } from '#test/support/calls/restores.ts'
import { addUser, auditOf } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'

const BACKUP = '/admin/api/backup'
const SETTINGS = '/admin/api/settings/backup'

const OTHER = 'staple correct horse'
let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})

afterEach(() => w.close())

describe('settings/backup', () => {
  test('not encrypted at first; set, changed and removed, and never shown', async () => {
    expect((await w.admin(SETTINGS)).json).toEqual({ encrypted: false })
    await setPassphrase(w, PASSPHRASE)
    expect((await w.admin(SETTINGS)).json).toEqual({ encrypted: true })
    const [first] = storedPassphrases(w)
    await setPassphrase(w, OTHER)
    expect(storedPassphrases(w)).not.toEqual([first])
    await setPassphrase(w, null)
    expect((await w.admin(SETTINGS)).json).toEqual({ encrypted: false })
    expect(storedPassphrases(w)).toEqual([])
    expect(w.rows("select action, detail from audit_log where action like 'backup.%'")).toEqual([
      { action: 'backup.passphrase', detail: 'set' },
      { action: 'backup.passphrase', detail: 'set' },
      { action: 'backup.passphrase', detail: 'removed' },
    ])
  })

  test('the passphrase is nowhere in the database or the log', async () => {
    await setPassphrase(w, OTHER)
    expect(w.dump()).not.toContain(OTHER)
    expect(w.log.join('\n')).not.toContain(OTHER)
    expect(storedPassphrases(w)[0]).toMatch(/^scrypt\$16\$8\$2\$/)
  })

  test('admins are told of both', async () => {
    w.change("insert into settings values ('ADMIN_TG_IDS', '42'), ('BOT_TOKEN', '1:x')")
    await setPassphrase(w, PASSPHRASE)
    await setPassphrase(w, null)
    const told = w.rows('select tg_id, payload from outbox order by id')
    expect(told.map(({ tg_id, payload }) => [tg_id, JSON.parse(payload)])).toEqual([
      [42, { about: 'backup-passphrase', isSet: true, admin: 'admin', ip: '127.0.0.1' }],
      [42, { about: 'backup-passphrase', isSet: false, admin: 'admin', ip: '127.0.0.1' }],
    ])
  })

  test.each<[body: object, error: string]>([
    [{}, 'passphrase is missing or of the wrong type'],
    [{ passphrase: 5 }, 'passphrase must be a string'],
    [{ passphrase: '' }, 'passphrase must have at least 12 characters'],
    [{ passphrase: 'short enough'.slice(0, 11) }, 'passphrase must have at least 12 characters'],
    [{ passphrase: 'aaaaaaaaaaaaaaaa' }, 'passphrase is too easy to guess'],
    [{ passphrase: '123123123123123' }, 'passphrase is too easy to guess'],
    [{ passphrase: 'zxcASDqwe123' }, 'passphrase is too easy to guess'],
    [
      { passphrase: 'two lines\nof something' },
      'passphrase must be one line without control characters',
    ],
    [{ passphrase: 'long '.repeat(300) }, 'passphrase must have at most 1024 characters'],
  ])('400 for %j', async (body, error) => {
    for (const path of [SETTINGS, BACKUP]) {
      const answer = await w.admin(path, { body })
      expect([answer.status, answer.json]).toEqual([400, { error }])
    }
    expect(storedPassphrases(w)).toEqual([])
    expect(auditOf(w)).toEqual([])
  })

  test('401 without a session', async () => {
    for (const options of [{}, { body: { passphrase: PASSPHRASE } }])
      expect((await w.call(SETTINGS, options)).status).toBe(401)
    expect((await w.call(BACKUP, { body: { passphrase: PASSPHRASE } })).status).toBe(401)
    expect(storedPassphrases(w)).toEqual([])
  })
})

describe('a download', () => {
  test('is encrypted to the passphrase that is set, and says so', async () => {
    addUser(w, 7)
    await setPassphrase(w, PASSPHRASE)
    const answer = await w.admin(BACKUP)
    const head = await w.admin(BACKUP, { method: 'HEAD' })
    for (const { status, headers } of [answer, head]) {
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/octet-stream')
      expect(headers.get('content-disposition')).toBe(
        'attachment; filename="backup-20260301-120000.tar.gz.enc"',
      )
    }
    expectDecent(BACKUP, { ...answer, text: '' })
    expect(Buffer.from(answer.bytes).toString('latin1', 0, 8)).toBe('SPBACKUP')
    expect(await look(w, answer.bytes, PASSPHRASE)).toMatchObject({ ids: [7], env: w.env() })
    const files = gnuUntar(decryptByDocs(answer.bytes, PASSPHRASE))
    expect(Object.keys(files)).toEqual(['panel.db', '.env'])
    await expect(look(w, answer.bytes, OTHER)).rejects.toThrow('wrong passphrase')
    await expect(look(w, answer.bytes, null)).rejects.toThrow('its passphrase is needed')
    expect(w.files('work')).toEqual([])
  })

  test('has nothing of the key in it, encrypted or not', async () => {
    await setPassphrase(w, PASSPHRASE)
    const [, , , , , secret = ''] = (storedPassphrases(w)[0] as string).split('$')
    const encrypted = await look(w, await download(w), PASSPHRASE)
    const plain = await look(w, await download(w), PASSPHRASE)
    const one = await w.admin(BACKUP, { body: { passphrase: OTHER } })
    const other = await look(w, one.bytes, OTHER)
    for (const { bytes } of [encrypted, plain, other]) {
      expect(bytes.includes(secret)).toBe(false)
      expect(bytes.includes('scrypt$')).toBe(false)
    }
  })

  test('can be encrypted for once, whatever is set', async () => {
    addUser(w, 7)
    const answer = await w.admin(BACKUP, { body: { passphrase: OTHER } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-disposition')).toMatch(/\.tar\.gz\.enc"$/)
    expect(answer.headers.get('content-type')).toBe('application/octet-stream')
    expect((await look(w, answer.bytes, OTHER)).ids).toEqual([7])
    expect(storedPassphrases(w)).toEqual([])
    expect(auditOf(w)).toEqual(['backup.download'])
    expect((await w.admin(BACKUP)).headers.get('content-type')).toBe('application/gzip')
  })
})

describe('snapshots', () => {
  test('are encrypted while a passphrase is set; both kinds are counted and removed alike', async () => {
    const hour = 3_600_000
    const run = () => keepSnapshots(w.s, { clockJumped: false, runningMs: hour })
    await run()
    await run()
    await setPassphrase(w, PASSPHRASE)
    w.clock.advance(hour)
    await run()
    await run()
    expect(w.files('snapshots')).toEqual([
      'snapshot-20260301-120000.tar.gz',
      'snapshot-20260301-130000.tar.gz.enc',
    ])
    const file = join(w.dir, 'snapshots/snapshot-20260301-130000.tar.gz.enc')
    expect((await look(w, readFileSync(file), PASSPHRASE)).env).toBe(w.env())
    await restoreInto(w, readFileSync(file), { passphrase: PASSPHRASE })
    for (let day = 0; day < 14; day++) {
      w.clock.advance(24 * hour)
      await run()
    }
    expect(w.files('snapshots')).toHaveLength(14)
    expect(w.files('snapshots')[0]).toBe('snapshot-20260302-130000.tar.gz.enc')
  })

  test('the copy command gets the encrypted file', async () => {
    await setPassphrase(w, PASSPHRASE)
    const copy = join(w.dir, 'copied')
    const s = { ...w.s, config: { ...w.config, snapshotCopyCommand: `cp {} ${copy}` } }
    await keepSnapshots(s, { clockJumped: false, runningMs: 3_600_000 })
    expect((await look(w, readFileSync(copy), PASSPHRASE)).env).toBe(w.env())
  })
})
