/** Traffic: every byte of a reading counted once, across restarts of a core and of the panel. */
import type { Query } from '#db/open.ts'
import {
  addSample,
  addTraffic,
  listTraffic,
  putBase,
  putReading,
  RESET_EPOCH,
  readBases,
  readReading,
} from '#db/traffic.ts'
import { formatBytes } from '#src/lib/format.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import type { CoreStatus, Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock'>

const BATCH = 200
/** The most subscriptions that GET /admin/api/traffic considers. */
const TRAFFIC_CONSIDERED = 5000

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

/** Counts the clients of one batch and sums what came per node and day. */
function* countBatch(
  tx: Query,
  core: string,
  epoch: string,
  counters: CoreStatus['counters'],
  day: string,
) {
  const readings = new Map(counters.map(([uuid, up, down]) => [uuid, { uuid, epoch, up, down }]))
  const perNode = new Map<string, { up: number; down: number }>()
  for (const row of yield* readBases(tx, core, [...readings.keys()])) {
    const reading = readings.get(row.uuid) as Reading & { uuid: string }
    const base = row.epoch === null ? null : (row as Reading)
    // A base never moves back within a run: what lies between would be counted again.
    if (isBehind(base, reading)) continue
    yield* putBase(tx, core, epoch, reading)
    const delta = trafficDelta(base, reading)
    if (delta.up + delta.down === 0) continue
    yield* addTraffic(tx, row.uuid, delta.up, delta.down)
    const sum = perNode.get(row.node) ?? { up: 0, down: 0 }
    perNode.set(row.node, { up: sum.up + delta.up, down: sum.down + delta.down })
  }
  for (const [node, sum] of perNode) yield* addSample(tx, node, day, sum.up, sum.down)
}

/**
 * Adds a core's reading, which was taken with `acknowledged`, to the stored totals, 200 clients a transaction. Counting the same
 * reading again adds nothing, so a crash between two batches is harmless; it is acknowledged after the last one. A reading
 * that another process overtook is dropped: the next one tells everything since the acknowledged one.
 */
export async function countReading(
  s: Deps,
  core: string,
  acknowledged: string,
  status: CoreStatus,
): Promise<void> {
  const { epoch } = status.core
  if (epoch === null) return
  const day = formatTimestamp(s.clock.now()).slice(0, 10)
  const { counters } = status
  for (let start = 0; start < counters.length; start += BATCH) {
    // Ten thousand clients take a second: requests go on between two batches.
    if (start > 0) await new Promise((resolve) => setImmediate(resolve))
    const batch = counters.slice(start, start + BATCH)
    const current = await s.db.tx(function* (tx) {
      if ((yield* readReading(tx, core)) !== acknowledged) return false
      yield* countBatch(tx, core, epoch, batch, day)
      return true
    })
    if (!current) return
  }
  await s.db.tx((tx) => putReading(tx, core, status.reading))
}

/** The stored totals of the 5000 subscriptions with the most traffic, largest first. */
export async function trafficReport(s: Pick<Services, 'db'>) {
  const rows = await listTraffic(s.db, TRAFFIC_CONSIDERED)
  let up = 0
  let down = 0
  const entries = rows.map((row) => {
    up += row.up
    down += row.down
    return {
      uuid: row.uuid,
      username: row.username === null ? `tg${row.tgId}` : `@${row.username}`,
      nodeLabel: row.nodeLabel ?? row.node,
      up: row.up,
      down: row.down,
      upFmt: formatBytes(row.up),
      downFmt: formatBytes(row.down),
      totalFmt: formatBytes(row.up + row.down),
    }
  })
  return { entries, up, down, totalFmt: formatBytes(up + down) }
}
