/** Part `memory`: what the service holds with many clients on many nodes, out of reach or in step, and during passes over a large one. */
import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase, withStartLock } from '#db/engine/sqlite/open.ts'
import { type Figure, median } from './figures.ts'
import type { Options } from './options.ts'
import { type Runtime, type Server, startServer } from './processes.ts'
import { type BenchNodes, freePort, startNodes } from './ssh-nodes.ts'
import { serviceEnvironment } from './sub.ts'

const NODES = 30
/** The clients of the large node, for each of a common one. */
const LARGE = 10
const INTERVAL_MS = 4000
const SETTLE_MS = 5 * INTERVAL_MS
const SAMPLES = 20
const SAMPLE_MS = 20
const LONGEST_MS = 240_000
const IDLE_MB = { node: 150, bun: 100 }
const PASS_MB = 60

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Shop {
  runtime: Runtime
  folder: string
  port: number
  nodes: number
  clients: number
}

/** Managed nodes with so many clients each, behind the SSH server at `port`. */
async function seed({ folder, port, nodes, clients }: Shop, hostKey: string): Promise<void> {
  mkdirSync(folder)
  await withStartLock(join(folder, 'panel.db'), async () => {
    const { raw } = openDatabase(join(folder, 'panel.db'), { now: new Date() })
    const at = '2026-01-01T00:00:00'
    const node = raw.prepare(
      `INSERT INTO nodes (code, label, kind, address, public_key, private_key, short_id, sni, ssh_port, ssh_user, host_key,
         sort_order, created_at) VALUES (?, ?, 'managed', '127.0.0.1', ?, ?, '0123456789abcdef', 'dl.google.com', ?, ?, ?, ?, ?)`,
    )
    const user = raw.prepare('INSERT INTO users (tg_id, token, created_at) VALUES (?, ?, ?)')
    const subscription = raw.prepare(
      `INSERT INTO subscriptions (uuid, tg_id, node, plan, expires_at, source, created_at)
       VALUES (?, ?, ?, '1m', '2099-01-01T00:00:00', 'admin', ?)`,
    )
    const insertAll = raw.transaction(() => {
      for (let n = 1; n <= nodes; n++) {
        const key = hash('sha256', `key ${n}`, 'base64url')
        node.run(`n${n}`, `Node ${n}`, key, key, port, `n${n}`, hostKey, n, at)
      }
      for (let i = 1; i <= nodes * clients; i++) {
        const hex = hash('sha256', `client ${i}`, 'hex')
        const uuid = hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-a$4-$5')
        user.run(i, hex.slice(0, 43), at)
        subscription.run(uuid, i, `n${(i % nodes) + 1}`, at)
      }
    })
    insertAll()
    raw.close()
  })
}

const start = ({ runtime, folder }: Shop): Promise<Server> =>
  startServer(runtime, 'src/main.ts', {
    ...serviceEnvironment(folder),
    SYNC_INTERVAL_MS: String(INTERVAL_MS),
  })

async function idleMb(server: Server): Promise<number> {
  const samples: number[] = []
  while (samples.length < SAMPLES) {
    samples.push(server.residentMb())
    await pause(SAMPLE_MS)
  }
  return median(samples)
}

/** Waits until a condition holds, and gives the most memory that the service had meanwhile. */
async function peakUntil(server: Server, isDone: () => boolean): Promise<number> {
  let peak = 0
  for (let ms = 0; !isDone(); ms += SAMPLE_MS) {
    if (ms > LONGEST_MS) throw new Error('the nodes were not put right')
    peak = Math.max(peak, server.residentMb())
    await pause(SAMPLE_MS)
  }
  return peak
}

const names = ({ nodes }: Shop) => Array.from({ length: nodes }, (_, i) => `n${i + 1}`)

/** Waits until all nodes hold their clients, and for a status after that. */
async function inStep(shop: Shop, nodes: BenchNodes, server: Server): Promise<number> {
  const all = names(shop).map((name) => nodes.node(name))
  const isFilled = () => all.every(({ clients }) => clients.size === shop.clients)
  const filling = await peakUntil(server, isFilled)
  const before = all.map(({ statuses }) => statuses)
  const isSeen = () => all.every(({ statuses }, i) => statuses > (before[i] ?? 0) + 1)
  return Math.max(filling, await peakUntil(server, isSeen))
}

async function withServer<T>(shop: Shop, work: (server: Server) => Promise<T>): Promise<T> {
  const server = await start(shop)
  try {
    return await work(server)
  } finally {
    await server.stop()
  }
}

async function measureMany(shop: Shop) {
  const nodes = await startNodes(shop.port)
  await seed(shop, nodes.hostKey)
  await withServer(shop, (server) => inStep(shop, nodes, server))
  const inStepMb = await withServer(shop, async (server) => {
    await inStep(shop, nodes, server)
    await pause(SETTLE_MS)
    return idleMb(server)
  })
  await nodes.close()
  const awayMb = await withServer(shop, async (server) => {
    await pause(SETTLE_MS)
    return idleMb(server)
  })
  return { inStepMb, awayMb }
}

/** The most memory above that at rest during passes over a node that lost all, and one all of whose clients have other values. */
async function measureLarge(shop: Shop) {
  const nodes = await startNodes(shop.port)
  await seed(shop, nodes.hostKey)
  await withServer(shop, (server) => inStep(shop, nodes, server))
  const peaks = await withServer(shop, async (server) => {
    await inStep(shop, nodes, server)
    await pause(SETTLE_MS)
    const restMb = await idleMb(server)
    const quiet = await inStep(shop, nodes, server)
    const { clients } = nodes.node('n1')
    const held = [...clients.keys()]
    clients.clear()
    const lost = await inStep(shop, nodes, server)
    for (const uuid of held) clients.set(uuid, 'other')
    nodes.node('n1')
    const isRight = () => ![...clients.values()].includes('other')
    const other = await peakUntil(server, isRight)
    return { restMb, quiet, lost, other }
  })
  await nodes.close()
  const { restMb } = peaks
  return {
    restMb,
    quietMb: peaks.quiet - restMb,
    lostMb: peaks.lost - restMb,
    otherMb: peaks.other - restMb,
  }
}

/** Part `memory`, with `src/main.ts` itself and SSH to servers in this process. */
export async function measureMemory(
  { clients }: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> {
  const port = await freePort()
  const many = { runtime, folder: join(folder, 'many'), port, nodes: NODES, clients }
  const { inStepMb, awayMb } = await measureMany(many)
  const one = { runtime, folder: join(folder, 'one'), port, nodes: 1, clients: LARGE * clients }
  const large = await measureLarge(one)
  const own = { part: 'memory', runtime: runtime.name, unit: 'MB' }
  const idle = { ...own, atMost: IDLE_MB[runtime.name] }
  const pass = { ...own, atMost: PASS_MB }
  return [
    { ...idle, name: `${NODES} nodes of ${clients} clients out of reach`, value: awayMb },
    { ...idle, name: `${NODES} nodes of ${clients} clients in step`, value: inStepMb },
    { ...own, name: `a node of ${one.clients} clients in step`, value: large.restMb },
    { ...pass, name: 'above that: passes without a change', value: large.quietMb },
    { ...pass, name: 'above that: all clients lost', value: large.lostMb },
    { ...pass, name: 'above that: all clients with another value', value: large.otherMb },
  ]
}
