/** Nodes and sales at this moment. */
import * as v from 'valibot'
import { count, day } from '#db/values.ts'
import { NODE_STATES } from '#src/domain/nodes/live.ts'
import type { liveNodeView } from '../live-view.ts'
import { code, describes, timestamp } from './fields.ts'

const rate = v.nullable(count)

const host = v.strictObject({
  load1: v.pipe(v.number(), v.minValue(0)),
  cpu_count: count,
  mem_used_mb: count,
  mem_total_mb: count,
  uptime_s: count,
  rx_rate: rate,
  tx_rate: rate,
})

const fields = {
  code,
  label: v.string(),
  kind: v.picklist(['local', 'managed', 'external']),
  state: v.picklist(NODE_STATES),
  down_since: v.nullable(timestamp),
  last_error: v.nullable(v.string()),
  last_seen_at: v.nullable(timestamp),
  core_version: v.nullable(v.string()),
  /** When it was passed over last. */
  at: v.nullable(timestamp),
  online: v.nullable(count),
  /** Bytes per second, of its customers. */
  up_rate: rate,
  down_rate: rate,
  /** The rates of the last passes, 90 s apart, oldest first. */
  spark: v.array(v.strictObject({ up: count, down: count })),
  core_uptime_s: v.nullable(v.pipe(v.number(), v.minValue(0))),
  host: v.nullable(host),
}

const node = describes<ReturnType<typeof liveNodeView>>()(v.strictObject(fields))

export const liveNodes = v.strictObject({
  nodes: v.array(node),
  online: v.strictObject({ subscriptions: count, customers: count }),
})

export const liveNode = v.strictObject({
  ...fields,
  uptime: v.array(v.strictObject({ day, ok: count, bad: count })),
})
