/** The strip of things that wait for somebody; each with the way to deal with it. */
import type { ComponentChildren } from 'preact'
import { api, paged } from '#src/admin-ui/api.ts'
import { lacksCore } from '#src/admin-ui/core-missing.ts'
import { moment } from '#src/admin-ui/format.ts'
import { Icon, type IconName } from '#src/admin-ui/kit/icons.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { checkPayment } from '#src/admin-ui/payment-check.ts'
import { invalidate, useAction, useQuery } from '#src/admin-ui/query.ts'
import { href } from '#src/admin-ui/router.ts'
import { useUnpayable } from '#src/admin-ui/sales.ts'
import { type NodeRow, overviewWords, type Stats } from './words.ts'

const OLD_MS = 15 * 60_000
/** So many old payments are asked for, and checked at once. */
const MOST = 20

interface Item {
  key: string
  tone: 'bad' | 'warn' | 'info'
  icon: IconName
  text: ComponentChildren
  action: string
  /** Where it is dealt with, or what does it. */
  to: string | (() => unknown)
}

/** What a node with a fault is in need of. */
function faultOf(node: NodeRow): string {
  const t = overviewWords()
  if (!lacksCore(node)) return t.nodeDown
  return node.kind === 'local' ? t.noCores : t.noCore
}

/** Nodes whose program must be brought up to date, which only root on their server can do. */
function outdatedItems(nodes: NodeRow[]): Item[] {
  const t = overviewWords()
  return nodes
    .filter(({ outdated }) => outdated !== undefined)
    .map(({ code, label }) => ({
      key: `outdated ${code}`,
      tone: 'warn',
      icon: 'command',
      text: (
        <>
          <b>{label}</b> {t.nodeOutdated}
        </>
      ),
      action: t.getCommand,
      to: href(`/nodes/setup/${encodeURIComponent(code)}`),
    }))
}

function nodeItems(nodes: NodeRow[]): Item[] {
  const t = overviewWords()
  return nodes.flatMap((node): Item[] => {
    if (node.presented_host_key !== null) {
      return [
        {
          key: node.code,
          tone: 'bad',
          icon: 'key',
          text: (
            <>
              <b>{node.label}</b> {t.nodeKey}
            </>
          ),
          action: t.compareKeys,
          to: href('/nodes', { trust: node.code }),
        },
      ]
    }
    const isAwaited = node.status === 'active' ? node.enabled : true
    const fault = node.last_error !== null && isAwaited
    if (!fault && !node.sync_blocked) return []
    return [
      {
        key: node.code,
        tone: fault ? 'bad' : 'warn',
        icon: 'alert',
        text: (
          <>
            <b>{node.label}</b> {fault ? faultOf(node) : t.nodeBlocked}
          </>
        ),
        action: t.openNode,
        to: href('/nodes', { node: node.code }),
      },
    ]
  })
}

function countItems(stats: Stats): Item[] {
  const t = overviewWords()
  const items: Item[] = []
  // `review` counts both.
  const { review, orphans } = stats.payments
  if (review > orphans) {
    items.push({
      key: 'review',
      tone: 'warn',
      icon: 'payments',
      text: t.review(review - orphans),
      action: t.openReview,
      to: href('/payments', { review: '1' }),
    })
  }
  if (orphans > 0) {
    items.push({
      key: 'orphans',
      tone: 'warn',
      icon: 'payments',
      text: t.orphans(orphans),
      action: t.openReview,
      to: href('/payments'),
    })
  }
  if (stats.expiring_3d > 0) {
    items.push({
      key: 'ending',
      tone: 'info',
      icon: 'calendar',
      text: t.endingSoon(stats.expiring_3d),
      action: t.view,
      to: href('/subscriptions', {
        status: 'active',
        ends: '3',
        sort: 'expires_at',
        order: 'asc',
      }),
    })
  }
  return items
}

/** Payments that have been pending for too long, oldest first, and a way to ask their providers now; those in review are counted there. */
function usePendingItem(): Item[] {
  const t = overviewWords()
  const query = { status: 'pending', order: 'asc', limit: String(MOST) } as const
  const pending = useQuery('payments pending', () => paged(api.payments.$get({ query })), {
    every: 60_000,
  })
  const old = (pending.data?.rows ?? []).filter(
    (payment) =>
      payment.review_reason === null && Date.now() - moment(payment.created_at).getTime() > OLD_MS,
  )
  const check = useAction(async () => {
    let paid = 0
    let unanswered = 0
    for (const { id } of old) {
      const found = await checkPayment(id)
      if (found === 'paid') paid++
      if (found === 'unanswered') unanswered++
    }
    toast(t.rechecked(paid, old.length - unanswered, unanswered), unanswered > 0 ? 'bad' : 'ok')
    invalidate('payments', 'stats')
  })
  if (old.length === 0) return []
  return [
    {
      key: 'pending',
      tone: 'warn',
      icon: 'clock',
      text: t.pendingOld(old.length),
      action: t.recheck,
      to: check.run,
    },
  ]
}

function Attend({ item }: { item: Item }) {
  const content = (
    <>
      <span class={item.tone}>
        <Icon name={item.icon} />
      </span>
      <span>{item.text}</span>
      <em>{item.action}</em>
    </>
  )
  const { to } = item
  return typeof to === 'string' ? (
    <a href={to}>{content}</a>
  ) : (
    <button type="button" onClick={() => void to()}>
      {content}
    </button>
  )
}

function useSalesItem(): Item[] {
  const t = overviewWords()
  const unpayable = useUnpayable()
  if (unpayable === null) return []
  return [
    {
      key: 'sales',
      tone: 'bad',
      icon: 'wallet',
      text: unpayable,
      action: t.manage,
      to: href('/settings/payments'),
    },
  ]
}

export function Attention(p: { stats: Stats | undefined; nodes: NodeRow[] | undefined }) {
  const t = overviewWords()
  const pending = usePendingItem()
  const sales = useSalesItem()
  if (!p.stats || !p.nodes) return <div class="attention" />
  const items = [
    ...nodeItems(p.nodes),
    ...outdatedItems(p.nodes),
    ...sales,
    ...pending,
    ...countItems(p.stats),
  ]
  if (items.length === 0) return null
  return (
    <section class="attention" aria-label={t.attention}>
      {items.map((item) => (
        <Attend key={item.key} item={item} />
      ))}
    </section>
  )
}
