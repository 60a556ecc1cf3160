/** A shop goes from a file of SQLite to a server, or back: all of its rows, compared one by one before anything is kept. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { syncFile, syncFolder } from '#src/lib/atomic-file.ts'
import { errorMessage } from '#src/lib/errors.ts'
import { DatabaseRefused, isBusy } from '../failures.ts'
import { neutral } from '../sqlite/failures.ts'
import { putAway } from '../sqlite/moved.ts'
import { withConnection } from '../sqlite/snapshot.ts'
import { readAddress } from './address.ts'
import { compareRows } from './compare.ts'
import { copyIn, countRows, type Table, type Told, tablesOf } from './copy.ts'
import { withoutIndexes } from './indexes.ts'
import { isPresentForm, migrate } from './migrate.ts'
import { alone, beginLong, examine, withClient } from './open.ts'
import type { Asking } from './steps.ts'
import { fillFile } from './store.ts'

/** What each database has of its own: its form, its revisions, and who runs what at the moment. */
const LEFT: ReadonlySet<string> = new Set(['__drizzle_migrations', 'revisions', 'leases'])

export interface Moving {
  /** Do all of it, and keep nothing. */
  isTrial: boolean
  /** Is told of each table whose rows have been copied. */
  told: Told
}

/** Other processes of ours that are connected, and roles whose lease lasts: the machine of one may be cut off. */
const RUNNING = `select (select count(*) from leases where expires_at > $1) + (select count(*) from pg_stat_activity
  where datname = current_database() and application_name = 'subpanel' and pid <> pg_backend_pid()) as n`

const RUNS = 'the service is running: stop all of its processes first'

async function refuseUnequal(client: Asking, raw: Sqlite.Database, tables: Table[]): Promise<void> {
  const unequal = await compareRows(client, raw, tables)
  if (unequal.length === 0) return
  const names = unequal.map(({ table, rows }) => `${table} (${rows})`).join(', ')
  throw new DatabaseRefused(`rows are not the same on both sides, nothing was moved: ${names}`)
}

/** Opens the file for this process alone. Throws DatabaseRefused while another one has it open. */
function openAlone(path: string): Sqlite.Database {
  const raw = new Sqlite(path, { fileMustExist: true, timeout: 1000 })
  try {
    // Who has a file with a write-ahead log open keeps a lock of it, also while nothing is done.
    raw.pragma('locking_mode = EXCLUSIVE')
    raw.exec('BEGIN EXCLUSIVE')
    return raw
  } catch (error) {
    raw.close()
    throw isBusy(neutral(error)) ? new DatabaseRefused(RUNS) : error
  }
}

/** The name that the file has from now on. */
function leave(raw: Sqlite.Database, path: string, now: Date): string {
  raw.exec('ROLLBACK')
  try {
    return putAway(raw, path, now)
  } catch (error) {
    throw new DatabaseRefused(
      `the server has the whole shop, but its file can not be renamed (${errorMessage(error)}): move ${path} away yourself before you start, with its -wal and -shm`,
    )
  }
}

/**
 * From the file at `path`, which keeps its rows and has another name afterwards: that is given, or null for a trial. Throws DatabaseRefused, and then
 * the server has nothing of it, unless that is what the message says.
 */
export async function moveToServer(
  path: string,
  url: string,
  now: Date,
  moving: Moving,
): Promise<string | null> {
  const raw = openAlone(path)
  try {
    const address = readAddress(url)
    await withClient(address, async (client) => {
      await examine(client, address, () => {
        throw new DatabaseRefused(`${address.name} has a shop already: make a new database`)
      })
      await client.query(beginLong())
      await migrate(client)
      const tables = await tablesOf(client, LEFT)
      await withoutIndexes(client, tables, () => copyIn(client, raw, tables, moving.told))
      await refuseUnequal(client, raw, tables)
      if (moving.isTrial) return
      await client.query('commit')
      await countRows(client).catch(() => {})
    })
    return moving.isTrial ? null : leave(raw, path, now)
  } finally {
    raw.close()
  }
}

/** What SQLite would take for a part of a new file of this name. */
const PARTS = ['', '-wal', '-shm', '-journal']

/** To a new file at `path`; the server keeps its rows, and takes no changes meanwhile. Throws DatabaseRefused, and then there is no file. */
export async function moveToFile(
  url: string,
  path: string,
  now: Date,
  moving: Moving,
): Promise<void> {
  const present = PARTS.map((part) => path + part).find((one) => existsSync(one))
  if (present !== undefined) throw new DatabaseRefused(`${present} is there already`)
  const unfinished = `${path}.moving`
  const removeUnfinished = () => {
    for (const part of PARTS) rmSync(unfinished + part, { force: true })
  }
  removeUnfinished()
  try {
    await withClient(readAddress(url), async (client) => {
      if (!(await isPresentForm(client))) {
        throw new DatabaseRefused(
          'the database has the form of another version: start the service with it once',
        )
      }
      const tables = await tablesOf(client, LEFT)
      await alone(client, 'isolation level repeatable read', tables, async () => {
        const { rows } = await client.query(RUNNING, [now.getTime()])
        if (rows[0].n > 0) throw new DatabaseRefused(RUNS)
        await fillFile(client, unfinished, tables, moving.told)
        const raw = new Sqlite(unfinished)
        try {
          await refuseUnequal(client, raw, tables)
        } finally {
          raw.close()
        }
      })
    })
    if (moving.isTrial) return
    withConnection(unfinished, (raw) => raw.pragma('journal_mode = WAL'))
    syncFile(unfinished)
    renameSync(unfinished, path)
    syncFolder(dirname(path))
  } finally {
    removeUnfinished()
  }
}
