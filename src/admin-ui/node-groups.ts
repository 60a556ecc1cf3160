/** Groups of nodes, wherever they are named or chosen. */
import { api, ok, type Row } from './api.ts'
import { useQuery } from './query.ts'

export type NodeGroup = Row<(typeof api)['node-groups']['$get']>

const LIST_STALE_MS = 60_000

/** What a payment or a gift code names. */
interface Sold {
  node_label: string
  node_group?: string
}

/** All of them in their display order, as they are and as options; none until they are known. */
export function useNodeGroups() {
  const query = useQuery('node-groups', () => ok(api['node-groups'].$get()), {
    stale: LIST_STALE_MS,
  })
  const groups = query.data ?? []
  const labelOf = (code: string) => groups.find((group) => group.code === code)?.label ?? code
  return {
    query,
    groups,
    options: groups.map(({ code, label }) => ({ value: code, label })),
    labelOf,
    /** The group where there is one, else the node. */
    placeOf: ({ node_label, node_group }: Sold) =>
      node_group === undefined ? node_label : labelOf(node_group),
  }
}
