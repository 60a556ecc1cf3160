/** What the torture tests share: a filled installation, its check, seeded randomness, areas that end with their test. */
import { execFileSync } from 'node:child_process'
import Sqlite from 'better-sqlite3'
import { afterEach } from 'vitest'
import { type PostgresServer, startPostgres } from '#test/support/labs/postgres-server.ts'
import { type Area, createArea, PLAIN } from './process.ts'

/** A maker of areas for one test file; each is closed after its test. */
export function useAreas() {
  const areas: Area[] = []
  afterEach(async () => {
    await Promise.all(areas.splice(0).map((made) => made.close()))
  })
  return (defaults: Record<string, string> = PLAIN, parent?: string): Area => {
    const made = createArea(defaults, parent)
    areas.push(made)
    return made
  }
}

export const ENGINES = ['SQLite', 'PostgreSQL'] as const

/** A maker of environments for one test file: with a new database of the engine, on a server of its own that is as durable as it comes, and ends with its test. */
export function useEngines() {
  const servers: PostgresServer[] = []
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })
  return async (engine: (typeof ENGINES)[number]): Promise<Record<string, string>> => {
    if (engine === 'SQLite') return {}
    const server = await startPostgres([])
    servers.push(server)
    return { DATABASE_URL: await server.createDatabase() }
  }
}

/** Numbers from 0 to 1 that are the same in every run of a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Users with one active subscription each, written straight into a stopped installation's database. */
export function fillUsers(
  database: string,
  count: number,
  expiresAt = '2099-01-01T00:00:00',
): void {
  const db = new Sqlite(database)
  const at = '2026-01-01T00:00:00'
  const user = db.prepare(
    'insert into users (tg_id, username, token, created_at) values (?, ?, ?, ?)',
  )
  const subscription = db.prepare(
    "insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at) values (?, ?, 'de1', '1m', ?, 'admin', ?)",
  )
  db.transaction(() => {
    for (let i = 1; i <= count; i++) {
      const number = String(i).padStart(12, '0')
      user.run(i, `user${i}`, `token-of-user-${i}`, at)
      subscription.run(`00000000-0000-4000-8000-${number}`, i, expiresAt, at)
    }
  })()
  db.close()
}

/** What sqlite3 itself says of a database: integrity and foreign keys; `ok` alone when all is well. */
export function verdict(database: string): string {
  const sql = 'PRAGMA integrity_check; PRAGMA foreign_key_check;'
  return execFileSync('sqlite3', [database, sql], { encoding: 'utf8' }).trim()
}
