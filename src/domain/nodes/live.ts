/** How nodes do: who is connected, rates, their machines, and how often they were found up. Noted by each pass, read by any process. */
import type { Query } from '#db/engine/database.ts'
import { listUptime, putLive, readLive, sumOfNode } from '#db/node-live.ts'
import { readNode } from '#db/nodes.ts'
import { isSetUp, type Node, type NodeLive } from '#db/schema/index.ts'
import {
  DAY_MS,
  formatTimestamp,
  parseTimestamp,
  SECOND_MS,
  timestampBefore,
} from '#src/lib/time.ts'
import type { CoreStatus } from '#src/ports/node-program.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

/** Fifteen minutes of passes, 90 s apart. */
const SPARK_POINTS = 10
/** Of passes further apart nobody knows how what was counted is spread over the time. */
const LONGEST_GAP_S = 900
/** Traffic since then counts as being online: a pass is 90 s after the end of the one before. */
const ONLINE_MS = 180 * SECOND_MS
/** For how long checks are shown by day. */
const UPTIME_DAYS = 90
/** Of a timestamp. */
const DAY = 'YYYY-MM-DD'.length

/** What a reading of a core said, and who had traffic by it since the pass before. */
export interface Seen {
  status: Pick<CoreStatus, 'online' | 'host' | 'core'>
  /** By node. */
  clients: ReadonlyMap<string, ReadonlySet<string>>
}

/** Per second between two sums; null where these say nothing of it. */
const rateOf = (before: number | null | undefined, after: number, seconds: number | null) =>
  seconds === null || before === null || before === undefined || after < before
    ? null
    : Math.round((after - before) / seconds)

/** How many seconds lie between two passes; null where too many do, or the clock was set back. */
function secondsBetween(before: NodeLive | undefined, at: Date): number | null {
  if (!before) return null
  const seconds = (at.getTime() - parseTimestamp(before.at).getTime()) / SECOND_MS
  return seconds > 0 && seconds <= LONGEST_GAP_S ? seconds : null
}

function hostOf(host: CoreStatus['host'], before: NodeLive | undefined, seconds: number | null) {
  if (host === null) return null
  const { rxBytes, txBytes, ...machine } = host
  return {
    ...machine,
    rxRate: rateOf(before?.rxBytes, rxBytes, seconds),
    txRate: rateOf(before?.txBytes, txBytes, seconds),
  }
}

/** The rates of the last passes; after a gap they begin anew. */
function sparkOf(before: NodeLive | undefined, up: number | null, down: number | null) {
  if (up === null || down === null) return []
  const points = [...(before?.spark ?? []), { up, down }]
  return points.slice(-SPARK_POINTS)
}

/** Notes how the nodes of a core do. A core of several nodes does not tell whom it serves on which: there it is whoever had traffic. */
export function* noteLiveIn(tx: Query, nodes: Node[], { status, clients }: Seen, at: Date) {
  for (const { code } of nodes) {
    const before = yield* readLive(tx, code)
    const seconds = secondsBetween(before, at)
    const { up, down } = yield* sumOfNode(tx, code)
    const upRate = rateOf(before?.upBytes, up, seconds)
    const downRate = rateOf(before?.downBytes, down, seconds)
    const connected = nodes.length === 1 ? (status.online ?? 0) : 0
    yield* putLive(tx, {
      node: code,
      at: formatTimestamp(at),
      online: Math.max(connected, clients.get(code)?.size ?? 0),
      upRate,
      downRate,
      upBytes: up,
      downBytes: down,
      rxBytes: status.host?.rxBytes ?? null,
      txBytes: status.host?.txBytes ?? null,
      host: hostOf(status.host, before, seconds),
      coreUptimeS: status.core.uptimeS,
      spark: sparkOf(before, upRate, downRate),
    })
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
