/** A database as a large shop has it, made once per schema and size and kept in the system's temporary folder. */
import { createHash, hash } from 'node:crypto'
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rebuildFacts } from '#db/engine/sqlite/facts.ts'
import { openDatabase, withStartLock } from '#db/engine/sqlite/open.ts'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import { hwidOf, NODES, PER_USER, tgIdOf, tokenOf } from './shop.ts'

const PLANS = ['1m', '3m', '6m', '12m']
const DAY_MS = 86_400_000

export function uuidOf(user: number, number: number): string {
  const hex = hash('sha256', `uuid ${user} ${number}`, 'hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

export const timestamp = (ms: number): string => new Date(ms).toISOString().slice(0, 19)

export type Driver = ReturnType<typeof openDatabase>['raw']

/** Ten nodes: all with REALITY, four with WebSocket and XHTTP, three with Hysteria2. */
function insertShared(raw: Driver, now: number): void {
  const node = raw.prepare(
    `INSERT INTO nodes (code, label, kind, address, port, public_key, private_key, short_id, sni, transports_json,
       hysteria_port, hysteria_password, core_version, sort_order, created_at)
     VALUES (?, ?, ?, ?, 443, ?, ?, ?, 'dl.google.com', ?, ?, ?, '26.7.28', ?, ?)`,
  )
  NODES.forEach((code, i) => {
    const key = hash('sha256', `key ${code}`, 'base64url')
    const transports: object[] = []
    if (i % 3 === 1) {
      transports.push({ type: 'ws', port: 8443, path: '/a1b2c3d4e5f6', cert: CERT_PEM })
      transports.push({ type: 'xhttp', port: 443, path: '/f6e5d4c3b2a1' })
    }
    if (i % 3 === 2) transports.push({ type: 'hysteria2', port: 8444, cert: CERT_PEM })
    const hysteria = i % 3 === 2 ? [8444, key.slice(0, 32)] : [null, null]
    const kind = code === 'de1' ? 'local' : 'external'
    const address = `${code}.nodes.example.com`
    const identity = [
      code,
      `Node ${code.toUpperCase()}`,
      kind,
      address,
      key,
      key,
      '0123456789abcdef',
    ]
    node.run(...identity, JSON.stringify(transports), ...hysteria, i + 1, timestamp(now))
  })
  const plan = raw.prepare(
    'INSERT INTO plans (code, label, days, price, sort_order) VALUES (?, ?, ?, ?, ?)',
  )
  PLANS.forEach((code, i) => {
    plan.run(
      code,
      `${Number.parseInt(code, 10) * 30} days`,
      Number.parseInt(code, 10) * 30,
      199 * (i + 1),
      i + 1,
    )
  })
}

/** Expiry, active, held and revoked: of 20 subscriptions 14 are active, three have run out, one is held, two are revoked. */
function stateOf(user: number, number: number, now: number): (string | number | null)[] {
  const chance = (user * 7919 + number * 7) % 20
  const days = ((user * 104_729 + number * 61) % 300) + 1
  const expires = timestamp(now + (chance >= 14 && chance < 17 ? -days : days) * DAY_MS)
  if (chance > 17) return [expires, 0, null, timestamp(now - 2 * DAY_MS)]
  return [expires, 1, chance === 17 ? timestamp(now - DAY_MS) : null, null]
}

/**
 * Rows come in the order of time, as a
 * shop writes them, so the three of one user lie far apart.
 */
function insertSubscriptions(raw: Driver, users: number, now: number): void {
  const insert = raw.prepare(
    `INSERT INTO subscriptions (uuid, tg_id, node, plan, expires_at, active, held_at, revoked_at, source, up_bytes,
       down_bytes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'payment', ?, ?, ?)`,
  )
  const total = users * PER_USER
  for (let number = 0; number < PER_USER; number++) {
    for (let user = 0; user < users; user++) {
      const row = number * users + user
      const createdAt = now - 365 * DAY_MS + Math.floor((row / total) * 364 * DAY_MS)
      const place = [
        NODES[(user * 7 + number * 3) % NODES.length],
        PLANS[(user + number) % PLANS.length],
      ]
      const bytes = [(row * 1_000_003) % 5e9, (row * 15_485_863) % 9e10]
      insert.run(
        uuidOf(user, number),
        tgIdOf(user),
        ...place,
        ...stateOf(user, number, now),
        ...bytes,
        timestamp(createdAt),
      )
    }
  }
}

export function insertUsers(raw: Driver, users: number, now: number): void {
  const insert = raw.prepare(
    'INSERT INTO users (tg_id, telegram_id, username, token, created_at) VALUES (?, ?, ?, ?, ?)',
  )
  for (let user = 0; user < users; user++) {
    const createdAt = now - 365 * DAY_MS + Math.floor((user / users) * 364 * DAY_MS)
    const tgId = tgIdOf(user)
    insert.run(tgId, tgId, `user_${user}`, tokenOf(user), timestamp(createdAt))
  }
}

/** Never an hour ago: however old the kept database is, fetches do not begin to write sightings. */
const SEEN = '2099-01-01T00:00:00'

export function insertDevices(raw: Driver, users: number, now: number): void {
  const insert = raw.prepare(
    `INSERT INTO devices (tg_id, hwid, device_os, device_model, user_agent, created_at, last_seen_at)
     VALUES (?, ?, 'iOS', 'iPhone 15', 'Happ/3.5.0', ?, ?)`,
  )
  const at = timestamp(now)
  for (let device = 0; device < PER_USER; device++) {
    for (let user = 0; user < users; user++)
      insert.run(tgIdOf(user), hwidOf(user, device), at, SEEN)
  }
}

type Write = (raw: Driver, now: number) => void

function fill(path: string, write: Write): void {
  const now = Date.now()
  const { raw } = openDatabase(path, { now: new Date(now) })
  raw.pragma('synchronous = OFF')
  raw.pragma('cache_size = -2000000')
  // Triggers only count what is being written; indexes are faster built at the end. Both come back as they were.
  const later = raw
    .prepare(
      `SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql IS NOT NULL`,
    )
    .all() as { type: string; name: string; sql: string }[]
  for (const { type, name } of later) raw.exec(`DROP ${type} ${name}`)
  raw.exec('BEGIN')
  write(raw, now)
  for (const { sql } of later) raw.exec(sql)
  rebuildFacts(raw)
  raw.exec('COMMIT')
  raw.pragma('wal_checkpoint(TRUNCATE)')
  raw.close()
}

const SOURCES = [
  '../../db/schema/customers.ts',
  '../../db/schema/facts.ts',
  '../../db/schema/node-groups.ts',
  '../../db/schema/nodes.ts',
  '../../db/schema/notify.ts',
  '../../db/schema/payments.ts',
  '../../db/schema/plans.ts',
  '../../db/schema/subscriptions.ts',
  '../../db/schema/traffic.ts',
  '../../db/engine/fact-triggers.ts',
  '../../db/engine/revision-triggers.ts',
  '../../db/engine/sqlite/open.ts',
  '../../db/engine/sqlite/migrate.ts',
  'seed.ts',
  'shop.ts',
].map((file) => join(import.meta.dirname, file))

function keyOf(files: string[]): string {
  const digest = createHash('sha256')
  for (const file of [...SOURCES, ...files]) digest.update(readFileSync(file))
  return digest.digest('hex').slice(0, 12)
}

/** The path of a database that `make` writes, now unless an earlier run left it: of these sources and the schema as it is. */
export async function keptDatabase(
  name: string,
  sources: string[],
  make: (path: string) => Promise<void>,
): Promise<string> {
  const folder = join(tmpdir(), 'subpanel-bench')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${name}-${keyOf(sources)}.db`)
  if (existsSync(path)) return path
  console.error(`bench: seeding ${name} (kept in ${path})`)
  const unfinished = `${path}.new`
  for (const suffix of ['', '-wal', '-shm']) rmSync(unfinished + suffix, { force: true })
  await make(unfinished)
  renameSync(unfinished, path)
  return path
}

/** Makes a new file a database with what `write` writes. */
export async function fillDatabase(path: string, write: Write): Promise<void> {
  await withStartLock(path, async () => fill(path, write))
  rmSync(`${path}.lock`, { force: true })
}

/** Writes a seeded database with this many users to a new file. */
export const seededDatabase = (users: number, path: string): Promise<void> =>
  fillDatabase(path, (raw, now) => {
    insertShared(raw, now)
    insertUsers(raw, users, now)
    insertSubscriptions(raw, users, now)
    insertDevices(raw, users, now)
  })

/** A folder for one server with its own copy of a database as `panel.db`. */
export function folderWith(folder: string, database: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  copyFileSync(database, join(folder, 'panel.db'), constants.COPYFILE_FICLONE)
  return folder
}

/** A folder for one server with its own copy of the seeded database. */
export async function dataFolder(folder: string, users: number): Promise<string> {
  const make = (path: string) => seededDatabase(users, path)
  return folderWith(folder, await keptDatabase(`${users}-users`, [], make))
}
