/** Nothing of an uploaded database's schema runs, or is found in place of what SQLite has by that name. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { snapshotInto } from '#db/engine/sqlite/snapshot.ts'
import { rebuild } from '#db/upload.ts'
import { formerDatabase, hostileSchemas } from '#test/support/archives/hostile-schemas.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const CHECK = join(import.meta.dirname, '../../support/drivers/restore-check.ts')
/** The stack of a thread, in which a service does this. */
const IN_LITTLE_STACK = 'ulimit -s 4096; exec "$0" "$@"'

let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'subpanel-schemas-'))
  const world = await createWorld({ path: join(dir, 'live.db') })
  snapshotInto(join(dir, 'live.db'), join(dir, 'good.db'))
  world.close()
})
afterAll(() => rmSync(dir, { recursive: true }))

test('rows are taken or refused, whatever else the schema says', { timeout: 120_000 }, () => {
  const cases = hostileSchemas(readFileSync(join(dir, 'good.db')))
  const files = cases.map(({ database }, i) => {
    const path = join(dir, `${i}.db`)
    writeFileSync(path, database)
    return path
  })
  const said = execFileSync(
    'sh',
    ['-c', IN_LITTLE_STACK, process.execPath, CHECK, join(dir, 'good.db'), ...files],
    { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' },
  )
  const { messages, megabytes } = JSON.parse(said)
  for (const [i, { name, message }] of cases.entries()) {
    expect([name, messages[i]]).toEqual([name, message && expect.stringMatching(message)])
  }
  expect(megabytes).toBeLessThan(64)
})

test('of rows that are refused nothing is counted, of the version before neither', () => {
  const [upload, clean] = [join(dir, 'former.db'), join(dir, 'former-clean.db')]
  writeFileSync(
    upload,
    formerDatabase(`INSERT INTO users (tg_id, token, created_at, tags)
      VALUES (1000, '${'a'.repeat(64)}', '2026-01-01T00:00:00', '["${'x'.repeat(1000)}"]')`),
  )
  expect(() => rebuild(upload, clean, [])).toThrow(/wrong kind in the column tags of users/)
  const raw = new Sqlite(clean)
  expect(raw.prepare('SELECT count(*) FROM users').pluck().get()).toBe(1)
  expect(raw.prepare('SELECT count(*) FROM user_tags').pluck().get()).toBe(0)
  raw.close()
})
