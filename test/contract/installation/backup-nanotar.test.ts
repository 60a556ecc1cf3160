/** Backups by the judgement of another program than GNU tar: nanotar, a library that shares no code with it or with us. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createTarGzip, parseTarGzip, type TarFileInput } from 'nanotar'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { gnuUntar, rawTarGz, upload } from '#test/support/archives/archives.ts'
import { restoreInto } from '#test/support/calls/restores.ts'
import { addUser } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

let w: FileWorld
let archive: Uint8Array
let database: Buffer
let env: Buffer
const openWorld = async () => {
  w = await createFileWorld()
  addUser(w, 7)
  archive = (await w.admin('/admin/api/backup')).bytes
  const files = gnuUntar(archive)
  database = files['panel.db'] as Buffer
  env = files['.env'] as Buffer
}

const users = () => w.rows('select tg_id from users order by tg_id')

/** The backup's files as nanotar packs them, with an env file that is as long as wanted: comments fill it. */
const packed = (more: Partial<TarFileInput> = {}, envBytes = env.length) =>
  createTarGzip([
    { name: 'panel.db', data: new Uint8Array(database), ...more },
    { name: '.env', data: String(env).padEnd(envBytes, '\n#'), ...more },
  ])

/** An env file with which this many bytes are left up to the multiple of 10 KB that nanotar pads an archive to. */
const envLeaving = (bytes: number) => {
  const blocks = (bytesOfFile: number) => Math.ceil(bytesOfFile / 512)
  const used = 2 + blocks(database.length) + blocks(env.length)
  const more = (((-used - bytes / 512) % 20) + 20) % 20
  return (blocks(env.length) + more) * 512
}

describe('a backup', () => {
  beforeEach(openWorld)
  afterEach(() => w.close())

  test('is for nanotar what it is for GNU tar: two plain files, owner-only, of the time of the backup', async () => {
    const found = await parseTarGzip(archive)
    expect(found.map(({ name, type, size }) => [name, type, size])).toEqual([
      ['panel.db', 'file', database.length],
      ['.env', 'file', env.length],
    ])
    expect(
      found.map(({ data }) =>
        Buffer.compare(data as Uint8Array, data === found[0]?.data ? database : env),
      ),
    ).toEqual([0, 0])
    for (const { attrs } of found) {
      expect(attrs).toEqual({
        mode: '0000600',
        uid: 0,
        gid: 0,
        mtime: w.clock.now().getTime() / 1000,
        user: '',
        group: '',
      })
    }
  })
})

describe('an archive of the same files by nanotar', () => {
  beforeEach(openWorld)
  afterEach(() => w.close())

  test.each<[kind: string, more: Partial<TarFileInput>]>([
    ['as it makes them', {}],
    ['which all may write and run', { attrs: { mode: '7777' } }],
    ['of nobody and long ago', { attrs: { uid: 0o7777777, gid: 0o7777777, mtime: 0 } }],
    ['of users with names', { attrs: { user: 'postgres', group: 'x'.repeat(31) } }],
  ])('is restored, whoever the files belong to and from when they are: %s', async (_kind, more) => {
    addUser(w, 8)
    const modes = () => ['panel.db', '.env'].map((name) => statSync(join(w.dir, name)).mode)
    const before = modes()
    const answer = await restoreInto(w, await packed(more, envLeaving(2048)))
    expect([answer.restored_db, answer.restored_env, answer.dropped]).toEqual([true, true, []])
    expect(users()).toEqual([{ tg_id: 7 }])
    expect(modes()).toEqual(before)
  })

  test.each([1024, 1536, 9728])(
    'is whole with the %i zeros that happen to be left for its end',
    async (zeros) => {
      await restoreInto(w, await packed({}, envLeaving(zeros)))
      expect(users()).toEqual([{ tg_id: 7 }])
    },
  )

  test.each([0, 512])('is cut off with %i, which nanotar itself does not see', async (zeros) => {
    const made = await packed({}, envLeaving(zeros))
    expect((await parseTarGzip(made)).map(({ name }) => name)).toEqual(['panel.db', '.env'])
    addUser(w, 8)
    const answer = await w.admin('/admin/api/backup/restore', upload(made))
    expect([answer.status, answer.json]).toEqual([400, { error: 'the archive is cut off' }])
    expect(users()).toHaveLength(2)
  })
})

/** What nanotar takes for a good backup, or for more of one than a restore may. */
describe('an odd archive', () => {
  // One for all: a refused archive changes nothing.
  beforeAll(openWorld)
  afterAll(() => w.close())

  const db = () => ({ name: 'panel.db', data: new Uint8Array(database) })
  const text = (name: string) => ({ name, data: 'A=1\n' })
  const raw = (members: Parameters<typeof rawTarGz>[0]) =>
    rawTarGz([...members, { name: 'panel.db', content: database }])
  const odd: [name: string, seen: string[], make: () => unknown, error: RegExp][] = [
    [
      'with a folder',
      ['data/', 'panel.db'],
      () => createTarGzip([{ name: 'data/' }, db()]),
      /no plain file/,
    ],
    [
      'with another file',
      ['panel.db', 'notes'],
      () => createTarGzip([db(), text('notes')]),
      /no backup has/,
    ],
    [
      'with a file below a folder',
      ['panel.db', 'etc/.env'],
      () => createTarGzip([db(), text('etc/.env')]),
      /no backup has/,
    ],
    ['with a file twice', ['panel.db', 'panel.db'], () => createTarGzip([db(), db()]), /twice/],
    [
      'with a file twice by two names',
      ['panel.db', './panel.db'],
      () => createTarGzip([db(), { ...db(), name: './panel.db' }]),
      /twice/,
    ],
    ['of nothing', [], () => createTarGzip([]), /cut off/],
    ['of the env file alone', ['.env'], () => createTarGzip([text('.env')]), /no database/],
    [
      'that leaves the folder',
      ['.env', 'panel.db'],
      () => raw([{ name: '../../.env', content: 'A=1' }]),
      /no backup has/,
    ],
    [
      'of an absolute name',
      ['.env', 'panel.db'],
      () => raw([{ name: '/.env', content: 'A=1' }]),
      /no backup has/,
    ],
    [
      'of a name of Windows',
      ['.env', 'panel.db'],
      () => raw([{ name: 'C:\\.env', content: 'A=1' }]),
      /no backup has/,
    ],
    [
      'of a name below a prefix',
      ['.env', 'panel.db'],
      () => raw([{ name: '.env', prefix: 'etc', content: 'A=1' }]),
      /no backup has/,
    ],
    [
      'of a name by a pax header',
      ['.env', 'panel.db'],
      () =>
        raw([
          { name: 'pax', type: 'x', content: '13 path=.env\n' },
          { name: 'a', content: 'A=1' },
        ]),
      /no plain file/,
    ],
    [
      "of a name by GNU's long name",
      ['.env', 'panel.db'],
      () =>
        raw([
          { name: '././@LongLink', type: 'L', content: '.env' },
          { name: 'a', content: 'A=1' },
        ]),
      /no plain file/,
    ],
    [
      'with a wrong checksum',
      ['.env', 'panel.db'],
      () => raw([{ name: '.env', content: 'A=1', checksum: '000000\0 ' }]),
      /checksum/,
    ],
    [
      'of an unknown kind',
      ['.env', 'panel.db'],
      () => raw([{ name: '.env', content: 'A=1', magic: 'nothing!' }]),
      /unknown kind/,
    ],
  ]

  test.each(odd)(
    '%s is refused, whatever nanotar makes of it',
    async (_name, seen, make, error) => {
      const made = (await make()) as Uint8Array
      expect((await parseTarGzip(made)).map(({ name }) => name)).toEqual(seen)
      const answer = await w.admin('/admin/api/backup/restore', upload(made))
      expect([answer.status, answer.json]).toEqual([400, { error: expect.stringMatching(error) }])
      expect(users()).toEqual([{ tg_id: 7 }])
    },
  )
})
