import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { findAddOnlyNodes } from '#db/add-only-nodes.ts'
import { openDatabase } from '#db/engine/sqlite/open.ts'
import { getInstance } from '#db/instance.ts'
import { findListOwner } from '#db/users.ts'

const folder = mkdtempSync(join(tmpdir(), 'add-only-'))
afterEach(() => rmSync(folder, { recursive: true }))

test('a restore by another process is heard of as soon as its clients are read, whatever requests are answered meanwhile', async () => {
  const path = join(folder, 'app.db')
  const db = openDatabase(path, { now: new Date() })
  expect(await db.scan(findAddOnlyNodes)).toBeUndefined()
  // A request whose reads share what the database was before.
  await findListOwner(db, '', '', '')
  const before = getInstance(db)
  const other = new Sqlite(path)
  other.exec("update instance set generation = 'restored'")
  other.exec("insert into add_only_nodes values ('nl'), ('de')")
  other.close()
  expect(getInstance(db)).toEqual(before)
  expect(await db.scan(findAddOnlyNodes)).toEqual({ generation: 'restored', codes: ['de', 'nl'] })
  db.close()
})
