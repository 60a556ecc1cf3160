/** Connections to a PostgreSQL server. */
import { createRequire } from 'node:module'
import type { ClientConfig, Pool } from 'pg'

const load = createRequire(import.meta.url)

const CONNECT_TIMEOUT_MS = 5000
/** What one statement may take: the server ends it. */
export const STATEMENT_MS = 10_000
/** How long an answer is waited for: a server that is frozen ends nothing, and its connections do not break. */
const ANSWER_MS = STATEMENT_MS + 2000
/** After this an idle one is closed, so that a server that was replaced by another is found again. */
const IDLE_TIMEOUT_MS = 30_000

/** int8 and numeric: all of ours are whole and within JavaScript's. */
const INT8 = 20
const NUMERIC = 1700

/** The driver, which a process with SQLite never loads. */
export function driver(): typeof import('pg') {
  const pg = load('pg') as typeof import('pg')
  pg.types.setTypeParser(INT8, Number)
  pg.types.setTypeParser(NUMERIC, Number)
  return pg
}

/** What every connection of ours is made with. */
const settingsOf = (url: string): ClientConfig => ({
  connectionString: url,
  application_name: 'subpanel',
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
})

/** Connections that are opened as they are needed, at most `max`. */
export function openPool(url: string, max: number): Pool {
  const pool = new (driver().Pool)({
    ...settingsOf(url),
    max,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: ANSWER_MS,
  })
  // A connection that breaks is taken out by the pool, or by whoever uses it at the moment. Without listeners it would end the process.
  const ignore = () => {}
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

/** A connection of its own, not yet connected; `answerMs`: how long an answer is waited for. */
export const openClient = (url: string, answerMs?: number) =>
  new (driver().Client)({
    ...settingsOf(url),
    ...(answerMs !== undefined && { query_timeout: answerMs }),
  })
