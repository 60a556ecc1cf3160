/** Live settings in memory, and the documents' tables of all settings. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { putSetting } from '#db/settings.ts'
import { readSettings, readSettingsIn, saveSettings } from '#src/domain/settings.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { createWorld, type World } from '#test/support/worlds/world.ts'
import { readDocs } from '../../../scripts/docs/settings.ts'

const ACTOR = { admin: 'admin', ip: '127.0.0.1' }

let folder: string
let envFile: string
let w: World
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-settings-'))
  envFile = join(folder, '.env')
  writeFileSync(envFile, 'BRAND_NAME=First\nBRAND_HUE=10\n')
  w = await createWorld({ environment: { ENV_FILE: envFile, BRAND_HUE: '20' } })
})
afterEach(() => {
  w.close()
  rmSync(folder, { recursive: true })
})
const name = () => readSettings(w.s).text('BRAND_NAME')

describe('settings in memory', () => {
  test('are the same object until a setting changes, and stay as they were read', async () => {
    const before = readSettings(w.s)
    expect(readSettings(w.s)).toBe(before)
    await saveSettings(w.s, ACTOR, { BRAND_NAME: 'Saved' })
    const after = readSettings(w.s)
    expect(after).not.toBe(before)
    expect([before.text('BRAND_NAME'), after.text('BRAND_NAME')]).toEqual(['First', 'Saved'])
    expect(readSettings(w.s)).toBe(after)
  })

  test('follow what another process or an operator writes', () => {
    expect(name()).toBe('First')
    putSettings(w, { BRAND_NAME: 'Other' })
    expect(name()).toBe('Other')
    w.change("delete from settings where key = 'BRAND_NAME'")
    expect(name()).toBe('First')
  })

  test('know nothing of a transaction that was undone; its own reads do', async () => {
    expect(name()).toBe('First')
    const undone = w.s.db.tx(function* (tx) {
      yield* putSetting(tx, 'BRAND_NAME', 'Undone')
      expect((yield* readSettingsIn(tx, w.s)).text('BRAND_NAME')).toBe('Undone')
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(name()).toBe('First')
    await saveSettings(w.s, ACTOR, { BRAND_NAME: 'Saved' })
    expect(name()).toBe('Saved')
  })

  test('have the env file as a restore left it from its generation on, once; the config stays', () => {
    const before = readSettings(w.s)
    writeFileSync(envFile, 'BRAND_NAME=Second\nBRAND_HUE=30\n')
    putSettings(w, { SUPPORT_EMAIL: 'a@b.test' })
    expect(name()).toBe('First')
    w.change("update instance set generation = 'one'")
    expect(name()).toBe('Second')
    // The process's own environment wins as ever.
    expect(readSettings(w.s).int('BRAND_HUE')).toBe(20)
    expect(before.text('BRAND_NAME')).toBe('First')
    expect(w.config.live).toEqual(expect.objectContaining({ BRAND_NAME: 'First' }))
    writeFileSync(envFile, 'BRAND_NAME=Third\n')
    putSettings(w, { SUPPORT_EMAIL: 'c@d.test' })
    expect(name()).toBe('Second')
  })

  test('have what the env file is about to hold where a restore has not written it yet', () => {
    w.change("update instance set generation = 'one', pending_env = ?", 'BRAND_NAME=Pending\n')
    expect(name()).toBe('Pending')
  })
})

test('docs/deploying.md has the tables of settings; else run: node scripts/docs/settings.ts', () => {
  const { present, wanted } = readDocs()
  expect(present).toBe(wanted)
})
