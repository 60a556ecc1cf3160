/** Read transactions of a connection: what is read in one is of one moment. */
import type Sqlite from 'better-sqlite3'

export function createReadTransactions(raw: Sqlite.Database) {
  const begin = raw.prepare('BEGIN')
  const commit = raw.prepare('COMMIT')
  let shared = false
  const finish = () => {
    // An error of a read may have ended it already.
    if (raw.open && raw.inTransaction) commit.run()
  }
  const end = () => {
    if (!shared) return
    shared = false
    finish()
  }
  return {
    /** Begins one that all reads share until the end of this turn of the event loop, or until `end`. */
    share() {
      if (raw.inTransaction) return
      begin.run()
      shared = true
      setImmediate(end)
    },
    end,
    isShared: () => shared,
    /** Runs `work` within one. */
    within<T>(work: () => T): T {
      if (raw.inTransaction) return work()
      begin.run()
      try {
        return work()
      } finally {
        finish()
      }
    },
  }
}
