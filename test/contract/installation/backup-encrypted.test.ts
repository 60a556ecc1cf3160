/** Backups, snapshots and restores with a passphrase. What holds for all of them is in backup.test.ts and backup-refusals.test.ts. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { backupKey } from '#src/domain/installation/backup-passphrase.ts'
import { keepSnapshots } from '#src/domain/installation/snapshots.ts'
import { unpackArchive } from '#src/integrations/files/archive.ts'
import { encryptChunks } from '#src/lib/encrypted-file.ts'
import { COST, derivePassphraseKey } from '#src/lib/passphrase-key.ts'
import { changedDatabase, gnuTar, gnuUntar, upload } from '#test/support/archives.ts'
import { decryptByDocs } from '#test/support/decrypt.ts'
import { createFileWorld, type FileWorld } from '#test/support/file-world.ts'
import { addUser, auditOf, putSettings } from '#test/support/records.ts'
import { archiveOf, logInTo, restoreInto } from '#test/support/restores.ts'
import { expectDecent } from '#test/support/scenario.ts'

const BACKUP = '/admin/api/backup'
const RESTORE = '/admin/api/backup/restore'
const SETTINGS = '/admin/api/settings/backup'
const PASSPHRASE = 'Лес за рекой, 1908'
const OTHER = 'staple correct horse'

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})
afterEach(() => w.close())

const setPassphrase = async (passphrase: string | null, world = w) => {
  const answer = await world.admin(SETTINGS, { body: { passphrase } })
  expect([answer.status, answer.json]).toEqual([200, { encrypted: passphrase !== null }])
}

async function download(): Promise<Uint8Array> {
  const answer = await w.admin(BACKUP)
  expect(answer.status).toBe(200)
  return answer.bytes
}

/** The backup of another installation, encrypted to PASSPHRASE. */
let foreign: Uint8Array
beforeAll(async () => {
  foreign = await archiveOf(async (other) => {
    addUser(other, 7)
    await setPassphrase(PASSPHRASE, other)
  })
})

/** The tg_ids in an archive, and all bytes of its database. */
async function look(archive: Uint8Array, passphrase: string | null) {
  const file = join(w.dir, 'looked-at')
  const database = join(w.dir, `looked-at-${w.files('.').length}.db`)
  writeFileSync(file, archive)
  const { env } = await unpackArchive(file, database, 1e9, passphrase)
  const raw = new Sqlite(database, { readonly: true })
  const ids = raw.prepare('select tg_id from users').pluck().all()
  raw.close()
  return { ids, env, bytes: readFileSync(database) }
}

const stored = () =>
  w.rows("select value from settings where key = 'BACKUP_KEY'").map(({ value }) => value as string)

describe('settings/backup', () => {
  test('not encrypted at first; set, changed and removed, and never shown', async () => {
    expect((await w.admin(SETTINGS)).json).toEqual({ encrypted: false })
    await setPassphrase(PASSPHRASE)
    expect((await w.admin(SETTINGS)).json).toEqual({ encrypted: true })
    const [first] = stored()
    await setPassphrase(OTHER)
    expect(stored()).not.toEqual([first])
    await setPassphrase(null)
    expect((await w.admin(SETTINGS)).json).toEqual({ encrypted: false })
    expect(stored()).toEqual([])
    expect(w.rows("select action, detail from audit_log where action like 'backup.%'")).toEqual([
      { action: 'backup.passphrase', detail: 'set' },
      { action: 'backup.passphrase', detail: 'set' },
      { action: 'backup.passphrase', detail: 'removed' },
    ])
  })

  test('the passphrase is nowhere in the database or the log', async () => {
    await setPassphrase(OTHER)
    expect(w.dump()).not.toContain(OTHER)
    expect(w.log.join('\n')).not.toContain(OTHER)
    expect(stored()[0]).toMatch(/^scrypt\$16\$8\$2\$/)
  })

  test('admins are told of both', async () => {
    w.change("insert into settings values ('ADMIN_TG_IDS', '42'), ('BOT_TOKEN', '1:x')")
    await setPassphrase(PASSPHRASE)
    await setPassphrase(null)
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
    expect(stored()).toEqual([])
    expect(auditOf(w)).toEqual([])
  })

  test('401 without a session', async () => {
    for (const options of [{}, { body: { passphrase: PASSPHRASE } }])
      expect((await w.call(SETTINGS, options)).status).toBe(401)
    expect((await w.call(BACKUP, { body: { passphrase: PASSPHRASE } })).status).toBe(401)
    expect(stored()).toEqual([])
  })
})

describe('a download', () => {
  test('is encrypted to the passphrase that is set, and says so', async () => {
    addUser(w, 7)
    await setPassphrase(PASSPHRASE)
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
    expect(await look(answer.bytes, PASSPHRASE)).toMatchObject({ ids: [7], env: w.env() })
    const files = gnuUntar(decryptByDocs(answer.bytes, PASSPHRASE))
    expect(Object.keys(files)).toEqual(['panel.db', '.env'])
    await expect(look(answer.bytes, OTHER)).rejects.toThrow('wrong passphrase')
    await expect(look(answer.bytes, null)).rejects.toThrow('its passphrase is needed')
    expect(w.files('work')).toEqual([])
  })

  test('has nothing of the key in it, encrypted or not', async () => {
    await setPassphrase(PASSPHRASE)
    const [, , , , , secret = ''] = (stored()[0] as string).split('$')
    const encrypted = await look(await download(), PASSPHRASE)
    const plain = await look(await download(), PASSPHRASE)
    const one = await w.admin(BACKUP, { body: { passphrase: OTHER } })
    const other = await look(one.bytes, OTHER)
    for (const { bytes } of [encrypted, plain, other]) {
      expect(bytes.includes(secret)).toBe(false)
      expect(bytes.includes('BACKUP_KEY')).toBe(false)
    }
  })

  test('can be encrypted for once, whatever is set', async () => {
    addUser(w, 7)
    const answer = await w.admin(BACKUP, { body: { passphrase: OTHER } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-disposition')).toMatch(/\.tar\.gz\.enc"$/)
    expect(answer.headers.get('content-type')).toBe('application/octet-stream')
    expect((await look(answer.bytes, OTHER)).ids).toEqual([7])
    expect(stored()).toEqual([])
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
    await setPassphrase(PASSPHRASE)
    w.clock.advance(hour)
    await run()
    await run()
    expect(w.files('snapshots')).toEqual([
      'snapshot-20260301-120000.tar.gz',
      'snapshot-20260301-130000.tar.gz.enc',
    ])
    const file = join(w.dir, 'snapshots/snapshot-20260301-130000.tar.gz.enc')
    expect((await look(readFileSync(file), PASSPHRASE)).env).toBe(w.env())
    await restoreInto(w, readFileSync(file), { passphrase: PASSPHRASE })
    for (let day = 0; day < 14; day++) {
      w.clock.advance(24 * hour)
      await run()
    }
    expect(w.files('snapshots')).toHaveLength(14)
    expect(w.files('snapshots')[0]).toBe('snapshot-20260302-130000.tar.gz.enc')
  })

  test('the copy command gets the encrypted file', async () => {
    await setPassphrase(PASSPHRASE)
    const copy = join(w.dir, 'copied')
    const s = { ...w.s, config: { ...w.config, snapshotCopyCommand: `cp {} ${copy}` } }
    await keepSnapshots(s, { clockJumped: false, runningMs: 3_600_000 })
    expect((await look(readFileSync(copy), PASSPHRASE)).env).toBe(w.env())
  })
})

describe('a restore', () => {
  test('of an encrypted backup opens it by the passphrase, wherever that stands in the form', async () => {
    addUser(w, 1)
    await setPassphrase(PASSPHRASE)
    const archive = await download()
    w.change('delete from users')
    expect(await restoreInto(w, archive, { passphrase: PASSPHRASE })).toMatchObject({ ok: true })
    expect(w.rows('select tg_id from users')).toEqual([{ tg_id: 1 }])
    w.change('delete from users')
    const { raw, headers } = upload(archive)
    const form = Buffer.from(raw as Buffer)
    const boundary = form.subarray(0, form.indexOf('\r\n'))
    const field = `\r\nContent-Disposition: form-data; name="passphrase"\r\n\r\n${PASSPHRASE}\r\n`
    const cookie = await logInTo(w)
    const answer = await w.admin(RESTORE, {
      method: 'POST',
      headers: headers as Record<string, string>,
      raw: Buffer.concat([boundary, Buffer.from(field), form]),
      cookie,
    })
    expect(answer.status, answer.text).toBe(200)
    expect(w.rows('select tg_id from users')).toEqual([{ tg_id: 1 }])
  })

  test('of a backup that is not encrypted passes over a passphrase', async () => {
    const archive = await download()
    expect(await restoreInto(w, archive, { passphrase: PASSPHRASE })).toMatchObject({ ok: true })
    expect(stored()).toEqual([])
  })

  const refusals: [
    name: string,
    change: (file: Uint8Array) => Uint8Array,
    texts: Record<string, string>,
    error: string,
  ][] = [
    ['another passphrase', (file) => file, { passphrase: OTHER }, 'wrong passphrase'],
    ['no passphrase', (file) => file, {}, 'the backup is encrypted: its passphrase is needed'],
    [
      'an empty passphrase',
      (file) => file,
      { passphrase: '' },
      'the backup is encrypted: its passphrase is needed',
    ],
    [
      'a flipped bit',
      (file) => file.with(file.length >> 1, (file[file.length >> 1] as number) ^ 1),
      { passphrase: PASSPHRASE },
      'the encrypted file is damaged or cut off',
    ],
    [
      'a file that is cut off',
      (file) => file.subarray(0, -10),
      { passphrase: PASSPHRASE },
      'the encrypted file is damaged or cut off',
    ],
    [
      'a byte behind it',
      (file) => Buffer.concat([file, Buffer.of(0)]),
      { passphrase: PASSPHRASE },
      'the encrypted file is damaged or cut off',
    ],
    [
      'nothing but its header',
      (file) => file.subarray(0, 92),
      { passphrase: PASSPHRASE },
      'the encrypted file is damaged or cut off',
    ],
    [
      'half a header',
      (file) => file.subarray(0, 50),
      { passphrase: PASSPHRASE },
      'the encrypted file is damaged or cut off',
    ],
    [
      'a header that asks for 32 GB',
      (file) => file.with(9, 20).with(10, 255),
      { passphrase: PASSPHRASE },
      'the encrypted file is damaged or cut off',
    ],
    [
      'a later version',
      (file) => file.with(8, 2),
      { passphrase: PASSPHRASE },
      'the file was encrypted by a newer version of Subpanel: update the program',
    ],
    [
      'a passphrase of 5 kB',
      (file) => file,
      { passphrase: 'x'.repeat(5000) },
      'the upload is no valid form',
    ],
  ]
  test.each(refusals)('400 and nothing changed for %s', async (_name, change, texts, error) => {
    const archive = change(foreign)
    const before = { rows: w.dump(), env: w.env() }
    const answer = await w.admin(RESTORE, upload(archive, 'file', texts))
    expect([answer.status, answer.json]).toEqual([400, { error }])
    expectDecent(RESTORE, answer)
    expect({ rows: w.dump(), env: w.env() }).toEqual(before)
    expect([w.files('safety'), w.files('work'), w.fatal]).toEqual([[], [], []])
  })

  test.each([
    ['that comes twice', ['one', 'two']],
    ['that is no UTF-8', [Buffer.of(0xff, 0xfe)]],
  ])('400 for a passphrase %s', async (_name, values) => {
    const field = '--xx\r\nContent-Disposition: form-data; name='
    const texts = values.flatMap((value) => [`${field}passphrase\r\n\r\n`, value, '\r\n'])
    const file = [`${field}file; filename=x\r\n\r\n`, foreign, '\r\n--xx--\r\n']
    const answer = await w.admin(RESTORE, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=xx' },
      raw: Buffer.concat([...texts, ...file].map((part) => Buffer.from(part as string))),
    })
    expect([answer.status, answer.json]).toEqual([400, { error: 'the upload is no valid form' }])
  })

  test('a machine without a passphrase takes that of the backup over', async () => {
    putSettings(w, { ADMIN_TG_IDS: '501' })
    const answer = await restoreInto(w, foreign, { passphrase: PASSPHRASE })
    expect(answer.passphrase_taken).toBe(true)
    expect(answer.dropped).toEqual([])
    const cookie = await logInTo(w)
    expect((await w.admin(SETTINGS, { cookie })).json).toEqual({ encrypted: true })
    const { bytes } = await w.admin(BACKUP, { cookie })
    expect((await look(bytes, PASSPHRASE)).ids).toEqual([7])
    const told = w.rows("select tg_id, payload from outbox where status = 'ready'")
    expect(told.map(({ tg_id, payload }) => [tg_id, JSON.parse(payload)])).toEqual([
      [501, { about: 'restored', admin: 'admin', ip: '127.0.0.1', passphraseTaken: true }],
    ])
    expect(w.rows("select detail from audit_log where action = 'backup.restore'")).toEqual([
      { detail: 'took the passphrase of backups' },
    ])
  })

  test.each([
    ['that could not be chosen here', 'eleven char', COST],
    ['that is easy to guess', 'aaaabbbbcccc', COST],
    ['whose guesses cost half the memory', PASSPHRASE, { ...COST, logN: 15, p: 4 }],
    ['whose guesses cost half the work', PASSPHRASE, { ...COST, p: 1 }],
  ])('a passphrase %s is not taken over', async (_what, passphrase, cost) => {
    const key = await derivePassphraseKey(passphrase, undefined, cost)
    const plain = await archiveOf(() => {})
    const archive = Buffer.concat([...encryptChunks([plain], key)])
    const answer = await restoreInto(w, archive, { passphrase })
    expect(answer.passphrase_taken).toBe(undefined)
    expect(stored()).toEqual([])
  })

  test('a machine with a passphrase keeps it, whatever it restores', async () => {
    await setPassphrase(OTHER)
    const before = backupKey(w.s)
    const archives = [foreign, await archiveOf(() => {})]
    for (const archive of archives) {
      const cookie = await logInTo(w)
      const form = upload(archive, 'file', { passphrase: PASSPHRASE })
      const answer = await w.admin(RESTORE, { ...form, cookie })
      expect([answer.status, answer.json.passphrase_taken]).toEqual([200, undefined])
      expect(backupKey(w.s)).toEqual(before)
    }
  })

  test('a key that somebody put into an archive is dropped', async () => {
    const { 'panel.db': database } = gnuUntar(await download())
    const evil = "insert into settings values ('BACKUP_KEY', 'scrypt$14$1$1$AA$AA')"
    const archive = gnuTar({ 'panel.db': changedDatabase(database as Buffer, evil) })
    expect((await restoreInto(w, archive)).passphrase_taken).toBe(undefined)
    expect(stored()).toEqual([])
  })

  test('its safety copy is plain and lacks the key', async () => {
    addUser(w, 1)
    await setPassphrase(OTHER)
    const [, , , , , secret = ''] = (stored()[0] as string).split('$')
    const { safety_copies: names } = await restoreInto(w, foreign, {
      passphrase: PASSPHRASE,
    })
    const bytes = readFileSync(join(w.dir, 'safety', names[0]))
    expect(bytes.toString('latin1', 0, 15)).toBe('SQLite format 3')
    expect(bytes.includes(secret)).toBe(false)
  })
})
