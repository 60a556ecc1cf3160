/** An uploaded database takes no memory by what it says of itself. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { snapshotInto } from '#db/engine/sqlite/snapshot.ts'
import { HUNGRY_DATABASES } from '#test/support/archives/hungry-databases.ts'
import { createWorld } from '#test/support/worlds/world.ts'

const CHECK = join(import.meta.dirname, '../../support/drivers/restore-check.ts')

let dir: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'subpanel-hungry-'))
  const world = await createWorld({ path: join(dir, 'live.db') })
  snapshotInto(join(dir, 'live.db'), join(dir, 'good.db'))
  world.close()
})
afterAll(() => rmSync(dir, { recursive: true }))

let number = 0
/** What the check of an upload comes to in a process of its own. */
function check(database: Uint8Array): { message: string | null; megabytes: number } {
  const folder = mkdtempSync(join(dir, `${number++}-`))
  const [upload, sound] = [join(folder, 'upload.db'), join(folder, 'sound.db')]
  writeFileSync(upload, database)
  copyFileSync(join(dir, 'good.db'), sound)
  const said = execFileSync(process.execPath, [CHECK, sound, upload], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  const { messages, megabytes } = JSON.parse(said)
  return { message: messages[0], megabytes }
}

test.each(HUNGRY_DATABASES)('little memory for %s', { timeout: 60_000 }, (_name, make, message) => {
  const found = check(make(readFileSync(join(dir, 'good.db'))))
  if (message) expect(found.message).toMatch(message)
  else expect(found.message).toBeNull()
  expect(found.megabytes).toBeLessThan(64)
})
