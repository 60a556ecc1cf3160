/** A database handle over pools of connections. */
import type { Pool } from 'pg'
import type { Database } from '../database.ts'
import { KEPT_TABLES } from '../revision-triggers.ts'
import { createMemory } from './memory.ts'
import { CHANGED } from './migrate.ts'
import { listen } from './notices.ts'
import { openPool } from './pool.ts'
import { createSteps } from './steps.ts'
import { createTransactions, OF_TRANSACTIONS, READING, within } from './transactions.ts'
import { createTurns, type Turns } from './turns.ts'

/** The database of a server, for what is done with it as a whole, and for tests. */
export interface PostgresDatabase extends Database {
  pool: Pool
  /** Resolves when its connections are closed. */
  close(): Promise<void>
}

export interface Connections {
  /** Of requests: transactions and what is read at once. */
  most: number
  /** Of what reads long. */
  mostScans: number
  /** Whether others' changes are heard of at once. */
  hears: boolean
  /** Whether connections keep the plans of statements by name: not behind a proxy that hands them out for single transactions. */
  keepsPlans: boolean
}

/** Connections that list fetches have to themselves, one statement each. */
const OF_LISTS = 8

const USUAL: Connections = { most: 16, mostScans: 2, hears: true, keepsPlans: true }

/** How long a change of another process may go unnoticed where notices do not come through. */
const UNHEARD_MS = 1000

/** Connects to a database that has the form of this program. */
export async function wrap(
  url: string,
  given: Partial<Connections> = {},
): Promise<PostgresDatabase> {
  const { most, mostScans, hears, keepsPlans } = { ...USUAL, ...given }
  const pool = openPool(url, most)
  const scans = openPool(url, mostScans)
  const steps = createSteps(keepsPlans)
  const memory = createMemory(pool, steps)
  const committed = async (tables: ReadonlySet<string>) => {
    if (!tables.isDisjointFrom(KEPT_TABLES)) await memory.catchUp()
  }
  const ofLists = createTurns(OF_LISTS)
  const ofReads = createTurns(Math.max(1, most - OF_TRANSACTIONS - OF_LISTS))
  const ofScans = createTurns(mostScans)
  const reader =
    (from: Pool, turns: Turns, whose?: string): Database['read'] =>
    (body) =>
      turns(() => within(from, steps, READING, body), whose)
  const close = async () => {
    await Promise.all([pool.end(), scans.end()])
  }
  try {
    await memory.catchUp()
  } catch (error) {
    await close()
    throw error
  }
  const lookUp = () => {
    // Who can't be asked now is asked again.
    memory.catchUp().catch(() => {})
  }
  const notices = hears ? listen(url, CHANGED, lookUp) : null
  const timer = setInterval(lookUp, UNHEARD_MS)
  timer.unref()
  const { txOf, ...transactions } = createTransactions(pool, steps, committed)
  const database: PostgresDatabase = {
    pool,
    read: reader(pool, ofReads),
    tx: txOf(),
    onBehalfOf: (whose) => ({ ...database, read: reader(pool, ofReads, whose), tx: txOf(whose) }),
    scan: reader(scans, ofScans),
    ask: (question, params) => ofLists(() => steps.ask(pool, question, params)),
    revision: memory.revision,
    kept: memory.answer,
    refresh: memory.catchUp,
    ...transactions,
    async close() {
      clearInterval(timer)
      await Promise.all([notices?.close(), close()])
    },
  }
  return database
}
