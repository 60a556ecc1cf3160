/** A shop goes from a file of SQLite to a server, or back: all of its rows, compared one by one before anything is kept. */
import { renameSync, rmSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { DatabaseRefused } from '../failures.ts'
import { withConnection } from '../sqlite/snapshot.ts'
import { readAddress } from './address.ts'
import { compareRows } from './compare.ts'
import { copyIn, holdTables } from './copy.ts'
import { isPresentForm, migrate } from './migrate.ts'
import { examine, withClient } from './open.ts'
import type { Asking } from './steps.ts'
import { fillFile } from './store.ts'

/** What each database has of its own: its form, its revisions, and who runs what at the moment. */
const LEFT: ReadonlySet<string> = new Set(['__drizzle_migrations', 'revisions', 'leases'])

export interface Moving {
  /** Do all of it, and keep nothing. */
  isTrial: boolean
  /** Is told of each table whose rows have been copied. */
  told(table: string, rows: number): void
}

/** Roles are held by leases: somebody whose lease lasts is at work. */
const RUNNING = 'select count(*) as n from leases where expires_at >'

const refuseRunning = (running: number) => {
  if (running > 0) {
    throw new DatabaseRefused(
      'the service is running: stop all of its processes first (a killed one is believed to run for 10 seconds)',
    )
  }
}

async function refuseUnequal(client: Asking, raw: Sqlite.Database): Promise<void> {
  const unequal = await compareRows(client, raw, LEFT)
  if (unequal.length === 0) return
  const names = unequal.map(({ table, rows }) => `${table} (${rows})`).join(', ')
  throw new DatabaseRefused(`rows are not the same on both sides, nothing was moved: ${names}`)
}

/** From the file at `path`, which keeps its rows and is locked meanwhile. Throws DatabaseRefused, and then the server has nothing of it. */
export async function moveToServer(path: string, url: string, now: Date, moving: Moving) {
  const raw = new Sqlite(path, { fileMustExist: true, timeout: 5000 })
  try {
    raw.exec('BEGIN IMMEDIATE')
    refuseRunning(raw.prepare(`${RUNNING} ?`).pluck().get(now.getTime()) as number)
    const address = readAddress(url)
    await withClient(address, async (client) => {
      await examine(client, address, () => {
        throw new DatabaseRefused(`${address.name} has a shop already: make a new database`)
      })
      await client.query('begin')
      await migrate(client)
      await copyIn(client, raw, { leaves: LEFT, told: moving.told })
      await refuseUnequal(client, raw)
      await client.query(moving.isTrial ? 'rollback' : 'commit')
    })
  } finally {
    raw.close()
  }
}

/** To a new file at `path`; the server keeps its rows, and takes no changes meanwhile. Throws DatabaseRefused, and then there is no file. */
export async function moveToFile(url: string, path: string, now: Date, moving: Moving) {
  const unfinished = `${path}.moving`
  rmSync(unfinished, { force: true })
  try {
    await withClient(readAddress(url), async (client) => {
      await client.query('begin isolation level repeatable read')
      await holdTables(client, LEFT)
      if (!(await isPresentForm(client))) {
        throw new DatabaseRefused(
          'the database has the form of another version: start the service with it once',
        )
      }
      const { rows } = await client.query(`${RUNNING} $1`, [now.getTime()])
      refuseRunning(rows[0].n)
      await fillFile(client, unfinished, { leaves: LEFT, told: moving.told })
      const raw = new Sqlite(unfinished)
      try {
        await refuseUnequal(client, raw)
      } finally {
        raw.close()
      }
    })
    withConnection(unfinished, (raw) => raw.pragma('journal_mode = WAL'))
    if (!moving.isTrial) renameSync(unfinished, path)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(unfinished + suffix, { force: true })
  }
}
