/** How nodes do: who is connected, rates, their machines, and how often they were found up. Noted by each pass, read by any process. */
import type { Query } from '#db/engine/database.ts'
import { listUptime, presentNodes, putLive, readLive, sumOfNode } from '#db/node-live.ts'
import { readNode } from '#db/nodes.ts'
import { isSetUp, type Node, type NodeLive } from '#db/schema/index.ts'
import {
  DAY_MS,
  formatTimestamp,
  parseTimestamp,
  SECOND_MS,
  timestampBefore,
} from '#src/lib/time.ts'
import type { CoreStatus, MachineState } from '#src/ports/node-program.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

/** Fifteen minutes of passes, 90 s apart. */
const SPARK_POINTS = 10
/** Of passes further apart nobody knows how what was counted is spread over the time. */
const LONGEST_GAP_S = 900
/** Passes follow each other at once where changes wait for them: what passed in so short a time is no rate. */
const SOON_MS = 60 * SECOND_MS
/** Traffic since then counts as being online: a pass is 90 s after the end of the one before. */
export const ONLINE_MS = 180 * SECOND_MS
/** For how long checks are shown by day. */
const UPTIME_DAYS = 90
/** Of a timestamp. */
const DAY = 'YYYY-MM-DD'.length

/** What a reading of a core said, and how many of each node had traffic lately. */
export interface Seen {
  status: Pick<CoreStatus, 'online' | 'host' | 'core'>
  /** By node. */
  active: ReadonlyMap<string, number>
}

/** Per second between two sums; null where these say nothing of it. */
const rateOf = (before: number | null | undefined, after: number, seconds: number | null) =>
  seconds === null || before === null || before === undefined || after < before
    ? null
    : Math.round((after - before) / seconds)

/** Whether a moment lies less than `ms` back; not where the clock was set back since. */
const isWithin = (moment: string, at: Date, ms: number) => {
  const agoMs = at.getTime() - parseTimestamp(moment).getTime()
  return agoMs >= 0 && agoMs < ms
}

/** How many seconds lie between two passes; null where too many do, or the clock was set back. */
function secondsBetween(before: NodeLive | undefined, at: Date): number | null {
  if (!before) return null
  const seconds = (at.getTime() - parseTimestamp(before.at).getTime()) / SECOND_MS
  return seconds > 0 && seconds <= LONGEST_GAP_S ? seconds : null
}

const machineOf = ({ rxBytes: _rx, txBytes: _tx, ...machine }: MachineState) => machine

const networkRates = (
  host: MachineState,
  before: NodeLive | undefined,
  seconds: number | null,
) => ({
  rxRate: rateOf(before?.rxBytes, host.rxBytes, seconds),
  txRate: rateOf(before?.txBytes, host.txBytes, seconds),
})

const ratesOf = ({ host }: NodeLive) => ({
  rxRate: host?.rxRate ?? null,
  txRate: host?.txRate ?? null,
})

/** The rates of the last passes; after a gap they begin anew. */
function sparkOf(before: NodeLive | undefined, up: number | null, down: number | null) {
  if (up === null || down === null) return []
  const points = [...(before?.spark ?? []), { up, down }]
  return points.slice(-SPARK_POINTS)
}

/** Sums and rates at a pass. */
function* flowOf(tx: Query, code: string, before: NodeLive | undefined, at: Date) {
  const seconds = secondsBetween(before, at)
  const { up, down } = yield* sumOfNode(tx, code)
  const upRate = rateOf(before?.upBytes, up, seconds)
  const downRate = rateOf(before?.downBytes, down, seconds)
  const spark = sparkOf(before, upRate, downRate)
  return { at: formatTimestamp(at), upBytes: up, downBytes: down, upRate, downRate, spark }
}

/** What a pass says of a node. Of passes that follow each other at once the rates stay those of the first. */
function* newsOf(tx: Query, node: string, { host, core }: Seen['status'], at: Date) {
  const before = yield* readLive(tx, node)
  const machine = { coreUptimeS: core.uptimeS, host: host && machineOf(host) }
  if (before !== undefined && isWithin(before.at, at, SOON_MS)) {
    return { ...before, ...machine, host: machine.host && { ...machine.host, ...ratesOf(before) } }
  }
  const network = host && networkRates(host, before, secondsBetween(before, at))
  return {
    ...(yield* flowOf(tx, node, before, at)),
    ...machine,
    host: machine.host && network && { ...machine.host, ...network },
    rxBytes: host?.rxBytes ?? null,
    txBytes: host?.txBytes ?? null,
  }
}

/**
 * Notes how the nodes of a core do. A core of several nodes does not tell whom it serves on which: there those count who had traffic, as where
 * the core does not tell at all.
 */
export function* noteLiveIn(tx: Query, nodes: Node[], { status, active }: Seen, at: Date) {
  const codes = nodes.map(({ code }) => code)
  const told = nodes.length === 1 ? status.online : null
  for (const node of yield* presentNodes(tx, codes)) {
    const online = told ?? active.get(node) ?? 0
    yield* putLive(tx, { ...(yield* newsOf(tx, node, status, at)), node, online })
  }
}

export const NODE_STATES = ['up', 'trouble', 'down', 'pending', 'disabled', 'unmonitored'] as const

/** How a node does, in a word. */
export function nodeState(node: Node, live: NodeLive | null): (typeof NODE_STATES)[number] {
  if (!node.enabled) return 'disabled'
  if (node.kind === 'external') return 'unmonitored'
  if (!isSetUp(node)) return 'pending'
  if (node.downSince !== null) return 'down'
  if (node.lastError !== null || node.syncBlocked) return 'trouble'
  return live === null ? 'pending' : 'up'
}

/** What is known of a node that does not stand still: nothing any more where it is down, or no pass has come for 15 minutes. */
export const presentLive = (node: Node, live: NodeLive | null, now: Date): NodeLive | null =>
  live !== null && node.downSince === null && isWithin(live.at, now, LONGEST_GAP_S * SECOND_MS)
    ? live
    : null

/** How many subscriptions had traffic in the last minutes, and of how many customers they are. */
export const onlineNow = (s: Pick<Services, 'reads' | 'clock'>) =>
  s.reads.ask('online', timestampBefore(s.clock.now(), ONLINE_MS))

/** How a node does, with its checks on each of the last 90 days on which there were some. Throws 404. */
export async function liveNode(s: Pick<Services, 'db' | 'clock'>, code: string) {
  const from = timestampBefore(s.clock.now(), (UPTIME_DAYS - 1) * DAY_MS).slice(0, DAY)
  return s.db.read(function* (q) {
    const node = yield* readNode(q, code)
    if (!node) throw refusal('node-not-found')
    const live = (yield* readLive(q, code)) ?? null
    return { node, live, uptime: yield* listUptime(q, [code], from) }
  })
}
