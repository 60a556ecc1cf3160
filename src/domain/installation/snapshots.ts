/** Hourly snapshots: an archive like a backup's, encrypted as that is, kept for a day, and one of each day for two weeks. */

import { isAlertOpen } from '#db/open-alerts.ts'
import type { Alert } from '#src/domain/notify/alert-texts.ts'
import { alertState } from '#src/domain/notify/alerts.ts'
import { errorMessage } from '#src/lib/errors.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import {
  DAY_MS,
  fileStamp,
  formatTimestamp,
  HOUR_MS,
  MINUTE_MS,
  parseTimestamp,
} from '#src/lib/time.ts'
import type { SnapshotFile } from '#src/ports/snapshots.ts'
import type { Services } from '#src/services.ts'
import { archiveSuffix } from './backup.ts'
import { backupKey } from './backup-passphrase.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'log' | 'snapshots' | 'fatal'>

const HOURLY = 24
const DAILY = 14
/** Over the cap, hourly snapshots go before daily ones once they are this old. */
const SPARE_MS = 6 * HOUR_MS
const FREE_SHARE = 0.2
/** A fresh installation, and a process that is restarted all the time, have nothing to lose yet. */
const FIRST_AFTER_MS = 10 * MINUTE_MS

/** That a restore would refuse it. */
const UNSOUND = 'snapshot-unsound'

const NAME = /^snapshot-(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})(\d{2})\.tar\.gz(?:\.enc)?$/

/** The file name of a snapshot of this moment. */
export const snapshotName = (at: Date, isEncrypted = false): string =>
  `snapshot-${fileStamp(at)}${archiveSuffix(isEncrypted)}`

interface Snapshot extends SnapshotFile {
  at: number
  day: string
}

/** The snapshots among a folder's files, newest first. */
function parse(files: SnapshotFile[]): Snapshot[] {
  const found = files.flatMap((file) => {
    const parts = NAME.exec(file.name)
    if (!parts) return []
    const [, year, month, day, hour, minute, second] = parts
    const date = `${year}-${month}-${day}`
    const at = parseTimestamp(`${date}T${hour}:${minute}:${second}`).getTime()
    return [{ ...file, at, day: date }]
  })
  return found.sort((a, b) => b.at - a.at)
}

/** The last snapshot of each day, newest first. */
function lastOfDays(snapshots: Snapshot[]): Snapshot[] {
  const days = new Map<string, Snapshot>()
  for (const one of snapshots) if (!days.has(one.day)) days.set(one.day, one)
  return [...days.values()]
}

/**
 * The names of the snapshots that go: all but those of the last 24 hours and the last one of each of 14 days; where the rest is
 * larger than `maxBytes`, hourly ones older than 6 hours first, then the oldest daily ones. The newest always stays.
 */
export function outdated(files: SnapshotFile[], now: Date, maxBytes: number): string[] {
  const snapshots = parse(files)
  const daily = new Set(lastOfDays(snapshots).slice(0, DAILY))
  const hourly = snapshots.filter(({ at }) => at > now.getTime() - DAY_MS).slice(0, HOURLY)
  const kept = new Set([...hourly, ...daily])
  const going = snapshots.filter((one) => !kept.has(one))
  let size = [...kept].reduce((sum, { bytes }) => sum + bytes, 0)
  const oldestFirst = [...kept].sort((a, b) => a.at - b.at)
  const old = oldestFirst.filter((one) => !daily.has(one) && one.at < now.getTime() - SPARE_MS)
  const rest = oldestFirst.filter((one) => !old.includes(one))
  // Daily ones by age; the hourly ones of the last hours are the youngest.
  for (const one of [...old, ...rest.slice(0, -1)]) {
    if (size <= maxBytes) break
    size -= one.bytes
    going.push(one)
  }
  return going.map(({ name }) => name)
}

/** Whether it is time for a snapshot; one from the future was made before the clock was set back. */
function isDue(snapshots: Snapshot[], now: Date, runningMs: number): boolean {
  const [newest] = snapshots
  if (!newest) return runningMs >= FIRST_AFTER_MS
  return now.getTime() - newest.at >= HOUR_MS || newest.at > now.getTime() + HOUR_MS
}

/** Runs the operator's copy command for a new snapshot; that it fails is noted and nothing else. */
async function copyElsewhere(s: Deps, name: string): Promise<void> {
  if (s.config.snapshotCopyCommand === '') return
  const failure = await s.snapshots.copy(name, s.config.snapshotCopyCommand)
  if (failure !== null)
    s.log.error('the snapshot could not be copied elsewhere', { name, reason: failure })
}

/**
 * Makes a snapshot when the last one is an hour old, copies it elsewhere, and removes those past their time, but for `clockJumped`:
 * then nobody knows how old they are. `runningMs`: since when this process has the job.
 */
export async function keepSnapshots(
  s: Deps,
  context: { clockJumped: boolean; runningMs: number },
): Promise<void> {
  const now = s.clock.now()
  const before = parse(s.snapshots.list())
  if (!isDue(before, now, context.runningMs)) return
  const key = backupKey(s)
  const name = snapshotName(now, key !== null)
  const alertOf = (state: string, alert: Alert | null) =>
    s.db.tx((tx) =>
      alertState(tx, s, formatTimestamp(now), { name: state, begins: alert !== null, alert }),
    )
  // Once a day, and until it is mended.
  const check =
    (await s.db.read((q) => isAlertOpen(q, UNSOUND))) ||
    before.every(({ day }) => day !== formatTimestamp(now).slice(0, 10))
  try {
    const wrong = await s.snapshots.make(name, now, key, check)
    s.log.info('snapshot made', { name })
    if (await s.db.read((q) => isAlertOpen(q, 'snapshot'))) await alertOf('snapshot', null)
    if (wrong) {
      const { table, column } = wrong
      s.log.error('no restore would take this snapshot', { name, table, column })
      await alertOf(UNSOUND, { about: 'snapshot-unsound', table, column })
    } else if (check) await alertOf(UNSOUND, null)
  } catch (error) {
    noteFault(s, 'error', 'the snapshot failed', error)
    await alertOf('snapshot', { about: 'snapshot-failed', reason: errorMessage(error) })
    return
  }
  if (!context.clockJumped) {
    const free = s.snapshots.freeBytes() * FREE_SHARE
    for (const old of outdated(
      s.snapshots.list(),
      now,
      Math.min(s.config.snapshotMaxBytes, free),
    )) {
      s.snapshots.remove(old)
    }
  }
  await copyElsewhere(s, name)
}
