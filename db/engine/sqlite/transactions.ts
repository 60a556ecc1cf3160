/** The only kind of transaction there is: immediate, its body driven in one go, and many of them committed together when they come at once. */
import type Sqlite from 'better-sqlite3'
import { createLoopBudget } from '#src/lib/loop-budget.ts'
import { pause } from '#src/lib/pause.ts'
import type { Database, TxBody } from '../database.ts'
import { isBusy } from '../failures.ts'
import { locked, neutral } from './failures.ts'
import type { SyncBuilder } from './orm.ts'
import type { Steps } from './steps.ts'

/** How long a transaction waits for another process's; then it is busy. */
const PATIENCE_MS = 2000
/** SQLite's own waiting blocks the process: it is cut into pieces, with requests let through between them. */
const WAIT_MS = 25
const PAUSE_MS = 25

/** Of a turn of the event loop, for transactions that run at once: those of 50 logins held everything else up for 100 ms. */
const AT_ONCE_MS = 1
/** For the bodies of those that then waited and are committed together. */
const TOGETHER_MS = 5

interface Waiting {
  body: TxBody<unknown>
  resolve(value: never): void
  reject(error: unknown): void
  /** When it came, on the monotonic clock. */
  sinceMs: number
}

/**
 * Transactions that run at once when nobody else writes and their share of the turn is not used up. Else they wait in line and are
 * committed together, each within a savepoint: one that throws is undone alone, and all share the wait for the disk. The line is
 * tried again and again while another process writes.
 */
export function createTransactions(
  raw: Sqlite.Database,
  db: SyncBuilder,
  { drive }: Steps,
  endSharedReads: () => void,
): Pick<Database, 'tx' | 'txUnsynced' | 'txVolatile' | 'isCrowded'> {
  const line: Waiting[] = []
  let running = false
  /** Since when another process has kept this one from writing. */
  let blockedMs: number | null = null
  const budget = createLoopBudget(AT_ONCE_MS)
  const ownWait = raw.pragma('busy_timeout', { simple: true })
  /** Null when another process writes for all of `waitMs`. */
  const attempt = <T>(
    work: (tx: SyncBuilder) => T,
    waitMs: number,
    durable = true,
  ): { value: T } | null => {
    let begun = false
    const startedAt = performance.now()
    endSharedReads()
    raw.pragma(`busy_timeout = ${waitMs}`)
    // Commits in WAL mode stay whole and in order without it, and the next durable one takes this along.
    if (!durable) raw.pragma('synchronous = NORMAL')
    try {
      const begin = (tx: SyncBuilder) => {
        begun = true
        blockedMs = null
        return { value: work(tx) }
      }
      return db.transaction(begin, { behavior: 'immediate' })
    } catch (cause) {
      const error = neutral(cause)
      if (begun || !isBusy(error)) throw error
      blockedMs ??= startedAt
      return null
    } finally {
      if (!durable) raw.pragma('synchronous = FULL')
      raw.pragma(`busy_timeout = ${ownWait}`)
      budget.spend(performance.now() - startedAt)
    }
  }
  /** Runs the foremost in a savepoint; what to tell it after the commit. Throws what ended the whole transaction. */
  const runFirst = ({ body, resolve, reject }: Waiting): (() => void) => {
    try {
      const value = db.transaction((tx) => drive(body, tx))
      return () => resolve(value as never)
    } catch (error) {
      if (!raw.inTransaction) throw error
      return () => reject(neutral(error))
    }
  }
  /** How long the foremost still waits: time that it took this process itself does not count. */
  const leftMs = () => {
    const now = performance.now()
    return Math.max(line[0]?.sinceMs ?? now, blockedMs ?? now) + PATIENCE_MS - now
  }
  /** Runs as many of the line as have time, in one transaction. False when another process writes. */
  const runTogether = (): boolean => {
    const taken: Waiting[] = []
    const take = () => {
      const first = line.shift() as Waiting
      taken.push(first)
      return first
    }
    const runMany = () => {
      const until = performance.now() + TOGETHER_MS
      const ends = [runFirst(take())]
      while (line.length > 0 && performance.now() < until) ends.push(runFirst(take()))
      return ends
    }
    try {
      const done = attempt(runMany, leftMs() > 0 ? WAIT_MS : 0)
      for (const end of done?.value ?? []) end()
      return done !== null
    } catch (error) {
      if (taken.length === 0) take()
      for (const { reject } of taken) reject(error)
      return true
    }
  }
  const waitOrRefuse = async () => {
    if (leftMs() > 0) await pause(PAUSE_MS)
    else line.shift()?.reject(locked())
  }
  const runLine = async () => {
    running = true
    while (line.length > 0) {
      if (budget.isOver()) await budget.next()
      if (!runTogether()) await waitOrRefuse()
    }
    running = false
  }
  const transact = async <T>(body: TxBody<T>, durable: boolean): Promise<T> => {
    if (!running && !budget.isOver()) {
      const outcome = attempt((tx) => drive(body, tx), WAIT_MS, durable)
      if (outcome) return outcome.value
    }
    const sinceMs = performance.now()
    return new Promise((resolve, reject) => {
      line.push({ body, resolve, reject, sinceMs })
      if (!running) void runLine()
    })
  }
  return {
    tx: (body) => transact(body, true),
    txUnsynced: (body) => transact(body, false),
    txVolatile: (body) => transact(body, false),
    isCrowded: () => line.length > 0,
  }
}
