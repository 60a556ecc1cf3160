import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { snapshotInto } from '#db/engine/sqlite/snapshot.ts'
import { rebuild } from '#db/upload.ts'
import { unpackArchive } from '#src/integrations/files/archive.ts'
import { GATEWAY_IDS } from '#src/integrations/payments/index.ts'
import { gnuTar } from '#test/support/archives/archives.ts'
import { BAD_ARCHIVES, type Good } from '#test/support/archives/bad-archives.ts'
import { loopingFreelist } from '#test/support/archives/looping-databases.ts'
import { createWorld } from '#test/support/worlds/world.ts'

let dir: string
let good: Good
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'subpanel-upload-'))
  const world = await createWorld({ path: join(dir, 'live.db') })
  for (let id = 1000; id < 1400; id++) {
    world.change(
      "insert into users (tg_id, token, created_at) values (?, hex(randomblob(32)), '2026-01-01T00:00:00')",
      id,
    )
  }
  snapshotInto(join(dir, 'live.db'), join(dir, 'copy.db'))
  good = { database: readFileSync(join(dir, 'copy.db')), env: Buffer.from('CURRENCY=EUR\n') }
  world.close()
})
afterAll(() => rmSync(dir, { recursive: true }))

let number = 0
/** What a restore does with an upload before it touches anything. */
async function examine(archive: Uint8Array): Promise<string | null> {
  const path = (name: string) => join(dir, `${number}-${name}`)
  number++
  writeFileSync(path('archive'), archive)
  const { env } = await unpackArchive(path('archive'), path('uploaded.db'), 1024 ** 3)
  rebuild(path('uploaded.db'), path('clean.db'), GATEWAY_IDS)
  return env
}

test('a good archive passes', async () => {
  expect(await examine(gnuTar({ 'panel.db': good.database, '.env': good.env }))).toBe(
    'CURRENCY=EUR\n',
  )
})

test.each(BAD_ARCHIVES)('refused: %s', async (_name, make, message) => {
  await expect(examine(make(good))).rejects.toThrow(message)
})

test('a database whose unused pages name each other passes: nothing reads them', async () => {
  await examine(gnuTar({ 'panel.db': loopingFreelist(good.database) }))
})

test('more than fits is refused, whatever the header says', async () => {
  const archive = join(dir, 'large')
  writeFileSync(archive, gnuTar({ 'panel.db': good.database }))
  const refusal = unpackArchive(archive, join(dir, 'large.db'), 100_000)
  await expect(refusal).rejects.toThrow(/too large|more than fits/)
})
