/** Nothing of an uploaded database's schema runs, or is found in place of what SQLite has by that name. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { snapshotInto } from '#db/engine/sqlite/snapshot.ts'
import { hostileSchemas } from '#test/support/archives/hostile-schemas.ts'
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
