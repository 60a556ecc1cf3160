/** The states that admins know of are rows of their own: what an earlier version kept of them stays, and nothing is read anew for them. */
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { migrate, migrationNumbers } from '#db/engine/sqlite/migrate.ts'
import { closeAlerts, isAlertOpen, openAlert } from '#db/open-alerts.ts'
import { archiveOf, restoreInto } from '#test/support/calls/restores.ts'
import { createFileWorld } from '#test/support/worlds/file-world.ts'
import { createWorld } from '#test/support/worlds/world.ts'

/** The number of the last migration before them. */
const BEFORE = migrationNumbers()[15] as number

test.each([
  ['disk node:nl1 brake:n_l-1', ['brake:n_l-1', 'disk', 'node:nl1']],
  ['disk disk', ['disk']],
  ['', []],
  [`disk "] ${'x'.repeat(65)}`, []],
  [`disk ${'x'.repeat(65)} a;b é`, ['disk']],
])('a row of settings with %j becomes %j', (value, names) => {
  const raw = new Sqlite(':memory:')
  migrate(raw, BEFORE)
  raw.prepare("INSERT INTO settings (key, value) VALUES ('OPEN_ALERTS', ?)").run(value)
  migrate(raw)
  expect(raw.prepare('SELECT name FROM open_alerts ORDER BY name').pluck().all()).toEqual(names)
  expect(raw.prepare("SELECT 1 FROM settings WHERE key = 'OPEN_ALERTS'").get()).toBeUndefined()
  raw.close()
})

test('a state that begins or ends leaves what lists share as it is', async () => {
  const { s, close } = await createWorld()
  const before = s.db.revision()
  await s.db.tx((tx) => openAlert(tx, 'disk'))
  expect(await s.db.read((q) => isAlertOpen(q, 'disk'))).toBe(true)
  expect(await s.db.read((q) => isAlertOpen(q, 'snapshot'))).toBe(false)
  await s.db.tx((tx) => closeAlerts(tx, ['disk', 'snapshot']))
  expect(await s.db.read((q) => isAlertOpen(q, 'disk'))).toBe(false)
  expect(s.db.revision()).toBe(before)
  close()
})

test('a restore ends them without a word, those of the archive and those of here', async () => {
  const w = await createFileWorld()
  w.change("insert into open_alerts (name) values ('disk')")
  const archive = await archiveOf((other) =>
    other.change("insert into open_alerts (name) values ('snapshot')"),
  )
  await restoreInto(w, archive)
  expect(w.rows('select name from open_alerts')).toEqual([])
  await w.close()
})
