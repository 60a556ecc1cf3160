/** A panel of a lab that manages servers: its rows written and read from outside, its orders sent to a proxy before a server. */
import { randomBytes, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { generateRealityKeys } from '#src/domain/nodes/install/keys.ts'
import type { ProxyOrder } from '#test/support/fakes/cut-proxy.ts'
import { type Lab, type Target, until } from './lab.ts'
import { type ManagedServer, NODE_USER } from './lab-machines.ts'
import type { NodeServer } from './node-lab.ts'
import { type Runtime, runtimeBinary, type Service, startService } from './service.ts'

export interface ManagedPanel {
  service: Service
  /** Reads or changes the panel's database from outside. */
  query<T = Record<string, unknown>>(sql: string, ...values: unknown[]): T[]
  write(sql: string, ...values: unknown[]): void
  /** Makes a server one of the panel's active nodes, as a provisioned one is. */
  adopt(server: NodeServer, options?: AdoptOptions): Promise<void>
  /** Writes users with one subscription each on a node; gives the uuids. */
  fill(code: string, count: number): string[]
  /** The uuids that a node must serve now, sorted. */
  wanted(code: string): string[]
  /** Whether file and running core hold exactly the wanted clients, and the configuration is the node's. */
  inStep(server: ManagedServer): Promise<boolean>
}

export interface AdoptOptions {
  sni?: string
  /** WS, XHTTP and, when the server has it, Hysteria2 beside REALITY. */
  transports?: boolean
  hysteria?: boolean
  sshPort?: number
}

/** Starts a panel with its data under `name`, without a local node. */
export async function startPanel(
  lab: Lab,
  target: Target,
  runtime: Runtime,
  name: string,
  env: Record<string, string> = {},
): Promise<ManagedPanel> {
  const service = await startService(lab, target, runtime, name, { LOCAL_NODE: 'off', ...env })
  const file = join(lab.dir, name, 'panel.db')
  const use = <T>(work: (db: Sqlite.Database) => T): T => {
    const db = new Sqlite(file, { timeout: 10_000 })
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  const panel: ManagedPanel = {
    service,
    query: (sql, ...values) => use((db) => db.prepare(sql).all(...values)) as never,
    write: (sql, ...values) => void use((db) => db.prepare(sql).run(...values)),
    async adopt(server, options = {}) {
      const [key] = panel.query<{ public_key: string }>('select public_key from management_key')
      server.trust(key?.public_key ?? '')
      const { privateKey, publicKey } = await generateRealityKeys()
      const path = randomBytes(8).toString('hex')
      // As a registration stores it.
      const cert = server.certificate.trim()
      const transports = options.transports
        ? [
            { type: 'ws', port: 8443, path: `/${path}w`, cert },
            { type: 'xhttp', port: 443, path: `/${path}x` },
          ]
        : []
      const hysteria = { type: 'hysteria2', port: 443, cert }
      const row = {
        code: server.code,
        label: `Server ${server.code}`,
        kind: 'managed',
        address: server.address,
        port: 443,
        public_key: publicKey,
        private_key: privateKey,
        short_id: randomBytes(8).toString('hex'),
        sni: options.sni ?? target.serverName,
        flow: 'xtls-rprx-vision',
        enabled: 1,
        status: 'active',
        sort_order: 10,
        transports_json: JSON.stringify([...transports, ...(options.hysteria ? [hysteria] : [])]),
        hysteria_port: options.hysteria ? 443 : null,
        hysteria_password: options.hysteria ? randomBytes(16).toString('hex') : null,
        hysteria_obfs_password: options.hysteria ? randomBytes(16).toString('hex') : null,
        ssh_port: options.sshPort ?? 22,
        ssh_user: NODE_USER,
        created_at: '2026-01-01T00:00:00',
      }
      const columns = Object.keys(row)
      const marks = columns.map(() => '?').join(', ')
      panel.write(
        `insert into nodes (${columns.join(', ')}) values (${marks})`,
        ...Object.values(row),
      )
    },
    fill(code, count) {
      const at = '2026-01-01T00:00:00'
      return use((db) => {
        const [last] = db.prepare('select max(tg_id) as id from users').all() as { id: number }[]
        const user = db.prepare('insert into users (tg_id, token, created_at) values (?, ?, ?)')
        const subscription = db.prepare(
          "insert into subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at) values (?, ?, ?, '1m', '2099-01-01T00:00:00', 'admin', ?)",
        )
        const uuids = Array.from({ length: count }, () => randomUUID())
        db.transaction(() => {
          for (const [i, uuid] of uuids.entries()) {
            const tgId = (last?.id ?? 0) + i + 1
            user.run(tgId, `token-of-${uuid}`, at)
            subscription.run(uuid, tgId, code, at)
          }
        })()
        return uuids
      })
    },
    wanted(code) {
      const rows = panel.query<{ uuid: string }>(
        `select s.uuid from subscriptions s join users u using (tg_id)
         where s.node = ? and s.active = 1 and s.held_at is null and u.banned_at is null
           and s.expires_at > strftime('%Y-%m-%dT%H:%M:%S', 'now') order by s.uuid`,
        code,
      )
      return rows.map(({ uuid }) => uuid)
    },
    async inStep(server) {
      const wanted = panel.wanted(server.code).join()
      const sql = 'select short_id from nodes where code = ?'
      const [node] = panel.query<{ short_id: string }>(sql, server.code)
      if (server.shortId() !== node?.short_id) return false
      return server.listed().join() === wanted && (await server.held())?.join() === wanted
    },
  }
  return panel
}

/** Sends the panel's SSH to a server through a proxy on its port 2222; the orders go to what is returned. */
export async function startProxy(
  lab: Lab,
  server: ManagedServer,
): Promise<(order: ProxyOrder) => Promise<number>> {
  const control = join(lab.dir, `${server.machine}-proxy.sock`)
  rmSync(control, { force: true })
  const args = [join(import.meta.dirname, '../fakes/cut-proxy.ts'), control, '2222', '22']
  const proxy = lab.spawn(runtimeBinary('node'), args, { machine: server.machine })
  await until('the proxy listens', () => proxy.output().includes('listening'))
  return (order) =>
    new Promise((resolve, reject) => {
      const socket = connect(control, () => socket.write(`${JSON.stringify(order)}\n`))
      socket.on('error', reject)
      socket.on('data', (data) => {
        resolve(Number(String(data)))
        socket.destroy()
      })
    })
}
