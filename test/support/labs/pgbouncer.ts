/** A real PgBouncer before a server of postgres-server.ts, in transaction mode: each transaction may have another of a few connections. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { findProgram, freePort } from '#test/support/drivers/process.ts'
import { until } from './lab.ts'
import type { PostgresServer } from './postgres-server.ts'

export interface Bouncer {
  /** The address of a database of the server, by way of it. */
  urlOf(database: string): string
  stop(): Promise<void>
}

/** Starts one that has so many connections to the server. */
export async function startBouncer(server: PostgresServer, connections: number): Promise<Bouncer> {
  const program = findProgram('pgbouncer')
  const { uid, gid } = statSync(server.folder)
  const port = await freePort()
  const users = join(server.folder, `bouncer-${port}.txt`)
  const file = join(server.folder, `bouncer-${port}.ini`)
  writeFileSync(users, '"subpanel" ""\n')
  writeFileSync(
    file,
    `[databases]
* = host=${server.folder}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 200
`,
  )
  // It refuses to be root.
  const user = process.getuid?.() === 0 ? { uid, gid } : {}
  const child = spawn(program, ['-q', file], { ...user, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'close')
  const isHeard = async () => {
    const socket = connect(port, '127.0.0.1')
    const heard = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return heard
  }
  await until('PgBouncer listens', isHeard)
  return {
    urlOf(database) {
      return `postgres://subpanel@127.0.0.1:${port}${new URL(database).pathname}?pgbouncer=true`
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
