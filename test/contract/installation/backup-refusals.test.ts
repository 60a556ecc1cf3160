import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changedDatabase, gnuTar, gnuUntar, upload } from '#test/support/archives/archives.ts'
import { BAD_ARCHIVES, type Good } from '#test/support/archives/bad-archives.ts'
import { addSubscription, addUser } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'
import type { CallOptions } from '#test/support/worlds/world.ts'

const RESTORE = '/admin/api/backup/restore'

let w: FileWorld
let good: Good
beforeAll(async () => {
  w = await createFileWorld({ environment: { RESTORE_MAX_MB: '80' } })
  for (let id = 1000; id < 1400; id++) {
    addUser(w, id)
    addSubscription(w, id)
  }
  const files = gnuUntar((await w.admin('/admin/api/backup')).bytes)
  good = { database: files['panel.db'] as Buffer, env: files['.env'] as Buffer }
  addUser(w, 1)
  expect(w.files('work')).toEqual([])
})
afterAll(() => w.close())

/** Sends a request that must be refused and leave no trace. */
async function expectRefusal(options: CallOptions, message: RegExp): Promise<void> {
  const before = { rows: w.dump(), env: w.env() }
  const answer = await w.admin(RESTORE, options)
  expect([answer.status, answer.json]).toEqual([400, { error: expect.stringMatching(message) }])
  expectDecent(RESTORE, answer)
  expect({ rows: w.dump(), env: w.env() }).toEqual(before)
  expect([w.files('safety'), w.files('work')]).toEqual([[], []])
  expect(w.fatal).toEqual([])
}

/** Some of each kind here; all of them in unit/installation/upload and, with the memory they take, in torture/restore. */
const SOME =
  /^(?:no gzip|a gzip that is cut|an unknown file|a symbolic|a file twice|a size of 100|another archive|a bomb in|a database of a|a table with a comp|a row that|a text of 50)/

describe('400 and nothing changed for', () => {
  test.each(BAD_ARCHIVES.filter(([name]) => SOME.test(name)))(
    '%s',
    async (_name, make, message) => {
      await expectRefusal(upload(make(good)), message)
    },
  )

  const archive = () => gnuTar({ 'panel.db': good.database })
  const form = (...parts: string[]): CallOptions => ({
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=xx' },
    raw: parts.join('\r\n'),
  })
  const part = (name: string, content: string) =>
    `--xx\r\nContent-Disposition: form-data; name="${name}"; filename="x"\r\n\r\n${content}`

  test.each<[name: string, options: () => CallOptions, message: RegExp]>([
    ['JSON', () => ({ method: 'POST', body: { file: 'x' } }), /must be a form/],
    ['no body', () => ({ method: 'POST' }), /must be a form/],
    ['a form without a body', () => ({ ...form(), raw: '' }), /no valid form|cut off/],
    [
      'a form without a boundary',
      () => ({ ...form(), headers: { 'content-type': 'multipart/form-data' } }),
      /must be a form/,
    ],
    ['a form without parts', () => form('--xx--', ''), /no file "file"/],
    ['another field', () => upload(archive(), 'files'), /no file "file"/],
    [
      'a field that is no file',
      () => form('--xx\r\nContent-Disposition: form-data; name="file"\r\n\r\nx', '--xx--'),
      /no file/,
    ],
    ['two files', () => form(part('file', 'a'), part('file', 'b'), '--xx--'), /more than one/],
    ['a form that is cut off', () => form(part('file', 'abc')), /cut off/],
    [
      'a part without a name',
      () => form('--xx\r\nContent-Type: text/plain\r\n\r\nx', '--xx--'),
      /no valid form/,
    ],
    ['headers without an end', () => form(`--xx\r\n${'x'.repeat(20_000)}`), /no valid form/],
    [
      'a hundred fields',
      () => form(...Array.from({ length: 100 }, (_, i) => part(`f${i}`, 'x')), '--xx--'),
      /no valid form/,
    ],
    ['junk after a delimiter', () => form('--xxx', 'x'), /no valid form/],
    [
      'too much, by its length',
      () => ({
        ...upload(archive()),
        headers: { ...upload(archive()).headers, 'content-length': String(90 * 1024 ** 2) },
      }),
      /larger than 80 MB/,
    ],
    [
      'too much, without a length',
      () => ({ ...upload(Buffer.alloc(81 * 1024 ** 2)) }),
      /larger than 80 MB/,
    ],
    [
      'too much beside the file',
      () => form(part('other', 'x'.repeat(81 * 1024 ** 2)), '--xx--'),
      /larger than 80 MB/,
    ],
  ])('%s', async (_name, options, message) => expectRefusal(options(), message))

  test('a body that breaks off', async () => {
    const { raw, ...rest } = upload(archive())
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue((raw as Buffer).subarray(0, 5000))
        controller.error(new Error('the client is gone'))
      },
    })
    await expectRefusal({ ...rest, raw: stream }, /cut off/)
  })
})

test('triggers, views, tables and indexes of an upload never run and do not come along', async () => {
  const evil = changedDatabase(
    good.database,
    `create table loot (x text); insert into loot values ('x');
     create view all_users as select * from users;
     create trigger t1 after insert on users begin delete from admins; insert into loot values (new.token); end;
     create trigger t2 before delete on users begin select raise(abort, 'no'); end;
     create trigger t3 after update on nodes begin delete from users; end;
     create index i1 on users (abs(tg_id), hex(token));
     create virtual table search using fts5(x); analyze;`,
  )
  const schema = () =>
    w.rows('select type, name, tbl_name, sql from sqlite_master order by type, name')
  const before = schema()
  const answer = await w.admin(RESTORE, upload(gnuTar({ 'panel.db': evil, '.env': good.env })))
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
  expect(schema()).toEqual(before)
  expect(w.rows('select count(*) n from users')).toEqual([{ n: 400 }])
  expect(w.rows('select count(*) n from admins')).toEqual([{ n: 1 }])
  expect(w.rows('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
})
