/** Customers of three kinds, as many of each: on one node, on a group of nodes, on as many nodes with a subscription each. */
import { hash } from 'node:crypto'
import { CERT_PEM } from '#test/fixtures/lists/samples.ts'
import {
  type Driver,
  fillDatabase,
  folderWith,
  insertDevices,
  insertUsers,
  keptDatabase,
  timestamp,
  uuidOf,
} from './seed.ts'
import { tgIdOf } from './shop.ts'

/** Members of the group. */
export const PLACES = 20

const CODES = Array.from({ length: PLACES }, (_, i) => `p${i + 1}`)
const DAYS = 30
const DAY_MS = 86_400_000

/** Nodes with REALITY, WebSocket and XHTTP, and the group of all of them. */
function insertPlaces(raw: Driver, now: number): void {
  const node = raw.prepare(
    `INSERT INTO nodes (code, label, kind, address, port, public_key, short_id, sni, transports_json, core_version, sort_order,
       created_at)
     VALUES (?, ?, 'external', ?, 443, ?, '0123456789abcdef', 'dl.google.com', ?, '26.7.28', ?, ?)`,
  )
  const transports = [
    { type: 'ws', port: 8443, path: '/a1b2c3d4e5f6', cert: CERT_PEM },
    { type: 'xhttp', port: 443, path: '/f6e5d4c3b2a1' },
  ]
  const at = timestamp(now)
  CODES.forEach((code, i) => {
    const key = hash('sha256', `key ${code}`, 'base64url')
    const label = `Node ${code.toUpperCase()}`
    const address = `${code}.nodes.example.com`
    node.run(code, label, address, key, JSON.stringify(transports), i + 1, at)
  })
  const group = raw.prepare(
    'INSERT INTO node_groups (code, label, sort_order, created_at) VALUES (?, ?, 1, ?)',
  )
  group.run('all', 'All places', at)
  const member = raw.prepare('INSERT INTO node_group_nodes (group_code, node) VALUES (?, ?)')
  for (const code of CODES) member.run('all', code)
  const plan = raw.prepare(
    'INSERT INTO plans (code, label, days, price, sort_order, node_group) VALUES (?, ?, ?, 500, ?, ?)',
  )
  plan.run('1m', '30 days', DAYS, 1, null)
  plan.run('all', '30 days', DAYS, 2, 'all')
}

/** In the order of time, so that those of one customer lie far apart. */
function insertSubscriptions(raw: Driver, users: number, now: number): void {
  const insert = raw.prepare(
    `INSERT INTO subscriptions (uuid, tg_id, node, node_group, plan, expires_at, source, up_bytes, down_bytes, created_at)
     VALUES (?, ?, ?, ?, ?, '2099-01-01T00:00:00', 'payment', ?, ?, ?)`,
  )
  const add = (user: number, number: number, node: number, group: string | null) => {
    const bytes = [(user * 1_000_003) % 5e9, (user * 15_485_863) % 9e10]
    const createdAt = timestamp(now - (PLACES - number) * DAY_MS)
    const place = [CODES[node % PLACES], group, group ?? '1m']
    insert.run(uuidOf(user, number), tgIdOf(user), ...place, ...bytes, createdAt)
  }
  for (let user = 0; user < users; user++) {
    add(user, 0, user, null)
    add(users + user, 0, user, 'all')
  }
  for (let number = 0; number < PLACES; number++) {
    for (let user = 0; user < users; user++) add(2 * users + user, number, number, null)
  }
}

/** A folder for one server with its own copy of the shop: of each kind `users`, in the order of this module's first line. */
export async function groupShopFolder(folder: string, users: number): Promise<string> {
  const make = (path: string) =>
    fillDatabase(path, (raw, now) => {
      insertPlaces(raw, now)
      insertUsers(raw, 3 * users, now)
      insertSubscriptions(raw, users, now)
      insertDevices(raw, 3 * users, now)
    })
  return folderWith(folder, await keptDatabase(`groups-${users}`, [import.meta.filename], make))
}
