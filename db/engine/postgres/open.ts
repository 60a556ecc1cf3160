/** Opens a database on a server: what must hold of it first, migrations, connections. */
import type { QueryConfig } from 'pg'
import { within } from '#src/lib/pause.ts'
import { MINUTE_MS } from '#src/lib/time.ts'
import { DatabaseFailure, DatabaseRefused } from '../failures.ts'
import type { Opening } from '../store.ts'
import type { Address } from './address.ts'
import { lockOf, type Table, tablesOf } from './copy.ts'
import { guarded, isConflict } from './failures.ts'
import { type PostgresDatabase, wrap } from './handle.ts'
import { isPresentForm, knownHashes, migrate } from './migrate.ts'
import { openClient } from './pool.ts'
import type { Asking } from './steps.ts'

/** The oldest that this is tested with. */
const OLDEST = 15

/** What the server says of itself, and of who asks. */
interface Found {
  version: number
  isStandby: boolean
  isReadOnly: boolean
  encoding: string
  schema: string | null
  mayCreate: boolean
  tables: string[]
}

async function look(client: Asking): Promise<Found> {
  const { rows } = await client.query(
    `select current_setting('server_version_num')::int / 10000 as version, pg_is_in_recovery() as "isStandby",
       current_setting('transaction_read_only') = 'on' as "isReadOnly", current_setting('server_encoding') as encoding,
       current_schema() as schema, coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
       array(select relname::text from pg_class c where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')
         and not exists (select 1 from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')) as tables`,
  )
  return rows[0] as Found
}

/** Why this program must leave it alone; null where it may go on. */
function refusalOf(found: Found): string | null {
  const { version, isStandby, isReadOnly, encoding, schema, mayCreate } = found
  if (version < OLDEST) {
    return `its server has version ${version} of PostgreSQL: ${OLDEST} or newer is needed`
  }
  if (isStandby)
    return 'its server is a standby, which takes no changes: name the primary (with several servers target_session_attrs is not enough)'
  if (isReadOnly) return 'it takes no changes: default_transaction_read_only is on'
  if (encoding !== 'UTF8')
    return `it has the encoding ${encoding}: make one with createdb -E UTF8 -T template0`
  if (schema !== 'public')
    return `new tables would go to the schema ${schema ?? 'none'}: ours are in public, set the user's search_path to it`
  if (!mayCreate)
    return 'this user may make no tables in it: grant create on schema public to the user, or make the user its owner'
  return null
}

/** The migrations that were applied, by the hash of each. */
async function appliedHashes(client: Asking): Promise<string[]> {
  const { rows } = await client.query('select hash from __drizzle_migrations order by created_at')
  return rows.map(({ hash }) => hash)
}

/** Why a database with these tables must be left alone: it is not ours, or a newer version has written it. Null where it is ours, or empty. */
async function refusalOfTables(client: Asking, tables: string[]): Promise<string | null> {
  if (tables.length === 0) return null
  const known = knownHashes()
  const applied = tables.includes('__drizzle_migrations') ? await appliedHashes(client) : []
  if (applied[0] !== known[0])
    return 'it has the tables of another program: make a database of its own'
  if (applied.length > known.length)
    return 'it was written by a newer version of Subpanel: update the program'
  return applied.every((hash, i) => hash === known[i])
    ? null
    : 'it was written by another version of Subpanel than those before this one'
}

/** Whose it is; undefined for a new one. */
async function instanceOf(client: Asking, tables: string[]): Promise<string | undefined> {
  if (!tables.includes('instance')) return undefined
  const { rows } = await client.query('select instance_id as id from instance')
  return rows[0]?.id ?? undefined
}

const UNKNOWN_AUTHORITY =
  'its certificate is of an authority that is not known here: name the file with that of the authority by sslrootcert'

/** What is wrong where the server can't even be asked, by its code or the system's. */
const UNREACHED: Record<string, string> = {
  '28P01': 'its server refuses this user or password',
  '28000': 'its server lets this user not in from here (pg_hba.conf)',
  '3D000': 'there is no such database: make it with createdb',
  '42501': 'this user has no right to connect',
  '53300': 'its server has no connection left (max_connections)',
  '57P03': 'its server is starting up',
  ECONNREFUSED: 'nobody listens there',
  ENOENT: 'there is no such socket',
  ENOTFOUND: 'there is no such server',
  // OpenSSL's, by the names that Node and Bun give them.
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another name: write the address as the certificate has it',
}

/** What one statement of those may take. */
const LONG_MS = 10 * MINUTE_MS
/** How long a server that goes away while all is done is waited for. */
const GOODBYE_MS = 2000

/** How long one waits for another who starts, changes the whole, or writes. */
export const TURN_MS = 60_000

/**
 * Begins a transaction that may take long, whatever the server would give it: the whole is copied, or another process is waited for. It ends with
 * a machine that is gone. `mode` is what follows BEGIN. It sees nothing yet.
 */
export const beginLong = (mode = '') =>
  `begin ${mode}; set local statement_timeout = ${LONG_MS}; set local idle_in_transaction_session_timeout = ${LONG_MS};
   set local lock_timeout = ${TURN_MS};
   set local tcp_keepalives_idle = 10; set local tcp_keepalives_interval = 10; set local tcp_keepalives_count = 3`

/**
 * Runs `work` in a long transaction that is alone in writing to these tables. Who writes takes them in any order, so that two may wait for each other, and the server ends one: as
 * long as nothing is done, it is tried again.
 */
export async function alone<T>(
  client: Asking,
  mode: string,
  tables: Table[],
  work: () => Promise<T>,
): Promise<T> {
  const until = performance.now() + TURN_MS
  for (;;) {
    await client.query(beginLong(mode))
    try {
      if (tables.length > 0) await client.query(lockOf(tables))
      break
    } catch (error) {
      await client.query('rollback')
      if (!isConflict(error) || performance.now() > until) throw error
    }
  }
  const value = await work()
  await client.query('commit')
  return value
}

/** Closes a connection whose server says nothing: it would keep the process. */
function cut(client: object): void {
  const { connection } = client as { connection?: { stream: { destroy(): void } } }
  connection?.stream.destroy()
}

/** Runs `work` on a connection of its own. Where there is none to be had it throws what to do: a server that is away is a failure of that kind. */
export async function withClient<T>(
  { url, name }: Address,
  work: (client: Asking) => Promise<T>,
): Promise<T> {
  const client = openClient(url, LONG_MS)
  // A break comes as the failure of what is asked.
  client.on('error', () => {})
  try {
    await guarded(client.connect())
  } catch (error) {
    const { code = '', message, kind } = error as DatabaseFailure
    const line = `DATABASE_URL, ${name}: ${UNREACHED[code] ?? message}`
    throw kind === 'away' ? new DatabaseFailure(kind, line, { code }) : new DatabaseRefused(line)
  }
  const query: Asking['query'] = (config, values) =>
    guarded(client.query(config as QueryConfig, values))
  try {
    return await work({ query })
  } finally {
    const isOver = await within(GOODBYE_MS, client.end()).catch(() => false)
    if (!isOver) cut(client)
  }
}

/** Looks at the database without touching it: whether it has tables. Throws DatabaseRefused, and what `accept` throws where it is there already. */
export async function examine(
  client: Asking,
  { name }: Address,
  accept: Opening['accept'],
): Promise<boolean> {
  const found = await look(client)
  const refusal = refusalOf(found) ?? (await refusalOfTables(client, found.tables))
  if (refusal !== null) throw new DatabaseRefused(`DATABASE_URL, ${name}: ${refusal}`)
  const isThere = found.tables.length > 0
  if (isThere) accept?.(await instanceOf(client, found.tables))
  return isThere
}

const EVERY: ReadonlySet<string> = new Set()
const MOST_TRIES = 20

/** Opens and migrates it; throws as `Store.open` says. */
export async function openPostgres(
  address: Address,
  { accept }: Pick<Opening, 'accept'>,
): Promise<PostgresDatabase> {
  const prepare = () =>
    withClient(address, async (client) => {
      const isThere = await examine(client, address, accept)
      if (isThere && (await isPresentForm(client))) return
      // Other processes, of the version before this one, go on writing, and what is kept of their rows is made anew.
      const tables = isThere ? await tablesOf(client, EVERY) : []
      await alone(client, '', tables, () => migrate(client))
    })
  // A change of a table waits for who has read it; where they then want to write there, the server ends one of the two.
  for (let tries = 1; ; tries++) {
    try {
      await prepare()
      return connect(address)
    } catch (error) {
      if (!isConflict(error) || tries === MOST_TRIES) throw error
    }
  }
}

const connect = ({ url, isProxied }: Address): Promise<PostgresDatabase> =>
  wrap(url, { hears: !isProxied, keepsPlans: !isProxied })

/** Connects to one that another process has open; throws as `Store.connect` says. */
export async function joinPostgres(address: Address): Promise<PostgresDatabase> {
  if (!(await withClient(address, isPresentForm))) {
    throw new DatabaseRefused('the program was changed while the service ran: restart it')
  }
  return connect(address)
}
