/** What records of sales are called beside their codes. */

import { listMembers, listNodeGroups, nodesOf } from '#db/node-groups.ts'
import type { Subscription } from '#db/schema/index.ts'
import type { Services } from '#src/services.ts'

interface Sold {
  row: { node: string; plan: string }
  nodeLabel: string | null
  planLabel: string | null
}

/** Node and plan by code and label; the code stands for the label of one that is gone. */
export const nodeAndPlan = ({ row, nodeLabel, planLabel }: Sold) => ({
  node: row.node,
  node_label: nodeLabel ?? row.node,
  plan: row.plan,
  plan_label: planLabel ?? row.plan,
})

/** The same as customers are told: the group where there is one, else the node. */
export const placeAndPlan = (found: Sold & { groupLabel: string | null }) => {
  const labels = nodeAndPlan(found)
  return { ...labels, node_label: found.groupLabel ?? labels.node_label }
}

/** The group of a subscription by code and label, and the codes of all nodes that serve it; nothing of one without a group. */
export interface GroupLabels {
  node_group?: string
  node_group_label?: string
  nodes?: string[]
}

/** Tells of subscriptions, from memory, which group they have. */
export function groupLabels({ db }: Pick<Services, 'db'>) {
  const labels = new Map(listNodeGroups(db).map(({ code, label }) => [code, label]))
  const members = listMembers(db)
  return (row: Pick<Subscription, 'node' | 'nodeGroup'>): GroupLabels =>
    row.nodeGroup === null
      ? {}
      : {
          node_group: row.nodeGroup,
          node_group_label: labels.get(row.nodeGroup) ?? row.nodeGroup,
          nodes: [...nodesOf(members, row)],
        }
}
