/** The states of nodes and payments, said alike wherever they are shown. */
import type { api, Row } from './api.ts'
import { statesEn } from './i18n/states.en.ts'
import { statesRu } from './i18n/states.ru.ts'
import { catalogue } from './i18n.ts'
import { Badge, type Tone } from './kit/badge.tsx'

const texts = catalogue({ en: statesEn, ru: statesRu })

/** Said wherever sales are looked after, while nobody can buy. */
export const unpayable = () => texts().unpayable

type NodeRow = Row<typeof api.nodes.$get>
type Payment = Row<typeof api.payments.$get>

const NODE_TONES: Record<keyof typeof statesEn.node, Tone> = {
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
function stateOfNode(node: NodeRow): keyof typeof NODE_TONES {
  if (node.presented_host_key !== null) return 'key'
  if (node.status !== 'active') return node.status
  if (node.sync_blocked) return 'blocked'
  if (!node.enabled) return 'off'
  if (node.last_error !== null) return 'error'
  return node.kind === 'external' ? 'external' : 'ok'
}

export function NodeBadge({ node }: { node: NodeRow }) {
  const state = stateOfNode(node)
  return <Badge tone={NODE_TONES[state]}>{texts().node[state]}</Badge>
}

const PAYMENT_TONES: Record<keyof typeof statesEn.payment, Tone> = {
  pending: 'info',
  paid: 'ok',
  failed: 'bad',
  refunded: 'muted',
  review: 'warn',
}

function stateOfPayment(payment: Payment): keyof typeof PAYMENT_TONES {
  if (payment.review_reason !== null) return 'review'
  return payment.refunded_at === null ? payment.status : 'refunded'
}

export function PaymentBadge({ payment }: { payment: Payment }) {
  const state = stateOfPayment(payment)
  return <Badge tone={PAYMENT_TONES[state]}>{texts().payment[state]}</Badge>
}
