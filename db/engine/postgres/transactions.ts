/** Transactions: serializable, so that what one has read is still so when it commits, and run again where others came between. */
import type { Pool, PoolClient } from 'pg'
import { pause } from '#src/lib/pause.ts'
import type { Database, TxBody } from '../database.ts'
import { DatabaseFailure, isAway, isUniqueViolation } from '../failures.ts'
import { crowded, guarded, isConflict } from './failures.ts'
import { STATEMENT_MS } from './pool.ts'
import type { Note, Steps } from './steps.ts'
import { createTurns } from './turns.ts'

/** How long a transaction is tried again; then it is busy. */
const PATIENCE_MS = 2000
/** So many of a process are at it at once: of more of them most would meet. */
const AT_ONCE = 4
/** Connections that transactions take: those, and one that is tried again. */
export const OF_TRANSACTIONS = AT_ONCE + 1
/** While so many wait that have met others, new ones wait behind them: they would meet those that are tried again. */
const MOST_BEHIND = 3
const FIRST_PAUSE_MS = 2
const LONGEST_PAUSE_MS = 100

/** Bodies wait for nothing between two statements: a machine that is lost there keeps its rows no longer. */
const IDLE_MS = 15_000
const LIMIT = `set local statement_timeout = ${STATEMENT_MS}; set local idle_in_transaction_session_timeout = ${IDLE_MS}`
/** A row that another one has written and not committed is waited for so long. */
const WAITING = `set local lock_timeout = ${PATIENCE_MS}; ${LIMIT}`
const SERIALIZABLE = `begin isolation level serializable; ${WAITING}`
const UNSYNCED = 'set local synchronous_commit = off'
/** For what is worthless after a power cut: leases and heartbeats, each a statement that names the row which it changes. */
const VOLATILE = `begin isolation level read committed; ${WAITING}; ${UNSYNCED}`
/** All steps see one moment. */
export const READING = `begin isolation level repeatable read read only; ${LIMIT}`

async function rollBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query('rollback')
    return true
  } catch {
    return false
  }
}

/** A transaction in which a statement failed is rolled back by its commit, without an error. */
async function commit(client: PoolClient): Promise<void> {
  const { command } = await guarded(client.query('commit'))
  if (command !== 'COMMIT') {
    throw new DatabaseFailure('other', 'a body went on after one of its statements had failed')
  }
}

/** Runs a body in a transaction that begins with these words; rolled back when it throws. What the body throws is told as it is. */
export async function within<T>(
  pool: Pool,
  steps: Steps,
  begin: string,
  body: TxBody<T>,
  note?: Note,
): Promise<T> {
  const client = await guarded(pool.connect())
  let isSound = false
  try {
    await guarded(client.query(begin))
    const value = await steps.drive(client, body, note)
    await commit(client)
    isSound = true
    return value
  } catch (error) {
    // Nobody knows the state of a connection that does not even do this, nor waits once more for a server that says nothing.
    isSound = !isAway(error) && (await rollBack(client))
    throw error
  } finally {
    client.release(!isSound)
  }
}

export interface Transactions extends Pick<Database, 'txUnsynced' | 'txVolatile' | 'isCrowded'> {
  /** Transactions on somebody's behalf (turns.ts). */
  txOf(whose?: string): Database['tx']
}

/** `committed` is told which tables were written, and waited for; where it fails, the transaction is committed all the same. */
export function createTransactions(
  pool: Pool,
  steps: Steps,
  committed: (tables: ReadonlySet<string>) => Promise<void>,
): Transactions {
  // Those that met others are run one at a time: all at once they would meet again, each time only one of them would come through.
  const lane = createTurns(1)
  const beginning = createTurns(AT_ONCE)
  let behind = 0

  async function transact<T>(begin: string, body: TxBody<T>, whose?: string): Promise<T> {
    const began = performance.now()
    let isDoubled = false
    /** Null where others came between. */
    const attempt = async (): Promise<{ value: T } | null> => {
      const tables = new Set<string>()
      let value: T
      try {
        value = await within(pool, steps, begin, body, (table) => tables.add(table))
      } catch (error) {
        if (isConflict(error)) return null
        // So the server may say of a row that another one has written since the body looked for it; the next time it is seen.
        if (!isUniqueViolation(error) || isDoubled) throw error
        isDoubled = true
        return null
      }
      // It is committed, whatever becomes of this: nothing may run it again.
      await committed(tables).catch(() => {})
      return { value }
    }
    const again = async (): Promise<T> => {
      for (let longest = FIRST_PAUSE_MS; ; longest = Math.min(2 * longest, LONGEST_PAUSE_MS)) {
        const done = await attempt()
        if (done) return done.value
        if (performance.now() - began > PATIENCE_MS) throw crowded()
        await pause(Math.random() * longest)
      }
    }
    if (behind < MOST_BEHIND) {
      const done = await beginning(attempt, whose)
      if (done) return done.value
    }
    behind++
    try {
      return await lane(again, whose)
    } finally {
      behind--
    }
  }
  return {
    txOf: (whose) => (body) => transact(SERIALIZABLE, body, whose),
    txUnsynced: (body) => transact(`${SERIALIZABLE}; ${UNSYNCED}`, body),
    txVolatile: (body) => transact(VOLATILE, body),
    isCrowded: () => beginning.waiting() + lane.waiting() > 0,
  }
}
