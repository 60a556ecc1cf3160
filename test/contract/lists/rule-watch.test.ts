/** Rule files that go away and come back are told of once; a preset that nobody wants is not. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { watchRules } from '#src/domain/lists/rule-watch.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { toldTo } from '#test/support/rows/told-alerts.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'

const FILES = ['geosite-category-ru.srs', 'geoip-ru.srs']

let folder: string
let w: World
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-watch-'))
  mkdirSync(join(folder, 'rules'))
  w = await createWorld({ environment: { CORES_DIR: folder } })
})
afterEach(async () => {
  await w.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A look by a process that has heard of the settings. */
async function watch() {
  await w.s.db.refresh()
  await watchRules(w.s)
}

test('an alert when they go, one when they are back, none between', async () => {
  putSettings(w, { ROUTING_PRESET: 'ru', ADMIN_TG_IDS: '77' })
  await watch()
  await watch()
  expect(toldTo(w, 77)).toEqual([{ about: 'rules-missing', files: FILES.join(', ') }])
  for (const name of FILES) writeFileSync(join(folder, 'rules', name), 'SRS\x01rules')
  w.clock.advance(60_000)
  await watch()
  await watch()
  expect(toldTo(w, 77)).toEqual([expect.anything(), { about: 'rules-back' }])
})

test('nothing while no list needs them, also where the preset was given up', async () => {
  putSettings(w, { ADMIN_TG_IDS: '77' })
  await watch()
  expect(toldTo(w, 77)).toEqual([])
  putSettings(w, { ROUTING_PRESET: 'ru' })
  await watch()
  putSettings(w, { ROUTING_PRESET: 'off' })
  await watch()
  expect(toldTo(w, 77)).toHaveLength(1)
})
