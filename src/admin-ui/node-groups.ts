/** Groups of nodes, wherever they are named or chosen. */
import { api, ok, type Row } from './api.ts'
import { useQuery } from './query.ts'

export type NodeGroup = Row<(typeof api)['node-groups']['$get']>

const LIST_STALE_MS = 60_000

/** All of them in their display order, as they are and as options; none until they are known. */
export function useNodeGroups() {
  const query = useQuery('node-groups', () => ok(api['node-groups'].$get()), {
    stale: LIST_STALE_MS,
  })
  const groups = query.data ?? []
  return {
    query,
    groups,
    options: groups.map(({ code, label }) => ({ value: code, label })),
    labelOf: (code: string) => groups.find((group) => group.code === code)?.label ?? code,
  }
}
