/** The yardstick of grants: rows inserted and committed one by one, as safely as the service does, and nothing else. Prints how many a second. */
import Sqlite from 'better-sqlite3'

const { path, seconds } = JSON.parse(process.argv[2] as string) as { path: string; seconds: number }
const db = new Sqlite(path)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.exec('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, uuid TEXT, at TEXT)')
const insert = db.prepare('INSERT INTO rows (uuid, at) VALUES (?, ?)')
let count = 0
const startedAt = performance.now()
while (performance.now() - startedAt < seconds * 1000) {
  insert.run(crypto.randomUUID(), '2026-01-01T00:00:00')
  count++
}
console.log(JSON.stringify((count / (performance.now() - startedAt)) * 1000))
