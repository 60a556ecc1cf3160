/** Restores of archives with a passphrase. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { backupKey } from '#src/domain/installation/backup-passphrase.ts'
import { encryptChunks } from '#src/lib/encrypted-file.ts'
import { COST, derivePassphraseKey } from '#src/lib/passphrase-key.ts'
import { changedDatabase, gnuTar, gnuUntar, upload } from '#test/support/archives/archives.ts'
import {
  look,
  PASSPHRASE,
  setPassphrase,
  storedPassphrases,
} from '#test/support/calls/passphrases.ts'
import { archiveOf, download, logInTo, restoreInto } from '#test/support/calls/restores.ts'
import { addUser, putSettings } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'

const BACKUP = '/admin/api/backup'
const RESTORE = '/admin/api/backup/restore'
const SETTINGS = '/admin/api/settings/backup'

const OTHER = 'staple correct horse'
let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})

afterEach(() => w.close())

/** The backup of another installation, encrypted to PASSPHRASE. */
let foreign: Uint8Array

beforeAll(async () => {
  foreign = await archiveOf(async (other) => {
    addUser(other, 7)
    await setPassphrase(other, PASSPHRASE)
  })
})

describe('a restore', () => {
  test('of an encrypted backup opens it by the passphrase, wherever that stands in the form', async () => {
    addUser(w, 1)
    await setPassphrase(w, PASSPHRASE)
    const archive = await download(w)
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
    const archive = await download(w)
    expect(await restoreInto(w, archive, { passphrase: PASSPHRASE })).toMatchObject({ ok: true })
    expect(storedPassphrases(w)).toEqual([])
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
    expect((await look(w, bytes, PASSPHRASE)).ids).toEqual([7])
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
    expect(storedPassphrases(w)).toEqual([])
  })

  test('a machine with a passphrase keeps it, whatever it restores', async () => {
    await setPassphrase(w, OTHER)
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
    const { 'panel.db': database } = gnuUntar(await download(w))
    const evil = "update instance set backup_key = 'scrypt$14$1$1$AA$AA'"
    const archive = gnuTar({ 'panel.db': changedDatabase(database as Buffer, evil) })
    expect((await restoreInto(w, archive)).passphrase_taken).toBe(undefined)
    expect(storedPassphrases(w)).toEqual([])
  })

  test('its safety copy is plain and lacks the key', async () => {
    addUser(w, 1)
    await setPassphrase(w, OTHER)
    const [, , , , , secret = ''] = (storedPassphrases(w)[0] as string).split('$')
    const { safety_copies: names } = await restoreInto(w, foreign, {
      passphrase: PASSPHRASE,
    })
    const bytes = readFileSync(join(w.dir, 'safety', names[0]))
    expect(bytes.toString('latin1', 0, 15)).toBe('SQLite format 3')
    expect(bytes.includes(secret)).toBe(false)
  })
})
