/** Traffic: every byte of a reading counted once, across restarts of a core and of the panel. */
import type { Query } from '#db/engine/database.ts'
import type { PageRequest } from '#db/paging.ts'
import { putQuota } from '#db/quotas.ts'
import type { ReadResult } from '#db/reads.ts'
import {
  addSample,
  addTraffic,
  type Base,
  putBase,
  putReading,
  RESET_EPOCH,
  readBases,
  readReading,
  resetTraffic,
} from '#db/traffic.ts'
import { beginIn } from '#src/domain/delayed-start.ts'
import { tellUsed } from '#src/domain/notify/quota-notices.ts'
import { counted } from '#src/domain/quotas.ts'
import { nextTurn, slices } from '#src/lib/event-loop.ts'
import { formatBytes } from '#src/lib/format.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { CoreStatus, Counters } from '#src/ports/node-program.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config'>

const BATCH = 200
/** The most subscriptions that GET /admin/api/traffic considers. */
export const TRAFFIC_CONSIDERED = 5000

/**
 * What came since the base. A core that restarted counts from zero. Within one run numbers only grow: where they fell, the
 * reading is older than the base (another process was quicker) or the operator set them back, and nothing is counted.
 */
export function trafficDelta(
  base: { epoch: string; up: number; down: number } | null,
  reading: { epoch: string; up: number; down: number },
): { up: number; down: number } {
  if (base?.epoch === RESET_EPOCH) return { up: 0, down: 0 }
  if (base?.epoch !== reading.epoch) return { up: reading.up, down: reading.down }
  const up = reading.up - base.up
  const down = reading.down - base.down
  return up < 0 || down < 0 ? { up: 0, down: 0 } : { up, down }
}

interface Reading {
  epoch: string
  up: number
  down: number
}

/** Whether a reading is older than its base: within one run of a core numbers only grow. */
const isBehind = (base: Reading | null, reading: Reading): boolean =>
  base?.epoch === reading.epoch && (reading.up < base.up || reading.down < base.down)

/** More than a client can have moved since a core's start: 100 Gbit/s for a day. */
const MOST_BYTES = 2 ** 50

/** A core's reading that is to be counted. */
export interface ReadingSource {
  core: string
  /**
   * By code the nodes that it serves, and how many hundredths of their traffic count against quotas: only of clients on them it has
   * something to say.
   */
  nodes: ReadonlyMap<string, number>
  /** The reading with which it was asked for. */
  acknowledged: string
}

/** How much of a reading was left out. */
interface Outcome {
  /** Clients who are elsewhere, and whose traffic was never counted here. */
  strange: number
  /** Numbers that are too large. */
  absurd: number
  /** The clients of whom traffic came, with their nodes; who has some at both programs of a core comes twice. */
  seen: [node: string, uuid: string][]
}

/** One program's counters within a reading. Hysteria counts for itself. */
interface Batch {
  /** Whose bases these are. */
  source: string
  epoch: string
  nodes: ReadonlyMap<string, number>
  counters: Counters
  at: Date
}

/** The names under which the bases of a core's programs are kept. */
const basesOf = (core: string) => ({ core, hysteria: `${core}/hysteria` })

const isAbsurd = ([, up, down]: Counters[number]) => up > MOST_BYTES || down > MOST_BYTES

/** Begins what waits, and counts bytes against the quota of a client; true when that used it up. */
function* countAgainst(tx: Query, s: Deps, base: Base, bytes: number, share: number, at: Date) {
  const before = yield* beginIn(tx, base, { at, timeZone: s.config.timezone })
  const { quota, notice } = counted(before, bytes, share, at)
  if (quota === before) return false
  yield* putQuota(tx, base.uuid, quota)
  if (notice !== 0) yield* tellUsed(tx, s, formatTimestamp(at), { uuid: base.uuid, quota, notice })
  return notice === 100
}

interface Bytes {
  up: number
  down: number
}

/** What a reading brought of a client since its base, which it becomes; null where nothing came. */
function* bringForward(tx: Query, { source, epoch }: Batch, row: Base, reading: Reading) {
  const base = row.epoch === null ? null : (row as Reading)
  // A base never moves back within a run: what lies between would be counted again.
  if (isBehind(base, reading)) return null
  yield* putBase(tx, source, epoch, { uuid: row.uuid, ...reading })
  const delta = trafficDelta(base, reading)
  return delta.up + delta.down === 0 ? null : delta
}

/** Counts the clients of one batch and sums what came per node and day. */
function* countBatch(tx: Query, s: Deps, batch: Batch) {
  const { source, epoch, nodes, at } = batch
  const readings = new Map(batch.counters.map(([uuid, up, down]) => [uuid, { epoch, up, down }]))
  const now = formatTimestamp(at)
  const perNode = new Map<string, Bytes>()
  const seen: [node: string, uuid: string][] = []
  const limited: string[] = []
  let strange = 0
  for (const row of yield* readBases(tx, source, [...nodes.keys()], [...readings.keys()])) {
    if (row.node === null) {
      // Somebody who was moved away may have been connected until now.
      if (row.epoch === null) strange++
      continue
    }
    const delta = yield* bringForward(tx, batch, row, readings.get(row.uuid) as Reading)
    if (delta === null) continue
    const { up, down } = delta
    yield* addTraffic(tx, row.uuid, up, down, now)
    const share = nodes.get(row.node) ?? 0
    if (yield* countAgainst(tx, s, row, up + down, share, at)) limited.push(row.uuid)
    const sum = perNode.get(row.node) ?? { up: 0, down: 0 }
    perNode.set(row.node, { up: sum.up + up, down: sum.down + down })
    seen.push([row.node, row.uuid])
  }
  const day = now.slice(0, 'YYYY-MM-DD'.length)
  for (const [node, { up, down }] of perNode) yield* addSample(tx, node, day, up, down)
  return { strange, limited, seen }
}

/** The counters of a reading, in batches by program. */
function* batchesOf(
  { core, nodes }: ReadingSource,
  status: Pick<CoreStatus, 'core' | 'counters' | 'hysteria'>,
  at: Date,
): Generator<Batch> {
  const bases = basesOf(core)
  const parts = [
    { source: bases.core, epoch: status.core.epoch, counters: status.counters },
    { source: bases.hysteria, epoch: null, counters: [], ...status.hysteria },
  ]
  for (const { source, epoch, counters } of parts) {
    if (epoch === null) continue
    for (let start = 0; start < counters.length; start += BATCH) {
      yield { source, epoch, nodes, counters: counters.slice(start, start + BATCH), at }
    }
  }
}

/**
 * Adds a core's reading to the stored totals, 200 clients a transaction. Counting the same reading again adds nothing, so a crash
 * between two batches is harmless; it is acknowledged after the last one. A reading that another process overtook is dropped: the
 * next one tells everything since the acknowledged one. Clients that are on no node of the core are left out. `limit` is told at once of
 * those who have used up their quota, whatever becomes of the rest.
 */
export async function countReading(
  s: Deps,
  from: ReadingSource,
  status: CoreStatus,
  limit: (uuids: string[]) => void = () => {},
): Promise<Outcome> {
  const outcome: Outcome = { strange: 0, absurd: 0, seen: [] }
  if (status.core.epoch === null && (status.hysteria?.epoch ?? null) === null) return outcome
  const { core, acknowledged } = from
  const at = s.clock.now()
  let first = true
  for (const batch of batchesOf(from, status, at)) {
    // Ten thousand clients take a second: requests go on between two batches.
    if (!first) await nextTurn()
    first = false
    const counters = batch.counters.filter((counter) => !isAbsurd(counter))
    outcome.absurd += batch.counters.length - counters.length
    const done = await s.db.tx(function* (tx) {
      if ((yield* readReading(tx, core)) !== acknowledged) return null
      return yield* countBatch(tx, s, { ...batch, counters })
    })
    if (done === null) return outcome
    if (done.limited.length > 0) limit(done.limited)
    outcome.strange += done.strange
    outcome.seen.push(...done.seen)
  }
  await s.db.tx((tx) => putReading(tx, core, status.reading))
  return outcome
}

/** Sets the totals of a subscription to zero; what its core reports next becomes the base. */
export function* resetTrafficIn(tx: Query, uuid: string, core: string) {
  yield* resetTraffic(tx, uuid, core, Object.values(basesOf(core)))
}

const entryOf = (row: ReadResult<'traffic'>['rows'][number]) => ({
  uuid: row.uuid,
  username: row.username === null ? (row.name ?? `tg${row.tgId}`) : `@${row.username}`,
  nodeLabel: row.nodeLabel ?? row.node,
  up: row.up,
  down: row.down,
  upFmt: formatBytes(row.up),
  downFmt: formatBytes(row.down),
  totalFmt: formatBytes(row.up + row.down),
})

const SLICE = 500

/** The stored totals of the 5000 subscriptions with the most traffic, largest first: those of a page, and the sums of all. */
export async function trafficReport(s: Pick<Services, 'reads'>, page: PageRequest) {
  const { rows, count, up, down } = await s.reads.ask('traffic', TRAFFIC_CONSIDERED, page)
  const entries: ReturnType<typeof entryOf>[] = []
  // All at once they would keep requests waiting.
  for await (const slice of slices(rows, SLICE)) entries.push(...slice.map(entryOf))
  const last = rows.at(-1)
  const next = last ? { value: String(last.up + last.down), key: last.seq } : null
  return { entries, count, up, down, totalFmt: formatBytes(up + down), next }
}
