/** A file whose shop has gone to a server gets another name: no start, which may lack DATABASE_URL, shall go on with it. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { syncFolder } from '#src/lib/atomic-file.ts'
import { formatTimestamp } from '#src/lib/time.ts'

const MARK = '.moved-'

/** Whether the shop that was in the file at `path` has gone to a server. */
export function hasMoved(path: string): boolean {
  const folder = dirname(path)
  if (existsSync(path) || !existsSync(folder)) return false
  return readdirSync(folder).some((name) => name.startsWith(basename(path) + MARK))
}

/** Renames the file, which `raw` has open for itself alone, and gives its new name: all of it is in the one file then. */
export function putAway(raw: Sqlite.Database, path: string, now: Date): string {
  const target = `${path}${MARK}${formatTimestamp(now).replace(/[-:]/g, '')}`
  raw.pragma('journal_mode = DELETE')
  renameSync(path, target)
  // What a process that was killed has left.
  for (const part of ['-wal', '-shm']) rmSync(path + part, { force: true })
  syncFolder(dirname(path))
  return target
}
