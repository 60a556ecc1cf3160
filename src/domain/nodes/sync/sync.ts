/** Keeps every core equal to the database: configuration, clients, counters. Desired state, never a queue of changes. */

import { findAddOnlyNodes, releaseAddOnlyNodes } from '#db/add-only-nodes.ts'
import { listBehind, listNodes, readNode } from '#db/nodes.ts'
import type { Node } from '#db/schema/index.ts'
import { readPlaced } from '#db/subscriptions.ts'
import { createNodeAlerts } from '#src/domain/nodes/alerts.ts'
import { ONLINE_MS } from '#src/domain/nodes/live.ts'
import { codeOfCore } from '#src/lib/core-name.ts'
import { NodeError } from '#src/lib/errors.ts'
import { createLimiter, type Limiter } from '#src/lib/limiter.ts'
import { inTime } from '#src/lib/pause.ts'
import { createSingleFlight } from '#src/lib/single-flight.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { Core } from '#src/ports/cores.ts'
import type { NodeSync, NodeSyncResult } from '#src/ports/node-sync.ts'
import type { Services } from '#src/services.ts'
import { applyClients, type Pass } from './clients.ts'
import {
  type LogTrouble,
  type PassDeps,
  type PassOutcome,
  passOver,
  readStatus,
} from './core-pass.ts'
import { createPassLanes } from './lanes.ts'
import { createClientQueue } from './queue.ts'
import { createRetryTimes } from './retry-times.ts'

type ProcessDeps = Pick<
  Services,
  'db' | 'clock' | 'log' | 'config' | 'cores' | 'instanceId' | 'background'
>

/** A core that is just being started, or started again, is no trouble. */
const PATIENCE_MS = 10_000

interface CoreNodes {
  core: Core
  nodes: Node[]
}

/** The cores of these nodes by their names, each with those that it serves. */
function groupByCore(s: Pick<Services, 'cores'>, nodes: Node[]): Map<string, CoreNodes> {
  const groups = new Map<string, CoreNodes>()
  for (const node of nodes) {
    const core = s.cores.of(node)
    if (!core) continue
    const group = groups.get(core.name) ?? { core, nodes: [] }
    group.nodes.push(node)
    groups.set(core.name, group)
  }
  return groups
}

/** Tells of troubles that last: once, whatever words a core finds for them the next time. */
function createTroubleLog(s: Pick<Services, 'clock' | 'log'>): LogTrouble {
  const troubles = new Map<string, { alarm: string; sinceMs: number; told: boolean }>()
  return ({ name }, alarm, fields = {}) => {
    const last = troubles.get(name)
    if (alarm === null) {
      troubles.delete(name)
      if (last?.told) s.log.info('node is in step again', { core: name })
      return
    }
    const kind = `${alarm} ${fields.failure ?? ''}`
    const now = s.clock.monotonicMs()
    const trouble = last?.alarm === kind ? last : { alarm: kind, sinceMs: now, told: false }
    troubles.set(name, trouble)
    if (trouble.told || now - trouble.sinceMs < PATIENCE_MS) return
    trouble.told = true
    s.log.warn(alarm, { core: name, ...fields })
  }
}

/** Tells once of each kind of thing that a core reports and that cannot be. */
function createOddityLog(s: Pick<Services, 'log'>): PassDeps['logOddity'] {
  const told = new Set<string>()
  return ({ name }, oddity, count) => {
    if (told.has(`${name} ${oddity}`)) return
    told.add(`${name} ${oddity}`)
    s.log.warn('a node reports what cannot be, it is ignored', { core: name, oddity, count })
  }
}

/** Lets one piece of work on a core go on at a time. */
function createCounting(): (core: Core) => Limiter {
  const limiters = new Map<string, Limiter>()
  return ({ name }) => {
    const limiter = limiters.get(name) ?? createLimiter(1)
    limiters.set(name, limiter)
    return limiter
  }
}

/** Gathers what the cores' readings tell of their clients, for as long as it makes them count as online. */
function createSeen({ clock }: Pick<Services, 'clock'>): PassDeps['seen'] {
  /** By core and node: when who had traffic last. */
  const seen = new Map<string, Map<string, Map<string, number>>>()
  return ({ name }) => ({
    add(clients) {
      const nodes = seen.get(name) ?? new Map<string, Map<string, number>>()
      seen.set(name, nodes)
      const now = clock.monotonicMs()
      for (const [node, uuid] of clients) {
        const uuids = nodes.get(node) ?? new Map<string, number>()
        nodes.set(node, uuids.set(uuid, now))
      }
    },
    count() {
      const since = clock.monotonicMs() - ONLINE_MS
      const counts = new Map<string, number>()
      for (const [node, uuids] of seen.get(name) ?? []) {
        for (const [uuid, at] of uuids) if (at <= since) uuids.delete(uuid)
        counts.set(node, uuids.size)
      }
      return counts
    },
  })
}

const notDone = (nodes: Node[], timeoutMs: number): NodeSyncResult[] =>
  nodes.map(({ code }) => ({
    code,
    ok: false,
    added: 0,
    removed: 0,
    error: `not done within ${timeoutMs / 1000} s, it goes on`,
  }))

/** The NodeSync of a process. */
export function createNodeSync(deps: ProcessDeps): NodeSync {
  const s: ProcessDeps & PassDeps = {
    ...deps,
    counting: createCounting(),
    hashing: createLimiter(1),
    alerts: createNodeAlerts(deps),
    logTrouble: createTroubleLog(deps),
    logOddity: createOddityLog(deps),
    seen: createSeen(deps),
    limit(uuids) {
      s.background.run('limit clients', async () => {
        await queue.touch(await s.db.read((q) => readPlaced(q, uuids)), 5000)
      })
    },
  }
  const retries = createRetryTimes(s)
  const queue = createClientQueue(
    s,
    (core, uuids) => applyClients(s, core, uuids),
    ({ name }) => retries.missed(name),
  )
  const groupOf = async (name: string): Promise<CoreNodes | undefined> => {
    const code = codeOfCore(name)
    const nodes = await s.db.read(function* (q) {
      if (code === null) return yield* listNodes(q)
      const node = yield* readNode(q, code)
      return node ? [node] : []
    })
    return groupByCore(s, nodes).get(name)
  }
  // What a core serves is looked up when its turn comes: it may be another server by then, or gone.
  const lanes = createPassLanes(async (name, pass): Promise<PassOutcome> => {
    const group = await groupOf(name)
    if (!group) return { results: [], outcome: 'in step' }
    const done = await passOver(s, group.core, group.nodes, pass)
    retries.note(name, done.outcome)
    return done
  })
  const groupsOf = async (only?: string[]): Promise<CoreNodes[]> =>
    [...groupByCore(s, await s.db.read(listNodes)).values()].filter(
      ({ nodes }) => !only || nodes.some((node) => only.includes(node.code)),
    )
  const passNow = async (
    { core, nodes }: CoreNodes,
    pass: Pass,
    timeoutMs?: number,
  ): Promise<NodeSyncResult[]> => {
    const results = lanes.pass(core.name, pass).then((done) => done.results)
    if (timeoutMs === undefined) return results
    s.background.run('sync asked for', () => results)
    return inTime(results, timeoutMs, notDone(nodes, timeoutMs))
  }
  /** Reads and counts a core's counters; false when it gave none in time. */
  const readCounters = ({ core, nodes }: CoreNodes, timeoutMs: number): Promise<boolean> => {
    const read = readStatus(s, core, nodes, timeoutMs).then(
      (status) => status.core.up,
      (error) => {
        if (!(error instanceof NodeError)) throw error
        return false
      },
    )
    s.background.run('reading of counters', () => read)
    return inTime(read, timeoutMs, false)
  }
  /** However many look at the traffic, a core is read once at a time. */
  const reading = createSingleFlight<boolean>()
  const read = (group: CoreNodes, timeoutMs: number) =>
    reading(group.core.name, () => readCounters(group, timeoutMs))
  /** The same, but not before now: all who come while a core is read share the next reading. */
  const readNow = async (group: CoreNodes, timeoutMs: number): Promise<boolean> => {
    const { answer, joined } = read(group, timeoutMs)
    if (!joined) return answer
    await answer
    return read(group, timeoutMs).answer
  }
  return {
    touch: (subscriptions, timeoutMs = 5000) => queue.touch(subscriptions, timeoutMs),
    async syncAll({ force, remove, only, timeoutMs }) {
      // Before the nodes are: a restore that comes meanwhile is not what the admin forced.
      const held = force ? await s.db.scan(findAddOnlyNodes) : undefined
      const pass = { force, remove, now: formatTimestamp(s.clock.now()), held }
      const groups = await groupsOf(only)
      const results = await Promise.all(groups.map((group) => passNow(group, pass, timeoutMs)))
      if (held && !only) {
        // Whose core is not here any more has nothing to remove either.
        const here = groups.flatMap(({ nodes }) => nodes.map((node) => node.code))
        const gone = held.codes.filter((code) => !here.includes(code))
        await releaseAddOnlyNodes(s.db, held, gone)
      }
      return results.flat()
    },
    retryBehind({ remove }) {
      s.background.run('syncs of nodes that are behind', async () => {
        const behind = groupByCore(s, await s.db.read(listBehind))
        const pass = { force: false, remove, now: formatTimestamp(s.clock.now()), held: undefined }
        const due = retries.due([...behind.keys()]).filter((name) => !lanes.isBusy(name))
        for (const name of due) {
          s.background.run('sync of a node that is behind', () => lanes.pass(name, pass))
        }
      })
    },
    async readTraffic(timeoutMs) {
      const groups = await groupsOf()
      const readings = groups.map((group) => read(group, timeoutMs))
      await Promise.all(readings.map(({ answer }) => answer))
    },
    async readNode(code, timeoutMs) {
      const [group] = await groupsOf([code])
      return group ? inTime(readNow(group, timeoutMs), timeoutMs, false) : false
    },
  }
}
