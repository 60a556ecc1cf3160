/** Nodes, latest payments, the split by plan. */
import { api, paged, type Row } from '#src/admin-ui/api.ts'
import { DayBars } from '#src/admin-ui/charts/day-bars.tsx'
import { Donut, type Slice } from '#src/admin-ui/charts/donut.tsx'
import { age, money, number, userName } from '#src/admin-ui/format.ts'
import { Meter, Person } from '#src/admin-ui/kit/badge.tsx'
import { Card } from '#src/admin-ui/kit/page.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import { type Column, Table } from '#src/admin-ui/kit/table.tsx'
import { type Query, useQuery } from '#src/admin-ui/query.ts'
import { href } from '#src/admin-ui/router.ts'
import { NodeBadge, PaymentBadge } from '#src/admin-ui/states.tsx'
import { type ActiveStats, type NodeRow, overviewWords } from './words.ts'

export function NodesCard(p: {
  nodes: Query<NodeRow[]>
  active: ActiveStats | undefined
  /** How many customers are online; undefined until it is known. */
  online: number | undefined
}) {
  const t = overviewWords()
  const counts = new Map(p.active?.by_node.map((row) => [row.node, row.active]))
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return (
    <Card
      title={t.nodes}
      sub={p.online === undefined ? ' ' : t.online(p.online)}
      actions={
        <a class="link" href={href('/nodes')}>
          {t.manage}
        </a>
      }
    >
      <Loaded query={p.nodes} lines={4} tall>
        {(nodes) => (
          <ul class="node-list">
            {nodes.map((node) => {
              const count = counts.get(node.code) ?? 0
              return (
                <li key={node.code}>
                  <b>{node.label}</b>
                  <code>{node.code}</code>
                  <NodeBadge node={node} />
                  <Meter share={total > 0 ? count / total : 0} label={t.share(node.label)} />
                  <small class="num">{t.subscriptions(count)}</small>
                </li>
              )
            })}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}

type Payment = Row<typeof api.payments.$get>

function paymentColumns(): Column<Payment>[] {
  const t = overviewWords()
  return [
    {
      key: 'customer',
      title: t.customer,
      phone: 'lead',
      cell: (row) => (
        <a href={href('/', { user: row.tg_id })}>
          <Person name={userName(row)} sub={row.tg_id} />
        </a>
      ),
    },
    { key: 'plan', title: t.plan, cell: (row) => row.plan_label },
    {
      key: 'amount',
      title: t.amount,
      end: true,
      cell: (row) => <b>{money(row.amount, row.currency)}</b>,
    },
    { key: 'provider', title: t.provider, phone: 'off', cell: (row) => row.provider_label },
    {
      key: 'status',
      title: t.status,
      phone: 'state',
      cell: (row) => <PaymentBadge payment={row} />,
    },
    { key: 'when', title: t.when, end: true, cell: (row) => age(row.created_at) },
  ]
}

const LATEST = '6'

export function PaymentsCard() {
  const t = overviewWords()
  const payments = useQuery(
    'payments latest',
    () => paged(api.payments.$get({ query: { limit: LATEST } })),
    { every: 30_000 },
  )
  return (
    <Card
      title={t.payments}
      flush
      class="latest"
      actions={
        <a class="link" href={href('/payments')}>
          {t.allPayments}
        </a>
      }
    >
      <Loaded query={payments} lines={5} tall>
        {({ rows }) => (
          <Table
            caption={t.payments}
            columns={paymentColumns()}
            rows={rows}
            rowKey={(row) => row.id}
            empty={<Empty icon="payments" title={t.noPayments} hint={t.noPaymentsHint} />}
          />
        )}
      </Loaded>
    </Card>
  )
}

const MOST_SLICES = 5

/** The largest plans, and the rest as one. */
function slicesOf(active: ActiveStats): Slice[] {
  const all = active.by_plan.map((row) => ({
    key: row.plan,
    label: row.plan_label,
    value: row.active,
  }))
  if (all.length <= MOST_SLICES) return all
  const rest = all.slice(MOST_SLICES - 1).reduce((sum, slice) => sum + slice.value, 0)
  return [
    ...all.slice(0, MOST_SLICES - 1),
    { key: ' others', label: overviewWords().others, value: rest },
  ]
}

function Plans({ active }: { active: ActiveStats }) {
  const t = overviewWords()
  const total = active.by_plan.reduce((sum, row) => sum + row.active, 0)
  const ending = active.endings.reduce((sum, day) => sum + day.count, 0)
  if (total === 0) return <Empty icon="subscriptions" title={t.noActive} hint={t.noActiveHint} />
  return (
    <>
      <Donut slices={slicesOf(active)}>
        <b>{number(total)}</b>
        <small>{t.active}</small>
      </Donut>
      <div class="endings">
        <div class="row between">
          <h3>{t.endings}</h3>
          <b class="num">{number(ending)}</b>
        </div>
        <DayBars label={t.endings} days={active.endings} near={3} />
      </div>
    </>
  )
}

export function PlansCard(p: { active: Query<ActiveStats> }) {
  return (
    <Card title={overviewWords().byPlan}>
      <Loaded query={p.active} lines={6} tall>
        {(active) => <Plans active={active} />}
      </Loaded>
    </Card>
  )
}
