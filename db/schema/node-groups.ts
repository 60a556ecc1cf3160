/** Groups of nodes: what a subscription is served on beside its own node. */
import { bool, index, int, primaryKey, table, text } from '../engine/columns.ts'

export const nodeGroups = table('node_groups', {
  code: text('code').primaryKey(),
  label: text('label').notNull(),
  sortOrder: int('sort_order').notNull(),
  /** Members that are down for a while leave lists. */
  hideDown: bool('hide_down').notNull().default(false),
  createdAt: text('created_at').notNull(),
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
