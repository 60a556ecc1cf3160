import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keepSnapshots, outdated, snapshotName } from '#src/domain/installation/snapshots.ts'
import { commandWords, createSnapshots } from '#src/integrations/files/snapshot-files.ts'
import { gnuUntar } from '#test/support/archives/archives.ts'
import { putSettings } from '#test/support/rows/records.ts'
import { createFileWorld, type FileWorld } from '#test/support/worlds/file-world.ts'

const HOUR = 3_600_000
const NOW = new Date('2026-03-20T12:30:00Z')
const MB = 1024 ** 2

/** A snapshot every hour for so many hours, the last one now. */
const hourly = (hours: number, bytes = MB) =>
  Array.from({ length: hours }, (_, i) => ({
    name: snapshotName(new Date(NOW.getTime() - i * HOUR)),
    bytes,
  }))

const kept = (files: { name: string; bytes: number }[], maxBytes: number) => {
  const gone = new Set(outdated(files, NOW, maxBytes))
  return files.filter(({ name }) => !gone.has(name)).map(({ name }) => name.slice(9, 20))
}

describe('which snapshots stay', () => {
  test('those of 24 hours and the last one of each of 14 days', () => {
    const stay = kept(hourly(24 * 30), 1000 * MB)
    expect(stay).toHaveLength(24 + 12)
    expect(stay.slice(0, 2)).toEqual(['20260320-12', '20260320-11'])
    expect(stay[23]).toBe('20260319-13')
    expect(stay.slice(24)).toEqual(
      Array.from({ length: 12 }, (_, i) => `202603${String(18 - i).padStart(2, '0')}-23`),
    )
  })

  test('over the cap hourly ones older than 6 hours go first, then the oldest daily ones', () => {
    const files = hourly(24 * 20)
    expect(kept(files, 36 * MB)).toHaveLength(36)
    expect(kept(files, 35 * MB)).not.toContain('20260319-13')
    // 7 of the last hours, and yesterday's last and the 12 before.
    expect(kept(files, 20 * MB)).toEqual([
      ...['12', '11', '10', '09', '08', '07', '06'].map((hour) => `20260320-${hour}`),
      ...Array.from({ length: 13 }, (_, i) => `202603${String(19 - i).padStart(2, '0')}-23`),
    ])
    expect(kept(files, 9 * MB).slice(7)).toEqual(['20260319-23', '20260318-23'])
    expect(kept(files, 3 * MB)).toEqual(['20260320-12', '20260320-11', '20260320-10'])
    expect(kept(files, 0)).toEqual(['20260320-12'])
  })

  test('other files are never touched', () => {
    const files = [
      'before-migration-from-1-20260101T000000.db',
      'notes',
      'snapshot-1.tar.gz',
      'xsnapshot-20200101-000000.tar.gz',
    ]
    expect(
      outdated(
        files.map((name) => ({ name, bytes: MB })),
        NOW,
        0,
      ),
    ).toEqual([])
  })
})

describe('the job', () => {
  let w: FileWorld
  beforeEach(async () => {
    w = await createFileWorld()
  })
  afterEach(() => w.close())

  const run = (clockJumped = false, runningMs = HOUR) =>
    keepSnapshots(w.s, { clockJumped, runningMs })

  test('makes one an hour, an archive like a backup, owner-only', async () => {
    await run()
    await run()
    expect(w.files('snapshots')).toEqual(['snapshot-20260301-120000.tar.gz'])
    const file = join(w.dir, 'snapshots/snapshot-20260301-120000.tar.gz')
    expect(Object.keys(gnuUntar(readFileSync(file)))).toEqual(['panel.db', '.env'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    w.clock.advance(HOUR)
    await run()
    expect(w.files('snapshots')).toHaveLength(2)
    expect(w.files('work')).toEqual([])
  })

  test('waits ten minutes before the first one', async () => {
    await run(false, 599_000)
    expect(w.files('snapshots')).toEqual([])
    await run(false, 600_000)
    expect(w.files('snapshots')).toHaveLength(1)
  })

  test('removes what is past its time, but not when the clock was set', async () => {
    await run()
    w.clock.advance(40 * 24 * HOUR)
    await run(true)
    expect(w.files('snapshots')).toHaveLength(2)
    w.clock.advance(HOUR)
    await run()
    expect(w.files('snapshots')).toHaveLength(3)
    for (let day = 0; day < 15; day++) {
      w.clock.advance(24 * HOUR)
      await run()
    }
    expect(w.files('snapshots')).toHaveLength(14)
    // Eighteen threads that pack, and seventeen that check too.
  }, 60_000)

  test('makes one when the newest is from the future', async () => {
    await run()
    w.clock.jump(-30 * 24 * HOUR)
    await run(true)
    expect(w.files('snapshots')).toHaveLength(2)
  })

  test('a failed one is noted and leaves nothing behind', async () => {
    const failing = { ...w.s.snapshots, make: async () => Promise.reject(new Error('no space')) }
    await keepSnapshots({ ...w.s, snapshots: failing }, { clockJumped: false, runningMs: HOUR })
    expect(w.log.join('\n')).toMatch(/error the snapshot failed reason="no space"/)
    expect(w.files('snapshots')).toEqual([])
  })

  test('the first of a day is read as a restore would read it: what that refuses is told once, and looked at until it is mended', async () => {
    putSettings(w, { ADMIN_TG_IDS: '501' })
    const told = () =>
      w.rows('select payload from outbox').map(({ payload }) => JSON.parse(payload))
    const unsound = { about: 'snapshot-unsound', table: 'nodes', column: 'flow' }
    await run()
    w.change(`update nodes set flow = 'a"b'`)
    w.clock.advance(HOUR)
    await run()
    expect(told()).toEqual([])
    w.clock.advance(24 * HOUR)
    await run()
    w.clock.advance(HOUR)
    await run()
    expect(told()).toEqual([unsound])
    expect(w.log.join('\n')).toMatch(
      /error no restore would take this snapshot.*table=nodes column=flow/,
    )
    w.change("update nodes set flow = ''")
    w.clock.advance(HOUR)
    await run()
    w.change(`update nodes set flow = 'a"b'`)
    w.clock.advance(24 * HOUR)
    await run()
    expect(told()).toEqual([unsound, unsound])
  })

  test('too little space on the disk is a failure that removes nothing', async () => {
    const poor = createSnapshots({ ...w.config, databasePath: join(w.dir, 'large') }, w.s.dataFiles)
    writeFileSync(join(w.dir, 'large'), '')
    truncateSync(join(w.dir, 'large'), 2 ** 42)
    await expect(poor.make('x', NOW, null, false)).rejects.toThrow('too little space')
  })

  describe('copies elsewhere', () => {
    const withCommand = (text: string) => {
      writeFileSync(join(w.dir, 'c.sh'), text)
      return {
        ...w.s,
        config: { ...w.config, snapshotCopyCommand: `sh ${join(w.dir, 'c.sh')} {} $(id) ;` },
      }
    }

    test('by words of the command, never by a shell', async () => {
      const s = withCommand(`printf '%s|' "$@" > ${join(w.dir, 'said')}`)
      await keepSnapshots(s, { clockJumped: false, runningMs: HOUR })
      const file = join(w.dir, 'snapshots/snapshot-20260301-120000.tar.gz')
      expect(readFileSync(join(w.dir, 'said'), 'utf8')).toBe(`${file}|$(id)|;|`)
      expect(w.log.join('\n')).not.toContain('error')
    })

    test('a failure is noted', async () => {
      await keepSnapshots(withCommand('exit 3'), { clockJumped: false, runningMs: HOUR })
      expect(w.log.join('\n')).toMatch(/error the snapshot could not be copied.*"it ended with 3"/)
    })

    test('it is ended when it takes too long, and so are its children', async () => {
      const snapshots = createSnapshots(w.config, w.s.dataFiles, 300)
      writeFileSync(join(w.dir, 'c.sh'), `sleep 60 & echo $! > ${join(w.dir, 'pid')}; wait`)
      expect(await snapshots.copy('x', `sh ${join(w.dir, 'c.sh')}`)).toMatch(/longer than/)
      const pid = readFileSync(join(w.dir, 'pid'), 'utf8').trim()
      await expect
        .poll(() => {
          try {
            return /State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
          } catch {
            return true
          }
        })
        .toBe(true)
      expect(await snapshots.copy('x', '/nowhere/at-all')).toMatch(/could not be started/)
    })
  })

  test.each([
    ['rclone copy {} remote:x', ['rclone', 'copy', '/f', 'remote:x']],
    ['  cp  -v ', ['cp', '-v', '/f']],
    ['a {} {}', ['a', '/f', '/f']],
    ['a x{}', ['a', 'x{}', '/f']],
  ])('the words of %j', (command, words) => {
    expect(commandWords(command, '/f')).toEqual(words)
  })
})
