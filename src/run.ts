/** One process with one or more roles: start, ready, signals, drain, end. */
import { hostname } from 'node:os'
import { runBot } from './bot/role.ts'
import { compose, joinServices, NODE_PROGRAM } from './compose.ts'
import { type Config, ConfigError, loadConfig } from './config.ts'
import type { FirstStart } from './domain/installation/first-start.ts'
import { LOCAL_NODE } from './domain/nodes/local-node.ts'
import { createApp } from './http/app.ts'
import { isProxy } from './http/client-ip.ts'
import { completeRestore, explainFailure, makeFolders } from './instance.ts'
import { ensureBuild } from './integrations/browser-build.ts'
import { superviseCore } from './integrations/nodes/local-core.ts'
import { localCorePaths } from './integrations/nodes/local-node.ts'
import { GATEWAYS } from './integrations/payments/index.ts'
import { holdRole, type Runner, startJobs } from './jobs.ts'
import { systemClock } from './lib/clock.ts'
import { type CountWord, joinCounts } from './lib/counts.ts'
import { errorCode, errorMessage } from './lib/errors.ts'
import { within } from './lib/pause.ts'
import { randomHex } from './lib/random.ts'
import { subLink } from './lib/sub-link.ts'
import { endProcess } from './lib/thread.ts'
import { type Listening, serve } from './serve.ts'
import type { Services } from './services.ts'
import { type Part, READY, startWebProcesses, type WebProcesses } from './web-processes.ts'

export type Role = 'web' | 'scheduler' | 'bot'

const DRAIN_MS = 10_000
const LAST_READING_MS = 2000
/** npm passes a Ctrl-C on that the terminal has sent already: not a second wish. */
const REPEAT_MS = 300

function showFirstStart(s: Services, { password, weak }: FirstStart): void {
  const { domains, publicScheme, adminPath, envFile } = s.config
  const lines = [
    '',
    'Subpanel is set up.',
    `  Panel          ${publicScheme}://${domains.panel}/${adminPath}`,
    `  Site           ${publicScheme}://${domains.site}/`,
    `  Subscriptions  ${subLink(s.config)}…`,
    `  Admin          admin`,
    password === null
      ? '  Password       the one in PANEL_PASSWORD'
      : `  Password       ${password}   (shown only now; lost: npm run reset-admin)`,
    `  Settings       ${envFile}`,
    ...(weak ? ['  PANEL_PASSWORD is easy to guess: change the password in the panel now'] : []),
    '',
    '',
  ]
  process.stdout.write(lines.join('\n'))
}

/** The role `core`: runs Xray on this machine, once its configuration is written. */
function holdCore(s: Services, owner: string): Runner {
  const paths = localCorePaths(s.config.dataDir)
  return holdRole(s, 'core', owner, async () => {
    const core = superviseCore({
      config: s.config,
      paths,
      program: NODE_PROGRAM,
      log: s.log,
      prepare: () => s.nodeSync.syncAll({ force: false, remove: false, only: [LOCAL_NODE] }),
    })
    return {
      async stop(handOver) {
        // Its counters end with it.
        if (!handOver) await s.nodeSync.readNode(LOCAL_NODE, LAST_READING_MS)
        await core.stop(handOver)
      },
    }
  })
}

function startRoles(s: Services, roles: Role[]): Runner[] {
  const owner = `${hostname()}:${process.pid}:${randomHex(4)}`
  const runners: Runner[] = []
  if (roles.includes('scheduler')) {
    const { on, core } = s.config.localNode
    if (on && core === 'embedded') runners.push(holdCore(s, owner))
    runners.push(holdRole(s, 'scheduler', owner, async (hold) => startJobs(s, hold)))
  }
  if (roles.includes('bot')) runners.push(holdRole(s, 'bot', owner, async () => runBot(s)))
  return runners
}

/** What runs in a process. */
interface Parts {
  listening: Listening | WebProcesses | null
  runners: Runner[]
}

/** The processes that listen, where this one does not: they have limits of their own. */
const othersOf = ({ listening }: Pick<Parts, 'listening'>): WebProcesses | null =>
  listening && 'gone' in listening ? listening : null

/** Finishes what is under way. */
async function endParts(s: Services, { listening, runners }: Parts): Promise<void> {
  s.endSending()
  s.beginEnd()
  await within(
    DRAIN_MS,
    Promise.all([listening?.close(), ...runners.map((runner) => runner.stop())]),
  )
  s.seenDevices.flush()
  // The database's own files go when its last connection, which must be the one that writes, is closed.
  const others = othersOf({ listening })?.gone
  await within(DRAIN_MS, Promise.all([s.background.idle(), s.reads.close(), others]))
  s.cores.close()
  s.db.close()
}

/** Has a signal end the process. What it gives does so too, where none has. */
function endOnSignal(s: Services, parts: Parts): (why: string) => void {
  let firstAt: number | null = null
  const begin = (signal: string) => {
    if (firstAt !== null) return
    firstAt = s.clock.monotonicMs()
    s.log.info('stopping', { signal })
    setTimeout(() => void endProcess(1), 2 * DRAIN_MS + 1000).unref()
    void endParts(s, parts).then(
      () => endProcess(0),
      () => endProcess(1),
    )
  }
  const onSignal = (signal: string) => {
    if (firstAt === null) begin(signal)
    else if (s.clock.monotonicMs() - firstAt > REPEAT_MS) {
      othersOf(parts)?.kill()
      void endProcess(1, 0)
    }
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return begin
}

/** Why a port can't be had. */
function portRefused({ host }: Config, port: number, error: unknown): unknown {
  if (error instanceof ConfigError) return error
  return new ConfigError(
    errorCode(error) === 'EADDRINUSE'
      ? `PORT ${port} is in use on ${host}, perhaps by another Subpanel: set PORT to another one`
      : `PORT ${port} can't be listened on at HOST ${host}: ${errorMessage(error)}`,
  )
}

/** Listens in this process. `shared`: beside others on the same port. */
async function listen(s: Services, port: number, shared: boolean): Promise<Listening> {
  const { host, trustedProxies } = s.config
  try {
    return await serve(createApp(s), host, port, {
      isProxy: (peer) => isProxy(trustedProxies, peer),
      shared,
    })
  } catch (error) {
    throw portRefused(s.config, port, error)
  }
}

/** Listens as it is configured: in this process, or in several others. */
async function listenAs(s: Services): Promise<NonNullable<Parts['listening']>> {
  const { port, webProcesses } = s.config
  if (webProcesses === 1) return listen(s, port, false)
  if (process.platform !== 'linux')
    throw new ConfigError('WEB_PROCESSES above 1 needs Linux, where processes can share a port')
  try {
    return await startWebProcesses(s)
  } catch (error) {
    throw portRefused(s.config, port, error)
  }
}

const USAGE = `usage: npm start [-- --init]
  --init   go on although env file and database do not belong together (a new service where there is no database)
Settings come from the environment and the env file: docs/deploying.md.
`

/** Whether the command line asks for --init. An argument that is none of ours ends the process. */
function readArguments(args: string[]): boolean {
  if (args.includes('--help')) {
    process.stdout.write(USAGE)
    process.exit(0)
  }
  const unknown = args.find((argument) => argument !== '--init')
  if (unknown !== undefined)
    throw new ConfigError(`unknown argument ${unknown.slice(0, 60)} (--help tells)`)
  return args.includes('--init')
}

/** What an operator wants to see of every start. */
function logStart({ config, log }: Services): void {
  const { publicScheme, domains, adminPath, envFile } = config
  for (const name of config.unknownKeys)
    log.warn('unknown setting in the env file', { name, file: envFile })
  if (config.coveredPath !== null) {
    log.warn('ADMIN_PATH covers a path of the service: the admin page is there, and nothing else', {
      path: `/${config.coveredPath}`,
    })
  }
  log.info('addresses', {
    panel: `${publicScheme}://${domains.panel}/${adminPath}`,
    site: `${publicScheme}://${domains.site}/`,
    subscriptions: subLink(config),
  })
}

async function start(roles: Role[]): Promise<void> {
  const init = readArguments(process.argv.slice(2))
  let config = loadConfig(process.env, process.cwd(), GATEWAYS)
  makeFolders(config)
  if (await completeRestore(config)) config = loadConfig(process.env, process.cwd(), GATEWAYS)
  // The scheduler is who the others leave nodes to.
  if (roles.includes('scheduler')) config = { ...config, nodeSync: 'here' }
  const { services: s, firstStart } = await compose(config, { init })
  if (firstStart) showFirstStart(s, firstStart)
  const parts: Parts = { listening: null, runners: [] }
  // Before anybody can know that the process is there, and send it a signal.
  endOnSignal(s, parts)
  if (roles.includes('web')) {
    await ensureBuild(s.log)
    const listening = await listenAs(s)
    parts.listening = listening
    const { host, webProcesses } = config
    const processes = webProcesses > 1 ? webProcesses : undefined
    s.log.info('listening', { host, port: listening.port, processes })
  }
  logStart(s)
  parts.runners = startRoles(s, roles)
}

async function startPart({ number, port, envText }: Part): Promise<void> {
  const config = loadConfig(process.env, process.cwd(), GATEWAYS, undefined, envText)
  // One that was killed may have left a restore half done.
  await completeRestore(config)
  const tell = (word: CountWord | typeof READY) =>
    process.connected && process.send?.(word, undefined, undefined, () => {})
  const { counts, hear, leave } = joinCounts(systemClock, tell)
  process.on('message', hear)
  const s = await joinServices(config, number, counts)
  const parts: Parts = { listening: null, runners: [] }
  const end = endOnSignal(s, parts)
  // The first process wants it, or is gone.
  process.once('disconnect', () => {
    leave()
    end('disconnect')
  })
  if (!process.connected) return end('disconnect')
  parts.listening = await listen(s, port, true)
  tell(READY)
}

/** Runs one of several web processes until its first process ends it or is gone. */
export const runPart = (part: Part): Promise<void> => explained(() => startPart(part))

/** Runs a process until a signal ends it. A start that is refused prints one line and ends with 1; a damaged database with 70. */
export const runProcess = (roles: Role[]): Promise<void> => explained(() => start(roles))

async function explained(start: () => Promise<void>): Promise<void> {
  try {
    await start()
  } catch (error) {
    const explained = explainFailure(error)
    if (!explained) throw error
    process.stderr.write(`subpanel: ${explained.line}\n`)
    process.exit(explained.exit)
  }
}
