/** Part `grants`: payments granted by signed notices of provider B, against bare commits on the same disk. */
import Sqlite from 'better-sqlite3'
import { loadConfig } from '#src/config.ts'
import { findXray } from '#src/integrations/nodes/local-node.ts'
import { GATEWAYS } from '#src/integrations/payments/index.ts'
import { type Figure, median } from './figures.ts'
import type { NoticesJob, NoticesResult } from './notices.ts'
import type { Options } from './options.ts'
import { connect, moveShop } from './postgres.ts'
import { familyCpuMs, findRuntimes, type Runtime, runScript, startServer } from './processes.ts'
import { dataFolder } from './seed.ts'
import { externalIdOf, paymentIdOf, tgIdOf } from './shop.ts'
import { serviceEnvironment } from './sub.ts'
import { CORE_SETTINGS } from './sync.ts'

const SECRET = 'secret of the gateway'
const PATIENCE_MS = 60_000

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Reads of the service's database from outside. */
async function reader(folder: string, url: string | undefined) {
  const { count, close } = url === undefined ? countsOfFile(folder) : await countsOfServer(url)
  return {
    paid: () => count("payments where status = 'paid'"),
    /** Messages and events that wait or are under way. */
    waiting: async () =>
      (await count("outbox where status in ('ready', 'sending')")) +
      (await count("events where status in ('ready', 'sending')")),
    isSynced: async () =>
      (await count("nodes where code = 'de1' and last_seen_at is not null")) === 1,
    close,
  }
}

function countsOfFile(folder: string) {
  const db = new Sqlite(`${folder}/panel.db`, { readonly: true, timeout: 10_000 })
  return {
    count: async (from: string) =>
      db.prepare(`select count(*) from ${from}`).pluck().get() as number,
    close: async () => void db.close(),
  }
}

async function countsOfServer(url: string) {
  const client = await connect(url)
  return {
    count: async (from: string) =>
      Number((await client.query(`select count(*) as n from ${from}`)).rows[0].n),
    close: () => client.end(),
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`not within a minute: ${what}`)
    await pause(50)
  }
}

/** Pending payments of users of the shop for a month on its local node. */
function addPayments(folder: string, users: number, payments: number): void {
  const db = new Sqlite(`${folder}/panel.db`)
  const insert = db.prepare(
    `INSERT INTO payments (id, tg_id, node, plan, provider, external_id, amount, currency, days, shop_id, created_at, source)
     VALUES (?, ?, 'de1', '1m', 'provider_b', ?, 199, 'RUB', 30, 'merchant', ?, 'bot')`,
  )
  const at = new Date().toISOString().slice(0, 19)
  db.transaction(() => {
    for (let i = 0; i < payments; i++) {
      insert.run(paymentIdOf(i), tgIdOf((i * 7919) % users), externalIdOf(i), at)
    }
  })()
  db.close()
}

/** A shop that sells through provider B and tells everybody; its local node has a core where there is Xray. */
function shopEnvironment(
  folder: string,
  sink: string,
): { env: Record<string, string>; hasCore: boolean } {
  const env: Record<string, string> = {
    ...serviceEnvironment(folder),
    LOG_LEVEL: 'info',
    PAYMENTS_ENABLED: 'true',
    PROVIDER_B_PRESET: 'generic',
    PROVIDER_B_API_URL: sink,
    PROVIDER_B_MERCHANT_ID: 'merchant',
    PROVIDER_B_SECRET: SECRET,
    PROVIDER_B_ENABLED: 'true',
    WEBHOOK_URL: sink,
    TELEGRAM_API_URL: sink,
    BOT_TOKEN: '4242:token-of-the-bot',
    LOCAL_NODE_PORT: '20443',
  }
  for (const name of CORE_SETTINGS) if (process.env[name]) env[name] = process.env[name]
  const hasCore = findXray(loadConfig({ ...process.env, ...env }, folder, GATEWAYS)) !== null
  return { env: { ...env, LOCAL_NODE: hasCore ? 'on' : 'off' }, hasCore }
}

interface Run extends NoticesResult {
  bare: number
  /** How long the last message or event was under way after the last grant. */
  behindMs: number
  /** CPU of the service's processes for each grant, its message and its event. */
  cpuMs: number
  /** CPU of the server of its database for each, 0 where there is none. */
  serverCpuMs: number
}

/** Where else than in one process over its file the shop runs. */
export interface Elsewhere {
  /** The server that its rows are moved to. */
  url: string
  webProcesses: number
  /** The first process of that server. */
  pid: number
}

/** Runs of `options.payments` grants. The first tenth of a run warms the process up and is not counted. */
export async function grantRuns(
  options: Options,
  runtime: Runtime,
  folder: string,
  elsewhere?: Elsewhere,
): Promise<Run[]> {
  const { users, payments, runs, connections } = options
  const warmUp = Math.ceil(payments / 10)
  const data = await dataFolder(`${folder}/shop`, users)
  addPayments(data, users, warmUp + runs * payments)
  const sink = await startServer(nodeRuntime(), 'scripts/bench/sink.ts', {})
  const { env, hasCore } = shopEnvironment(data, `http://127.0.0.1:${sink.port}`)
  if (!hasCore) console.error('bench: no Xray was found: grants are measured without a node')
  if (elsewhere) {
    await moveShop(runtime, env, elsewhere.url)
    env.DATABASE_URL = elsewhere.url
    env.WEB_PROCESSES = String(elsewhere.webProcesses)
  }
  const service = await startServer(runtime, 'src/main.ts', env)
  const shop = await reader(data, elsewhere?.url)
  const send = (from: number, count: number) => {
    const job: NoticesJob = { port: service.port, secret: SECRET, from, count, connections }
    return runScript<NoticesResult>(nodeRuntime(), 'scripts/bench/notices.ts', job)
  }
  const delivered = () => until('everything is delivered', async () => (await shop.waiting()) === 0)
  if (hasCore) await until('the node is in step', shop.isSynced)
  await send(0, warmUp)
  await delivered()
  // One process has Xray for a child, whose time is not its own.
  const ownCpuMs = () => (elsewhere ? service.familyCpuMs() : service.cpuMs())
  const serverCpuMs = () => (elsewhere ? familyCpuMs(elsewhere.pid) : 0)
  const results: Run[] = []
  for (let run = 0; run < runs; run++) {
    const job = { path: `${folder}/bare.db`, seconds: options.seconds }
    const bare = await runScript<number>(runtime, 'scripts/bench/commits.ts', job)
    const used = { own: ownCpuMs(), server: serverCpuMs() }
    const result = await send(warmUp + run * payments, payments)
    const sentAt = performance.now()
    await delivered()
    const behindMs = performance.now() - sentAt
    const cpuMs = (ownCpuMs() - used.own) / payments
    results.push({
      ...{ ...result, bare, behindMs, cpuMs },
      serverCpuMs: (serverCpuMs() - used.server) / payments,
    })
  }
  const paid = await shop.paid()
  if (paid !== warmUp + runs * payments) throw new Error('not every notice was granted')
  await shop.close()
  await Promise.all([service.stop(), sink.stop()])
  return results
}

/** Part `grants`. */
export const measureGrants = async (
  options: Options,
  runtime: Runtime,
  folder: string,
): Promise<Figure[]> => figuresOf(runtime, await grantRuns(options, runtime, folder))

function nodeRuntime(): Runtime {
  const [node] = findRuntimes(['node'])
  if (!node) throw new Error('the load generator needs Node')
  return node
}

function figuresOf(runtime: Runtime, results: Run[]): Figure[] {
  const own = { part: 'grants', runtime: runtime.name }
  const middle = (of: (run: Run) => number) => median(results.map(of))
  const bare = middle((run) => run.bare)
  return [
    {
      ...{ ...own, name: 'grants by notices of provider B', unit: 'grants/s' },
      value: middle((run) => run.perSecond),
      atLeast: Math.round(Math.min(1000, 0.3 * bare)),
    },
    {
      ...{ ...own, name: 'share of bare commits', unit: '' },
      value: middle((run) => run.perSecond / run.bare),
    },
    { ...own, name: 'bare insert + commit', value: bare, unit: 'commits/s' },
    { ...own, name: 'grant p50', value: middle((run) => run.p50Ms), unit: 'ms' },
    { ...own, name: 'grant p99', value: middle((run) => run.p99Ms), unit: 'ms' },
    {
      ...{ ...own, name: 'own CPU of a grant with message and event', unit: 'ms' },
      value: middle((run) => run.cpuMs),
    },
    {
      ...{ ...own, name: 'until all messages and events are out', unit: 'ms' },
      value: middle((run) => run.behindMs),
    },
    {
      ...{ ...own, name: 'load generator: share of one core used', unit: '' },
      value: Math.max(...results.map((run) => run.busy)),
    },
  ]
}
