/** What the torture tests share: a filled installation, its check, seeded randomness, areas that end with their test. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect } from 'vitest'
import { findFaults } from '#db/engine/sqlite/verify.ts'
import { type PostgresServer, startPostgres } from '#test/support/labs/postgres-server.ts'
import { faultsOf } from '#test/support/worlds/sync-client.ts'
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

/** A maker of small disks for one test file; call it before useAreas: hooks run in reverse order, and the areas on a disk are closed before it goes. */
export function useSmallDisks() {
  const mounts: string[] = []
  afterEach(() => {
    for (const mount of mounts.splice(0)) {
      execFileSync('umount', ['-l', mount])
      rmdirSync(mount)
    }
  })
  return (size: string): string => {
    const mount = mkdtempSync(join(tmpdir(), 'subpanel-full-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', mount])
    mounts.push(mount)
    return mount
  }
}

/** Writes a file until nothing more fits beside it. */
export function fillDisk(path: string): void {
  const file = openSync(path, 'w')
  for (const size of [65_536, 4096, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size))
    } catch {
      // No space for a piece of this size.
    }
  }
  closeSync(file)
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

/** Users with one active subscription each, written into an installation's database behind its back. */
export function fillUsers(a: Area, count: number, expiresAt = '2099-01-01T00:00:00'): void {
  const at = '2026-01-01T00:00:00'
  const numbers = `with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${count})`
  a.write(
    `${numbers} insert into users (tg_id, username, token, created_at) select i, 'user' || i, 'token-of-user-' || i, '${at}' from numbers`,
  )
  a.write(
    `${numbers} insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at)
    select '00000000-0000-4000-8000-' || substr(cast(1000000000000 + i as text), 2), i, 'de1', '1m', '${expiresAt}', 'admin', '${at}' from numbers`,
  )
}

/** What sqlite3 itself says of a database: integrity and foreign keys; `ok` alone when all is well. */
export function verdict(database: string): string {
  const sql = 'PRAGMA integrity_check; PRAGMA foreign_key_check;'
  return execFileSync('sqlite3', [database, sql], { encoding: 'utf8' }).trim()
}

/** Every invariant holds, and a file is whole. */
export function expectSound(a: Area): void {
  const since = '2000-01-01T00:00:00'
  if (a.server !== null) {
    expect(faultsOf(a.server, since)).toEqual([])
    return
  }
  expect(verdict(a.database)).toBe('ok')
  const db = new Sqlite(a.database, { readonly: true })
  expect(findFaults(db, since)).toEqual([])
  db.close()
}
