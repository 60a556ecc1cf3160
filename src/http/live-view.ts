/** Nodes and sales as the panel sees them at this moment. */

import type { ListedSale } from '#db/sales.ts'
import type { Node, NodeLive, NodeUptime } from '#db/schema/index.ts'
import { nodeState, presentLive } from '#src/domain/nodes/live.ts'
import { ownerName } from './views.ts'

/** Rates are bytes per second; what is not known is null. */
export function liveNodeView(
  { node, live: last }: { node: Node; live: NodeLive | null },
  now: Date,
) {
  const live = presentLive(node, last, now)
  const host = live?.host ?? null
  return {
    code: node.code,
    label: node.label,
    kind: node.kind,
    state: nodeState(node, last),
    down_since: node.downSince,
    last_error: node.lastError,
    last_seen_at: node.lastSeenAt,
    core_version: node.coreVersion,
    at: last?.at ?? null,
    online: live?.online ?? null,
    up_rate: live?.upRate ?? null,
    down_rate: live?.downRate ?? null,
    spark: live?.spark ?? [],
    core_uptime_s: live?.coreUptimeS ?? null,
    host: host && {
      load1: host.load1,
      cpu_count: host.cpuCount,
      mem_used_mb: host.memUsedMb,
      mem_total_mb: host.memTotalMb,
      uptime_s: host.uptimeS,
      rx_rate: host.rxRate,
      tx_rate: host.txRate,
    },
  }
}

/** The checks of a day (UTC). */
export const uptimeView = ({ day, ok, bad }: NodeUptime) => ({ day, ok, bad })

export const saleView = (sale: ListedSale) => ({
  id: sale.id,
  tg_id: sale.tgId,
  username: sale.username,
  ...ownerName(sale),
  kind: sale.kind,
  node: sale.node,
  node_label: sale.nodeLabel ?? sale.node,
  plan: sale.plan,
  plan_label: sale.packLabel ?? sale.planLabel ?? sale.plan,
  provider: sale.provider,
  amount: sale.amount,
  currency: sale.currency,
  paid_at: sale.paidAt,
})
