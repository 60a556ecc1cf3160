/** A managed node with thousands of clients, in the database and on its core. */
import { createWorld, type World } from '#test/support/worlds/world.ts'
import { addNode, addUser, inSeconds, nowOf } from './records.ts'

/** A user whose subscriptions open nothing. */
export const BANNED = 8

/** A world with the managed node `nl`, and its node program. */
export async function createClientWorld() {
  const w = await createWorld()
  addUser(w, BANNED, { banned_at: nowOf(w) })
  addNode(w, 'nl', {
    ...{ kind: 'managed', private_key: 'K'.repeat(43), hysteria_port: 443 },
    ...{ hysteria_password: 'a-password', hysteria_obfs_password: 'obfs' },
    transports_json: JSON.stringify([{ type: 'hysteria2', port: 443 }]),
  })
  return { w, remote: w.remote('nl') }
}

/** Subscriptions of a user each, on `nl` with these differences; their uuids are spread over all blocks. */
export function addClients(
  w: World,
  uuids: string[],
  change: (index: number) => Record<string, unknown> = () => ({}),
): void {
  w.changeMany(
    'insert into users (tg_id, token, created_at) values (?, ?, ?)',
    uuids.map((uuid, i) => [1000 + i, uuid, nowOf(w)]),
  )
  w.changeMany(
    `insert into subscriptions (uuid, tg_id, node, plan, expires_at, active, held_at, source, created_at)
     values (?, ?, ?, '1m', ?, ?, ?, 'admin', ?)`,
    uuids.map((uuid, i) => {
      const row = { tg: 1000 + i, node: 'nl', expires: inSeconds(w, 60), active: 1, held: null }
      const { tg, node, expires, active, held } = { ...row, ...change(i) }
      return [uuid, tg, node, expires, active, held, nowOf(w)]
    }),
  )
}

export const newUuids = (count: number) => Array.from({ length: count }, () => crypto.randomUUID())
