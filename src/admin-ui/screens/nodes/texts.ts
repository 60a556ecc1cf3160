/** Words of the nodes, and what its parts are given. */
import { api, ok, type Row } from '#src/admin-ui/api.ts'
import { nodesEn } from '#src/admin-ui/i18n/nodes.en.ts'
import { nodesRu } from '#src/admin-ui/i18n/nodes.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { href } from '#src/admin-ui/router.ts'

export const nodeTexts = catalogue({ en: nodesEn, ru: nodesRu })

export type NodeRow = Row<typeof api.nodes.$get>

export type HostRow = Row<(typeof api.nodes)[':code']['hosts']['$get']>

/** What transports are called. */
export function transportNames(): Record<HostRow['transport'], string> {
  const { main, ws, xhttp, grpc, hysteria } = nodeTexts().setup
  return { reality: main, ws, xhttp, grpc, hysteria2: hysteria }
}

/** What is shown of a node's hosts is asked for again. */
export const hostsChanged = (code: string) => invalidate(`hosts ${code}`)

/** The machine's own node, whose connection the configuration file says: only its name can be changed. */
export const isOwn = ({ code }: { code: string }) => code === 'de1'

/** All nodes, asked for again every so many ms. */
export const useNodes = (every = 30_000) => useQuery('nodes', () => ok(api.nodes.$get()), { every })

/** What is shown of nodes is asked for again. */
export const nodesChanged = () => invalidate('nodes', 'node-groups', 'stats')

/** And of groups, wherever they are sold. */
export const groupsChanged = () =>
  invalidate('node-groups', 'nodes', 'plans', 'user ', 'subscriptions')

/** Whether a node is sold: switched on, and set up. */
export const isSoldNode = ({ enabled, status, last_seen_at }: NodeRow) =>
  enabled && (status === 'active' || last_seen_at !== null)

/** Whether its clients must be added elsewhere; with a shared client whoever has its id gets in. */
export const isForeign = ({ kind, shared_uuid }: NodeRow) => kind === 'external' && !shared_uuid

/** Where a server is set up, and its setup followed. */
export const setupHref = (code: string) => href(`/nodes/setup/${encodeURIComponent(code)}`)
