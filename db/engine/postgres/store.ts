/** The database on a server. */
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { KEPT } from '#db/upload.ts'
import { DatabaseRefused } from '../failures.ts'
import { dropFactTriggers, putFactTriggers } from '../sqlite/facts.ts'
import { migrate } from '../sqlite/migrate.ts'
import { createOwnerOnly, forgetBackupKey, withConnection } from '../sqlite/snapshot.ts'
import type { OwnFact, Store } from '../store.ts'
import { readAddress } from './address.ts'
import { copyIn, copyOut, countRows, type Table, type Told, tablesOf } from './copy.ts'
import { CHANGED, isPresentForm, rebuildFacts } from './migrate.ts'
import { alone, beginLong, joinPostgres, openPostgres, withClient } from './open.ts'
import type { Asking } from './steps.ts'
import { findFaults } from './verify.ts'

/** Which lock of the server stands for what: any numbers, which no other program should have. */
const START_LOCK = 0x5375_6231
const CHANGE_LOCK = 0x5375_6232

const SNAPSHOT = 'isolation level repeatable read read only'
/** So that a transaction which has read before, and would write after, is run again. */
const CHANGE = 'isolation level serializable'

async function within<T>(client: Asking, mode: string, work: () => Promise<T>): Promise<T> {
  await client.query(beginLong(mode))
  const value = await work()
  await client.query('commit')
  return value
}

/** A new file of SQLite in our present form, with the rows that PostgreSQL has as of this transaction. Nobody else knows it: a power cut may take it. */
export async function fillFile(
  client: Asking,
  path: string,
  tables: Table[],
  told?: Told,
): Promise<void> {
  createOwnerOnly(path)
  const raw = new Sqlite(path)
  try {
    raw.pragma('journal_mode = MEMORY')
    raw.pragma('synchronous = OFF')
    migrate(raw)
    raw.pragma('foreign_keys = OFF')
    dropFactTriggers(raw)
    await copyOut(client, raw, tables, told)
    putFactTriggers(raw)
  } finally {
    raw.close()
  }
}

/** Takes over what a file of SQLite has. */
async function takeFrom(client: Asking, path: string, tables: Table[]): Promise<void> {
  const raw = new Sqlite(path, { fileMustExist: true, readonly: true })
  try {
    await copyIn(client, raw, tables)
  } finally {
    raw.close()
  }
  await client.query("update revisions set n = n + 1 where name = 'lists'")
  await client.query(`notify ${CHANGED}`)
}

/** Copies are of the form of this program. */
async function refuseOtherForm(client: Asking): Promise<void> {
  if (await isPresentForm(client)) return
  throw new DatabaseRefused('the database has the form of another version: restart the service')
}

/** `text`: an address that `readAddress` takes. */
export function postgresStore(text: string): Store {
  const address = readAddress(text)
  const on = <T>(work: (client: Asking) => Promise<T>) => withClient(address, work)
  /**
   * Runs `work` with a lock that a transaction holds: one of a session would be lost behind a proxy. `isHeld` throws where it was lost by then; as it
   * holds nothing else, its own end is no matter.
   */
  const withLock = <T>(lock: number, work: (isHeld: () => Promise<unknown>) => Promise<T>) =>
    on(async (client) => {
      await client.query(`${beginLong()}; set local idle_in_transaction_session_timeout = 0`)
      await client.query('select pg_advisory_xact_lock($1)', [lock])
      try {
        return await work(() => client.query('select 1'))
      } finally {
        await client.query('commit').catch(() => {})
      }
    })
  const hasTables = async (client: Asking): Promise<boolean> => {
    const { rows } = await client.query("select to_regclass('instance') is not null as present")
    return rows[0].present
  }
  const read = (fact: OwnFact) =>
    on(async (client) => {
      if (!(await hasTables(client))) return undefined
      const { rows } = await client.query(`select ${fact} as value from instance`)
      return (rows[0]?.value ?? undefined) as string | undefined
    })
  return {
    name: address.name,
    async state() {
      if ((await read('instance_id')) !== undefined) return 'there'
      return (await on(hasTables)) ? "nobody's" : 'empty'
    },
    withStartLock: (work) => withLock(START_LOCK, () => work()),
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
      on(async (client) => {
        const tables = await tablesOf(client, KEPT)
        await within(client, SNAPSHOT, async () => {
          await refuseOtherForm(client)
          await fillFile(client, path, tables)
        })
        withConnection(path, forgetBackupKey)
      }),
    replace: (folder, change, finish) =>
      withLock(CHANGE_LOCK, async (isHeld) => {
        const copy = join(folder, 'live.db')
        const value = await on(async (client) => {
          const tables = await tablesOf(client, KEPT)
          return alone(client, CHANGE, tables, async () => {
            await refuseOtherForm(client)
            await fillFile(client, copy, tables)
            const changed = change(copy)
            await takeFrom(client, copy, tables)
            await isHeld()
            return changed
          })
        })
        await finish(value)
        await on(countRows).catch(() => {})
        return value
      }),
    faults: (since) => on((client) => within(client, SNAPSHOT, () => findFaults(client, since))),
    isPresentForm: () => on(isPresentForm),
    rebuildFacts: () =>
      on(async (client) => {
        const tables = await tablesOf(client, KEPT)
        await alone(client, CHANGE, tables, () => rebuildFacts(client))
      }),
  }
}
