/** What connections are set to. */
import type Sqlite from 'better-sqlite3'

/** Sets what every connection to the live database must have. */
export function configure(raw: Sqlite.Database): void {
  raw.pragma('journal_mode = WAL')
  // better-sqlite3 re-opens WAL databases with synchronous=NORMAL, which loses acknowledged commits in a power cut.
  raw.pragma('synchronous = FULL')
  raw.pragma('foreign_keys = ON')
  raw.pragma('trusted_schema = OFF')
  raw.pragma('cell_size_check = ON')
  raw.pragma('temp_store = MEMORY')
  // Half of what SQLite would wait for: the commit that finds so many pages in the log takes them into the file, and the thread with it.
  raw.pragma('wal_autocheckpoint = 500')
  // 64 MB, taken as it is needed: what is not in it costs a list fetch 2 µs a page.
  raw.pragma('cache_size = -65536')
}
