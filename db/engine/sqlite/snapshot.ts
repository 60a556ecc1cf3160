/** Copies of the whole database while others write to it. */
import { closeSync, openSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { guarded } from './failures.ts'
import { forgetInstance, peekInstance } from './peek.ts'

/** How long copies and restores wait for other processes' transactions; requests wait less (open.ts). */
export const PATIENCE_MS = 5000

/**
 * Copies the database as it is at this moment into a new file: VACUUM INTO is one read transaction, holds nobody up and leaves out
 * what was deleted. (The backup API starts anew whenever another process writes.) The copy lacks the key of backups: whoever has
 * one of them shall not read the others by it.
 */
export function snapshotInto(database: string, target: string): void {
  createOwnerOnly(target)
  withConnection(database, (raw) => raw.prepare('VACUUM INTO ?').run(target))
  withConnection(target, forgetBackupKey)
}

/** Takes the key out so that no page of the file has it any more. */
export function forgetBackupKey(raw: Sqlite.Database): void {
  const key = peekInstance(raw, 'backup_key')
  if (key === undefined) return
  raw.pragma('journal_mode = MEMORY')
  raw.pragma('secure_delete = ON')
  forgetInstance(raw, 'backup_key', key)
}

/** Makes the empty file that SQLite then fills. Throws EEXIST. */
export function createOwnerOnly(path: string): void {
  closeSync(openSync(path, 'wx', 0o600))
}

/** Runs `work` with a connection of its own to a database that is there. */
export const withConnection = <T>(path: string, work: (raw: Sqlite.Database) => T): T =>
  guarded(() => {
    const raw = new Sqlite(path, { fileMustExist: true, timeout: PATIENCE_MS })
    try {
      // better-sqlite3 opens WAL databases with NORMAL, which loses commits in a power cut.
      raw.pragma('synchronous = FULL')
      return work(raw)
    } finally {
      raw.close()
    }
  })
