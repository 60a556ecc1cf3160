/** The database on a server. */
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { KEPT } from '#db/upload.ts'
import { dropFactTriggers, putFactTriggers } from '../sqlite/facts.ts'
import { migrate } from '../sqlite/migrate.ts'
import { createOwnerOnly, forgetBackupKey } from '../sqlite/snapshot.ts'
import type { OwnFact, Store } from '../store.ts'
import { readAddress } from './address.ts'
import { type Copying, copyIn, copyOut, holdTables } from './copy.ts'
import { CHANGED, isPresentForm, rebuildFacts } from './migrate.ts'
import { joinPostgres, openPostgres, withClient } from './open.ts'
import type { Asking } from './steps.ts'
import { findFaults } from './verify.ts'

/** Which lock of the server stands for what: any numbers, which no other program should have. */
const START_LOCK = 0x5375_6231
const CHANGE_LOCK = 0x5375_6232

/** How long one waits for another who starts, or changes the whole. */
const TURN = '60s'

/** What archives bring. */
const RESTORED: Copying = { leaves: KEPT }

const SNAPSHOT = 'begin isolation level repeatable read read only'
/** So that a transaction which has read before, and would write after, is run again. */
const CHANGE = 'begin isolation level serializable'

async function within<T>(client: Asking, begin: string, work: () => Promise<T>): Promise<T> {
  await client.query(begin)
  const value = await work()
  await client.query('commit')
  return value
}

/** A new file of SQLite in our present form, with the rows that PostgreSQL has as of this transaction. Nobody else knows it: a power cut may take it. */
export async function fillFile(
  client: Asking,
  path: string,
  copying: Copying,
  work?: (raw: Sqlite.Database) => void,
): Promise<void> {
  createOwnerOnly(path)
  const raw = new Sqlite(path)
  try {
    raw.pragma('journal_mode = MEMORY')
    raw.pragma('synchronous = OFF')
    migrate(raw)
    raw.pragma('foreign_keys = OFF')
    dropFactTriggers(raw)
    await copyOut(client, raw, copying)
    putFactTriggers(raw)
    work?.(raw)
  } finally {
    raw.close()
  }
}

/** Takes over what a file of SQLite has. */
async function takeFrom(client: Asking, path: string): Promise<void> {
  const raw = new Sqlite(path, { fileMustExist: true, readonly: true })
  try {
    await copyIn(client, raw, RESTORED)
  } finally {
    raw.close()
  }
  await client.query("update revisions set n = n + 1 where name = 'lists'")
  await client.query(`notify ${CHANGED}`)
}

/** `text`: an address that `readAddress` takes. */
export function postgresStore(text: string): Store {
  const address = readAddress(text)
  const on = <T>(work: (client: Asking) => Promise<T>) => withClient(address, work)
  /** A lock that a transaction holds: one of a session would be lost behind a proxy. */
  const withLock = <T>(lock: number, work: () => Promise<T>) =>
    on((client) =>
      within(client, 'begin', async () => {
        await client.query(
          `set local idle_in_transaction_session_timeout = 0; set local lock_timeout = '${TURN}'`,
        )
        await client.query('select pg_advisory_xact_lock($1)', [lock])
        return work()
      }),
    )
  const has = async (client: Asking, table: string): Promise<boolean> =>
    (await client.query('select to_regclass($1) is not null as has', [table])).rows[0].has
  const read = (fact: OwnFact) =>
    on(async (client) => {
      if (!(await has(client, 'instance'))) return undefined
      const { rows } = await client.query(`select ${fact} as value from instance`)
      return (rows[0]?.value ?? undefined) as string | undefined
    })
  return {
    name: address.name,
    state: () => on(async (client) => ((await has(client, 'instance')) ? 'there' : 'empty')),
    withStartLock: (work) => withLock(START_LOCK, work),
    open: (opening) => openPostgres(address, opening),
    connect: () => joinPostgres(address),
    read,
    forget: (fact, value) =>
      on(async (client) => {
        await client.query(`update instance set ${fact} = null where ${fact} = $1`, [value])
      }),
    bytes: () =>
      on(async (client) => {
        const { rows } = await client.query('select pg_database_size(current_database()) as bytes')
        return rows[0].bytes
      }),
    copyInto: (path) =>
      on((client) =>
        within(client, SNAPSHOT, () => fillFile(client, path, RESTORED, forgetBackupKey)),
      ),
    replace: (folder, change, finish) =>
      withLock(CHANGE_LOCK, async () => {
        const copy = join(folder, 'live.db')
        const value = await on((client) =>
          within(client, CHANGE, async () => {
            await client.query(`set local lock_timeout = '${TURN}'`)
            await holdTables(client, KEPT)
            await fillFile(client, copy, RESTORED)
            const changed = change(copy)
            await takeFrom(client, copy)
            return changed
          }),
        )
        await finish(value)
        return value
      }),
    faults: (since) => on((client) => within(client, SNAPSHOT, () => findFaults(client, since))),
    isPresentForm: () => on(isPresentForm),
    rebuildFacts: () =>
      on((client) =>
        within(client, CHANGE, async () => {
          await holdTables(client, KEPT)
          await rebuildFacts(client)
        }),
      ),
  }
}
