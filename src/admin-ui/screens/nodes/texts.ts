/** Words of the nodes, what its parts are given, and the state that a node is in. */
import { api, ok, type Row } from '#src/admin-ui/api.ts'
import { nodesEn } from '#src/admin-ui/i18n/nodes.en.ts'
import { nodesRu } from '#src/admin-ui/i18n/nodes.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'
import type { Tone } from '#src/admin-ui/kit/badge.tsx'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { href } from '#src/admin-ui/router.ts'

export const nodeTexts = catalogue({ en: nodesEn, ru: nodesRu })

export type NodeRow = Row<typeof api.nodes.$get>

/** All nodes, asked for again every so many ms. */
export const useNodes = (every = 30_000) => useQuery('nodes', () => ok(api.nodes.$get()), { every })

/** What is shown of nodes is asked for again. */
export const nodesChanged = () => invalidate('nodes', 'stats')

/** Where a server is set up, and its setup followed. */
export const setupHref = (code: string) => href(`/nodes/setup/${encodeURIComponent(code)}`)

export type NodeState =
  | 'ok'
  | 'external'
  | 'off'
  | 'pending'
  | 'failed'
  | 'error'
  | 'key'
  | 'blocked'

export const NODE_TONES: Record<NodeState, Tone> = {
  ok: 'ok',
  external: 'muted',
  off: 'muted',
  pending: 'info',
  failed: 'bad',
  error: 'bad',
  key: 'bad',
  blocked: 'warn',
}

/** The one word that matters most. */
export function stateOf(node: NodeRow): NodeState {
  if (node.status !== 'active') return node.status
  if (node.presented_host_key !== null) return 'key'
  if (node.sync_blocked) return 'blocked'
  if (!node.enabled) return 'off'
  if (node.last_error !== null) return 'error'
  return node.kind === 'external' ? 'external' : 'ok'
}
