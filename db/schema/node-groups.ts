/** Groups of nodes: what a subscription is served on beside its own node. */
import type { RoutingPreset } from '#src/lib/routing-presets.ts'
import { bool, index, int, primaryKey, table, text } from '../engine/columns.ts'

export const nodeGroups = table('node_groups', {
  code: text('code').primaryKey(),
  label: text('label').notNull(),
  sortOrder: int('sort_order').notNull(),
  /** Members that are down for a while leave lists. */
  hideDown: bool('hide_down').notNull().default(false),
  createdAt: text('created_at').notNull(),
  /** What lists of its subscriptions leave direct, in place of ROUTING_PRESET and ROUTING_ADS; null: as those say. */
  routingPreset: text('routing_preset').$type<RoutingPreset>(),
  routingAds: bool('routing_ads'),
})

/** The members of groups, in no order: lists have them in that of the nodes. */
export const nodeGroupNodes = table(
  'node_group_nodes',
  { groupCode: text('group_code').notNull(), node: text('node').notNull() },
  (t) => [
    primaryKey({ columns: [t.groupCode, t.node] }),
    index('node_group_nodes_node').on(t.node, t.groupCode),
  ],
)

export type NodeGroup = typeof nodeGroups.$inferSelect
