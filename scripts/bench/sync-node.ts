/** Times the part `sync` in this process, which also runs the core, and prints the times as JSON. */

import { hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { driverOf } from '#db/engine/sqlite/handle.ts'
import { compose, NODE_PROGRAM } from '#src/compose.ts'
import { loadConfig } from '#src/config.ts'
import { createNodeSync } from '#src/domain/nodes/sync/sync.ts'
import { grant } from '#src/domain/subscriptions/subscriptions.ts'
import { superviseCore } from '#src/integrations/nodes/local-core.ts'
import { findXray, localCorePaths } from '#src/integrations/nodes/local-node.ts'
import { nodeProgram } from '#src/integrations/nodes/program.ts'
import { localShell } from '#src/integrations/nodes/shell.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import type { Core } from '#src/ports/cores.ts'
import type { Services } from '#src/services.ts'
import { median } from './figures.ts'
import type { SyncTimes } from './sync.ts'

const TICKS = 11
const GRANTS = 11
const START_MS = 20_000
const PASS = { force: false, remove: true }
const ACTOR = { admin: 'admin', ip: '127.0.0.1' }

/** Bytes of the words, the input and the answers of all calls of the node program until now. */
let exchanged = 0

function countingCore(config: Services['config']): Core {
  const shell = localShell(NODE_PROGRAM, localCorePaths(config.dataDir), config.searchPath)
  const program = nodeProgram(async (words, input, timeoutMs) => {
    const answer = await shell(words, input, timeoutMs)
    exchanged += Buffer.byteLength(words.join(' ') + input + answer)
    return answer
  }, '')
  return { name: 'local', program, known: null }
}

function insertClients(s: Services, clients: number): void {
  const raw = driverOf(s.db)
  const user = raw.prepare('INSERT INTO users (tg_id, token, created_at) VALUES (?, ?, ?)')
  const subscription = raw.prepare(
    `INSERT INTO subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at)
     VALUES (?, ?, 'de1', '1m', '2099-01-01T00:00:00', 'admin', ?)`,
  )
  const at = '2026-01-01T00:00:00'
  const insertAll = raw.transaction(() => {
    for (let i = 1; i <= clients; i++) {
      const hex = hash('sha256', `client ${i}`, 'hex')
      const uuid = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5')
      user.run(i, hex.slice(0, 43), at)
      subscription.run(uuid, i, at)
    }
  })
  insertAll()
}

async function addAll(s: Services, clients: number): Promise<number> {
  insertClients(s, clients)
  const startedAt = performance.now()
  const [result] = await s.nodeSync.syncAll(PASS)
  if (!result?.ok || result.added !== clients) {
    throw new Error(`the first sync failed: ${JSON.stringify(result)}`)
  }
  return performance.now() - startedAt
}

/** Ticks that find nothing to do. `process.cpuUsage` leaves child processes out. */
async function quietTicks(s: Services) {
  const cpuMs: number[] = []
  const wallMs: number[] = []
  const bytes: number[] = []
  for (let tick = 0; tick < TICKS; tick++) {
    const before = exchanged
    const cpu = process.cpuUsage()
    const startedAt = performance.now()
    await s.nodeSync.syncAll(PASS)
    wallMs.push(performance.now() - startedAt)
    const { user, system } = process.cpuUsage(cpu)
    cpuMs.push((user + system) / 1000)
    bytes.push(exchanged - before)
  }
  return { tickCpuMs: median(cpuMs), tickMs: median(wallMs), exchangeBytes: median(bytes) }
}

/** Milliseconds from the answer to a grant until the running core has the client. */
async function grantedMs(s: Services): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < GRANTS; i++) {
    await grant(s, ACTOR, 5_000_000 + i, { node: 'de1', plan: '1m' })
    const answeredAt = performance.now()
    await s.background.idle()
    times.push(performance.now() - answeredAt)
  }
  return median(times)
}

async function coreIsUp(core: Core): Promise<void> {
  const deadline = performance.now() + START_MS
  while (performance.now() < deadline) {
    if ((await core.program.status('', 10_000)).core.up) return
    await pause(100)
  }
  throw new Error('the core did not start')
}

async function measure(clients: number): Promise<SyncTimes | null> {
  const config = loadConfig(process.env, process.cwd(), GATEWAYS)
  if (!findXray(config)) return null
  const { services } = await compose(config, { init: false })
  const core = countingCore(config)
  const cores: Services['cores'] = {
    ...services.cores,
    of: (node) => (node.kind === 'local' ? core : null),
  }
  const s: Services = { ...services, cores, nodeSync: createNodeSync({ ...services, cores }) }
  const supervisor = superviseCore({
    config,
    paths: localCorePaths(config.dataDir),
    program: NODE_PROGRAM,
    log: s.log,
    prepare: () => s.nodeSync.syncAll(PASS),
  })
  try {
    await coreIsUp(core)
    const addAllMs = await addAll(s, clients)
    return { addAllMs, ...(await quietTicks(s)), grantedMs: await grantedMs(s) }
  } finally {
    await supervisor.stop()
    s.db.close()
  }
}

const { clients } = JSON.parse(process.argv[2] as string) as { clients: number }
console.log(JSON.stringify(await measure(clients)))
process.exit(0)
