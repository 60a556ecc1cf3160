/** Config -> Services: the one place where rules meet the outside systems that they need. */

import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { isDamage } from '#db/engine/failures.ts'
import { storeAt } from '#db/engine/open.ts'
import type { Store } from '#db/engine/store.ts'
import { currentInstanceId } from '#db/instance.ts'
import { readManagementKey } from '#db/management-key.ts'
import { readNode } from '#db/nodes.ts'
import { noteFault } from '#src/lib/note-fault.ts'
import type { Config } from './config.ts'
import { createSeenDevices } from './domain/customers/devices.ts'
import {
  type FirstStart,
  seedAdmin,
  seedLocalNode,
  seedManagementKey,
  seedPlans,
  seedWebhookSecret,
} from './domain/installation/first-start.ts'
import { admitHostKey, pinnedKeys } from './domain/nodes/host-keys.ts'
import { createKnownHosts } from './domain/nodes/known-hosts.ts'
import { LOCAL_NODE } from './domain/nodes/local-node.ts'
import { deferNodeSync } from './domain/nodes/sync/deferred.ts'
import { createNodeSync } from './domain/nodes/sync/sync.ts'
import { createSending } from './domain/notify/sending.ts'
import { openInstance } from './instance.ts'
import { canBind } from './integrations/bindable.ts'
import { createClientCores } from './integrations/client-cores.ts'
import { createDial } from './integrations/dial.ts'
import { createDataFiles } from './integrations/files/data-files.ts'
import { freeShare } from './integrations/files/disk.ts'
import { createRuleFiles } from './integrations/files/rule-files.ts'
import { createSnapshots } from './integrations/files/snapshot-files.ts'
import { createInstallFiles } from './integrations/nodes/install-files.ts'
import { knownHostsFile } from './integrations/nodes/known-hosts-file.ts'
import { localCorePaths } from './integrations/nodes/local-node.ts'
import { createManagedCores } from './integrations/nodes/managed-cores.ts'
import { generateManagementKey } from './integrations/nodes/management-key.ts'
import { nodeProgram } from './integrations/nodes/program.ts'
import { localShell, socketShell } from './integrations/nodes/shell.ts'
import { createSshThread } from './integrations/nodes/ssh-thread.ts'
import { createOutbound } from './integrations/outbound.ts'
import { createConnect } from './integrations/outbound-connect.ts'
import { connectGateways } from './integrations/payments/index.ts'
import { createReads } from './integrations/read-thread.ts'
import { readsOver } from './integrations/reads-over.ts'
import { createTelegram } from './integrations/telegram.ts'
import { createEventSender } from './integrations/webhook.ts'
import { createBackground } from './lib/background.ts'
import { systemClock } from './lib/clock.ts'
import { LOCAL_CORE } from './lib/core-name.ts'
import { type Counts, createCounts } from './lib/counts.ts'
import { errorMessage } from './lib/errors.ts'
import { createFairLimiter } from './lib/fair-line.ts'
import { createLimiter, lineBefore } from './lib/limiter.ts'
import { createLog, type Log } from './lib/log.ts'
import { omitUndefined } from './lib/omit-undefined.ts'
import { createSingleFlight } from './lib/single-flight.ts'
import { MINUTE_MS } from './lib/time.ts'
import type { Core, Cores } from './ports/cores.ts'
import type { Services } from './services.ts'

/** The node program of this project. */
export const NODE_PROGRAM = join(import.meta.dirname, '..', 'templates', 'node-agent.sh')

const SEEN_DELAY_MS = 2000
/** One core is left to the event loop, which otherwise waits for the hashes of a burst of logins; several processes share the others. */
const hashesAtATime = ({ webProcesses }: Pick<Config, 'webProcesses'>) =>
  Math.max(1, Math.floor(Math.min(4, availableParallelism() - 1) / webProcesses))
/** About 6 s of hashing: who would wait longer is told to come again. */
const HASHES_WAITING = 250
/** A second or two of PostgreSQL's; a file has done each before the next one is there. */
const STRANGERS_AT_A_TIME = 2
const STRANGERS_WAITING = 500

/** The core of this machine, and those of the managed nodes. */
export function createCores(
  s: Pick<Services, 'config' | 'db' | 'clock' | 'log' | 'writeKnownHosts'>,
): Cores {
  const { core, on, socket } = s.config.localNode
  const managed = createManagedCores({
    ssh: createSshThread({ denyPrivate: s.config.outboundDenyPrivate, log: s.log }),
    async privateKey() {
      const key = await s.db.read(readManagementKey)
      if (!key) throw new Error('the database has no management key')
      return key.privateKey
    },
    hostKeysOf: (code) => ({
      pinned: () => pinnedKeys(s, code),
      admit: (key) => admitHostKey(s, code, key),
    }),
  })
  const shell =
    core === 'system'
      ? socketShell(socket)
      : localShell(NODE_PROGRAM, localCorePaths(s.config.dataDir), s.config.searchPath)
  const local: Core | null = on
    ? { name: LOCAL_CORE, program: nodeProgram(shell, ''), known: null }
    : null
  return { ...managed, of: (node) => (node.kind === 'local' ? local : managed.of(node)) }
}

/** Keeps `known_hosts` of this installation. */
export function createHostFile(
  s: Pick<Services, 'config' | 'db' | 'clock' | 'log' | 'fatal'>,
): Services['writeKnownHosts'] {
  return createKnownHosts(s, knownHostsFile(join(s.config.dataDir, 'known_hosts')))
}

/** What the systems outside are asked with, at the addresses of the configuration. */
function createOutsideSystems({ config, clock, log }: Parts, timeoutMs: number | undefined) {
  const outbound = createOutbound({ denyPrivate: config.outboundDenyPrivate })
  const outside = { outbound, log, ...omitUndefined({ timeoutMs }) }
  return {
    telegram: createTelegram({ ...outside, apiUrl: config.telegramApiUrl }),
    eventSender: createEventSender(outside),
    gateways: connectGateways({ ...outside, config, clock }),
    ruleFiles: createRuleFiles({ ...outside, config, clock }),
  }
}

/** What Services are made from. */
type Parts = Pick<Services, 'config' | 'db' | 'clock' | 'log' | 'fatal'>

/** What takes the place of the usual: the rest is made of it. */
export interface Overrides extends Partial<Omit<Services, keyof Parts>> {
  /** The longest wait for any system outside; each has its own where this is left out. */
  outsideTimeoutMs?: number
  /** How long known devices are gathered before they are written. */
  seenDelayMs?: number
}

/** The Services of a process. */
export function createServices(parts: Parts, overrides: Overrides = {}): Services {
  const { outsideTimeoutMs, seenDelayMs = SEEN_DELAY_MS, ...own } = overrides
  const { config, db, log } = parts
  const hashes = hashesAtATime(config)
  const hashing = own.hashing ?? createLimiter(hashes, HASHES_WAITING)
  const background =
    own.background ??
    createBackground((name, error) =>
      noteFault(parts, 'error', 'background work failed', error, { work: name }),
    )
  const writeKnownHosts = own.writeKnownHosts ?? createHostFile(parts)
  const counts = own.counts ?? createCounts(parts.clock)
  const dataFiles = own.dataFiles ?? createDataFiles({ config, log })
  const made = {
    ...parts,
    ...createOutsideSystems(parts, outsideTimeoutMs),
    ...own,
    background,
    writeKnownHosts,
    dataFiles,
    cores: own.cores ?? createCores({ ...parts, writeKnownHosts }),
    instanceId: own.instanceId ?? (() => currentInstanceId(db)),
  }
  const ending = new AbortController()
  return {
    ...createSending(made),
    ending: ending.signal,
    beginEnd: () => ending.abort(),
    reads:
      own.reads ??
      (config.databaseUrl === null ? createReads(config.databasePath, log) : readsOver(db)),
    clientCores: createClientCores({ config }),
    dial: createDial(createConnect({ denyPrivate: config.outboundDenyPrivate })),
    freeDiskShare: () => freeShare(config.dataDir),
    installFiles: createInstallFiles({ config }),
    snapshots: createSnapshots(config, dataFiles),
    seenDevices: createSeenDevices(made, seenDelayMs),
    paymentChecks: createSingleFlight(),
    paymentCreations: createSingleFlight(),
    counts,
    gatewayRests: counts.rests,
    creationTurns: counts.turnsOf('creations', MINUTE_MS),
    hashing,
    strangersHashing: lineBefore(hashing, hashes, HASHES_WAITING),
    strangersTurn: createFairLimiter(STRANGERS_AT_A_TIME, STRANGERS_WAITING),
    nodeSync: config.nodeSync === 'here' ? createNodeSync(made) : deferNodeSync(made),
    ...made,
  }
}

/** The log of a process; `part`: the number of one of several web processes, which each of its lines has. */
function logOf({ logLevel }: Config, part?: number): Log {
  const end = part === undefined ? '\n' : ` process=${part}\n`
  return createLog(logLevel, systemClock.now, (line) => process.stderr.write(line + end))
}

/** Ends the process when the database is damaged. */
const fatalOf = (store: Store, log: Log) => (error: unknown) => {
  if (!isDamage(error)) return
  log.error('the database is damaged: stopping (docs/reliability.md)', {
    reason: errorMessage(error),
    file: store.name,
  })
  process.exit(70)
}

/** The Services of one of several web processes: another one has composed the installation, and has it open. */
export async function joinServices(
  config: Config,
  part: number,
  counts: Counts,
): Promise<Services> {
  const log = logOf(config, part)
  const store = await storeAt(config)
  const db = await store.connect()
  const parts = { config, db, clock: systemClock, log, fatal: fatalOf(store, log) }
  return createServices(parts, { counts })
}

/**
 * Opens the installation, creating it on the first start, and builds the Services of a process. `firstStart` is what a first start
 * shows, once; null at every other.
 */
export async function compose(
  config: Config,
  options: { init: boolean },
): Promise<{ services: Services; firstStart: FirstStart | null }> {
  const clock = systemClock
  const log = logOf(config)
  const store = await storeAt(config)
  return store.withStartLock(async () => {
    const { db, rebuiltEnvFile } = await openInstance(config, store, {
      ...options,
      now: clock.now(),
    })
    const fatal = fatalOf(store, log)
    const seed = { db, clock, config }
    await seedPlans(seed)
    await seedManagementKey(seed, generateManagementKey)
    await seedLocalNode(seed, canBind)
    await seedWebhookSecret(seed)
    const services = createServices({ config, db, clock, log, fatal })
    await services.writeKnownHosts()
    // Last: of a first start that is killed before it could show the password, nothing of the account may stay.
    const firstStart = await seedAdmin(seed)
    const { on, elsewhere, core } = config.localNode
    if (!on && !elsewhere && core === 'system') {
      log.warn(
        'LOCAL_NODE=off: stop the unit of the core yourself, it goes on serving its last clients',
      )
    }
    const local = await db.read((q) => readNode(q, LOCAL_NODE))
    if (firstStart && config.localNode.port === null && local?.port === 2053) {
      log.info('the local node uses port 2053, because 443 is taken')
    }
    if (rebuiltEnvFile) {
      log.warn('the env file was missing and is written anew: put your domains back into it', {
        file: config.envFile,
      })
    }
    return { services, firstStart }
  })
}
