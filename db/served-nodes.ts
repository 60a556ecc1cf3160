/**
 * The nodes of a subscription: its own, and the members of its group, as they are now. In SQL text it is said here, in two ways: of all
 * that a node serves, and of single ones; from memory `nodesOf` says it (node-groups.ts).
 */
import { joinedInOrder } from './engine/dialect.ts'

const OF_MEMBERS = joinedInOrder(
  'node_group_nodes m',
  'subscriptions s',
  's.node_group = m.group_code',
)

/**
 * Subscriptions (`s`) once for each of their nodes. `arm` is given the column of the node, and what a query begins with from `from` to the
 * last `and` of its conditions. By indexes: subscriptions_clients, subscriptions_group_clients.
 */
export const onEachNode = (arm: (node: string, from: string) => string) =>
  `${arm('s.node', 'from subscriptions s where')}
   union all
   ${arm('m.node', `from ${OF_MEMBERS} where s.node_group is not null and s.node <> m.node and`)}`

/** Which of `codes`, a query of one column, serves a subscription of the row; null where none does. A core has one at most. */
export const nodeAmong = (codes: string, row: '' | `${string}.` = '') =>
  `case when ${row}node in (${codes}) then ${row}node
   when ${row}node_group is not null then (select min(m.node) from node_group_nodes m
     where m.group_code = ${row}node_group and m.node in (${codes})) end`

/** Whether nothing of a node's traffic counts: who has used up a quota stays there. */
export const isFree = (node: string) =>
  `exists (select 1 from nodes where code = ${node} and traffic_ratio = 0)`

/** Those of `codes`, a query of one column, of which that is so. */
export const freeOf = (codes: string) =>
  `select code from nodes where code in (${codes}) and traffic_ratio = 0`
