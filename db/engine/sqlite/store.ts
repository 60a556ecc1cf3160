/** The database in a file. */
import { existsSync, statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import type { Store } from '../store.ts'
import { rebuildFacts } from './facts.ts'
import { guarded } from './failures.ts'
import { isPresentForm } from './migrate.ts'
import { hasMoved } from './moved.ts'
import { forgetInstance, peekInstance } from './peek.ts'
import { snapshotInto, withConnection } from './snapshot.ts'
import { findFaults } from './verify.ts'

/** How long a change of the whole waits for another one. */
const TURN_MS = 60_000

/** Loaded where somebody opens it: the threads that copy and restore files build no queries. */
const opening = () => import('./open.ts')

/** Runs `work` while no other process of this machine changes the whole of this database. Busy when another one takes too long. */
async function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = new Sqlite(`${path}.restore-lock`, { timeout: TURN_MS })
  try {
    guarded(() => lock.exec('BEGIN EXCLUSIVE'))
    return await work()
  } finally {
    lock.close()
  }
}

export function sqliteStore(path: string): Store {
  const bytes = () => statSync(path, { throwIfNoEntry: false })?.size
  const isThere = () => (bytes() ?? 0) > 0
  return {
    name: path,
    async state() {
      if (!existsSync(path)) return hasMoved(path) ? 'moved' : 'missing'
      return isThere() ? 'there' : 'empty'
    },
    withStartLock: async (work) => (await opening()).withStartLock(path, work),
    open: async (how) => (await opening()).openDatabase(path, how),
    connect: async () => (await opening()).joinDatabase(path),
    read: async (fact) =>
      isThere() ? withConnection(path, (raw) => peekInstance(raw, fact)) : undefined,
    async forget(fact, value) {
      withConnection(path, (raw) => forgetInstance(raw, fact, value))
    },
    bytes: async () => bytes() ?? 0,
    async copyInto(target) {
      snapshotInto(path, target)
    },
    replace: (_folder, change, finish) =>
      inTurn(path, async () => {
        const value = change(path)
        await finish(value)
        return value
      }),
    faults: async (since) => withConnection(path, (raw) => findFaults(raw, since)),
    isPresentForm: async () => withConnection(path, isPresentForm),
    async rebuildFacts() {
      withConnection(path, (raw) => raw.transaction(() => rebuildFacts(raw)).immediate())
    },
  }
}
