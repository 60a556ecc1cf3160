/** The archive that a download is. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { gnuUntar } from '#test/support/archives/archives.ts'
import { download } from '#test/support/calls/restores.ts'
import { addUser, auditOf } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'
import { expectDecent } from '#test/support/worlds/scenario.ts'

const BACKUP = '/admin/api/backup'
let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})

afterEach(() => w.close())

describe('GET /admin/api/backup', () => {
  test('200 with an archive that GNU tar reads: database and env file', async () => {
    addUser(w, 7)
    const answer = await w.admin(BACKUP)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/gzip')
    expect(answer.headers.get('content-disposition')).toBe(
      'attachment; filename="backup-20260301-120000.tar.gz"',
    )
    expectDecent(BACKUP, { ...answer, text: '' })
    const files = gnuUntar(answer.bytes)
    expect(Object.keys(files)).toEqual(['panel.db', '.env'])
    expect(files['.env']?.toString()).toBe(w.env())
    const file = join(w.dir, 'copy.db')
    writeFileSync(file, files['panel.db'] as Buffer)
    const copy = new Sqlite(file)
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(copy.prepare('select tg_id from users').pluck().all()).toEqual([7])
    copy.close()
    expect(auditOf(w)).toEqual(['backup.download'])
    expect(w.files('work')).toEqual([])
  })

  test('HEAD answers with its headers and copies nothing', async () => {
    const answer = await w.admin(BACKUP, { method: 'HEAD' })
    expect([answer.status, answer.bytes.length]).toEqual([200, 0])
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="backup-/)
    expect(auditOf(w)).toEqual([])
  })

  test('503 for a fourth download at a time', async () => {
    const open = await Promise.all([1, 2, 3].map(() => w.s.dataFiles.pack(w.clock.now(), null)))
    expect((await w.admin(BACKUP)).status).toBe(503)
    expect(w.files('work')).toHaveLength(3)
    await Promise.all(open.map((stream) => stream.cancel()))
    await download(w)
    expect(w.files('work')).toEqual([])
  })

  // A throw would be nobody's to catch: it ends the process, here the test run.
  test('a download that ends with a piece on its way leaves nothing behind and harms nobody', async () => {
    addUser(w, 1)
    w.change('update users set note = hex(randomblob(4000000))')
    const reader = (await w.s.dataFiles.pack(w.clock.now(), null)).getReader()
    await reader.read()
    await setTimeout(20)
    const next = reader.read()
    // This thread stands still until the piece has surely been posted to it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    await reader.cancel()
    await next
    await setTimeout(100)
    expect(w.files('work')).toEqual([])
    await download(w)
  })
})
