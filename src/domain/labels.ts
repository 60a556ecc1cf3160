/** What records of sales are called beside their codes. */

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
