/** Words of the nodes, what its parts are given, and the state that a node is in. */
import type { api, Row } from '#src/admin-ui/api.ts'
import { nodesEn } from '#src/admin-ui/i18n/nodes.en.ts'
import { nodesRu } from '#src/admin-ui/i18n/nodes.ru.ts'
import { catalogue } from '#src/admin-ui/i18n.ts'
import type { Tone } from '#src/admin-ui/kit/badge.tsx'

export const nodeTexts = catalogue({ en: nodesEn, ru: nodesRu })

export type NodeRow = Row<(typeof api)['nodes']['$get']>

export type NodeState = 'ok' | 'off' | 'pending' | 'failed' | 'error' | 'blocked'

export const NODE_TONES: Record<NodeState, Tone> = {
  ok: 'ok',
  off: 'muted',
  pending: 'info',
  failed: 'bad',
  error: 'bad',
  blocked: 'warn',
}

/** The one word that matters most. */
export function stateOf(node: NodeRow): NodeState {
  if (node.status !== 'active') return node.status
  if (node.sync_blocked) return 'blocked'
  if (!node.enabled) return 'off'
  return node.last_error === null ? 'ok' : 'error'
}
