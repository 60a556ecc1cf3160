import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDataFiles } from '#src/integrations/files/data-files.ts'
import { createLog } from '#src/lib/log.ts'

let folder: string
let dataDir: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'subpanel-data-files-'))
  dataDir = join(folder, 'data')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** The files of an installation that has no database. */
function dataFiles() {
  const log = createLog(
    'error',
    () => new Date(),
    () => {},
  )
  const paths = {
    databasePath: join(folder, 'panel.db'),
    databaseUrl: null,
    envFile: join(folder, '.env'),
    dataDir,
  }
  const config = { ...paths, snapshotMaxBytes: 1, fixedKeys: [] }
  return createDataFiles({ config, log })
}

test('downloads that could not be begun take nobody else’s place', async () => {
  // A file where the folder was to be.
  writeFileSync(dataDir, '')
  const { pack } = dataFiles()
  for (let i = 0; i < 5; i++) {
    await expect(pack(new Date(), null)).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:ENOTDIR|EEXIST)$/),
    })
  }
})

test('what killed tasks have left is cleared away, by several that find it at the same time too', async () => {
  const work = (name: string) => join(dataDir, 'work', name)
  const longAgo = new Date(Date.now() - 2 * 3_600_000)
  for (let i = 0; i < 100; i++) {
    mkdirSync(work(`old-${i}`), { recursive: true })
    writeFileSync(join(work(`old-${i}`), 'panel.db'), '')
    for (const path of [join(work(`old-${i}`), 'panel.db'), work(`old-${i}`)])
      utimesSync(path, longAgo, longAgo)
  }
  mkdirSync(work('at-work'))
  const { pack } = dataFiles()
  const begun = await Promise.allSettled([1, 2, 3].map(() => pack(new Date(), null)))
  for (const one of begun)
    expect(one).toMatchObject({ reason: { code: expect.stringMatching(/^SQLITE_/) } })
  expect(readdirSync(join(dataDir, 'work'))).toEqual(['at-work'])
})

test('restores are checked one at a time, two wait, and more are refused at once', async () => {
  const { restore } = dataFiles()
  mkdirSync(dataDir)
  const archive = join(folder, 'archive')
  writeFileSync(archive, 'no archive')
  const message = { kind: 'alert', payload: {} }
  const request = {
    at: new Date(),
    admin: null,
    ip: '',
    sessionId: null,
    passphrase: null,
    message,
  }
  const live = () => ({})
  const attempts = [1, 2, 3, 4, 5].map(() =>
    restore(archive, request, live).catch((error) => error.status),
  )
  expect(await Promise.race([Promise.all(attempts.slice(3)), attempts[0]])).toEqual([503, 503])
  expect(await Promise.all(attempts.slice(0, 3))).toEqual([400, 400, 400])
  expect(await restore(archive, request, live).catch((error) => error.status)).toBe(400)
})
