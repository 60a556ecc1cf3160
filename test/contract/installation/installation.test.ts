import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate, migrationNumbers } from '#db/engine/sqlite/migrate.ts'
import { gnuTar } from '#test/support/archives/archives.ts'
import { archiveOf, restoreInto } from '#test/support/calls/restores.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

let w: FileWorld
beforeEach(async () => {
  w = await createFileWorld()
})
afterEach(() => w.close())

const secretOf = (world: FileWorld): string => {
  const rows = world.rows('select * from installation')
  expect(rows).toEqual([{ id: 1, secret: expect.any(String) }])
  return rows[0].secret
}

test('a restore adopts the secret of the archive: what was derived from it holds on a new machine', async () => {
  let theirs = ''
  const archive = await archiveOf((other) => {
    theirs = secretOf(other)
  })
  expect(theirs).not.toBe(secretOf(w))
  await restoreInto(w, archive)
  expect(secretOf(w)).toBe(theirs)
})

/** A database of our own as a version before the given migration left it. */
function databaseBefore(migration: number): Buffer {
  const path = join(w.dir, 'older.db')
  const raw = new Sqlite(path)
  migrate(raw, migrationNumbers()[migration - 1])
  raw
    .prepare(
      "insert into admins (username, password_hash, created_at) values ('admin', ?, '2026-01-01T00:00:00')",
    )
    .run(w.rows('select password_hash from admins')[0].password_hash)
  raw.close()
  const bytes = readFileSync(path)
  rmSync(path)
  return bytes
}

test('an archive from before there was one keeps the secret of this machine', async () => {
  const own = secretOf(w)
  await restoreInto(w, gnuTar({ 'panel.db': databaseBefore(5) }))
  expect(secretOf(w)).toBe(own)
})

test('so does one whose table is empty', async () => {
  const own = secretOf(w)
  await restoreInto(w, await archiveOf((other) => other.change('delete from installation')))
  expect(secretOf(w)).toBe(own)
})
