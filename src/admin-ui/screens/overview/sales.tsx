/** Sales by day. */
import { TimeChart } from '#src/admin-ui/charts/time-chart.tsx'
import { compact, money, number } from '#src/admin-ui/format.ts'
import { Card } from '#src/admin-ui/kit/page.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import type { Query } from '#src/admin-ui/query.ts'
import { type DayStats, overviewWords } from './words.ts'

function Sales({ days }: { days: DayStats[] }) {
  const t = overviewWords()
  const revenue = days.reduce((sum, day) => sum + day.revenue, 0)
  const paid = days.reduce((sum, day) => sum + day.paid, 0)
  if (paid === 0) return <Empty icon="payments" title={t.noSales} />
  const sums: [string, string][] = [
    [t.revenue, money(revenue)],
    [t.paidOrders, number(paid)],
    [t.average, money(Math.round(revenue / paid))],
  ]
  return (
    <>
      <dl class="sums">
        {sums.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <TimeChart
        label={t.salesByDay}
        days={days.map((day) => day.date)}
        bars={{
          label: t.revenue,
          values: days.map((day) => day.revenue),
          say: (value) => money(value),
          tick: compact,
        }}
        line={{
          label: t.paidOrders,
          values: days.map((day) => day.paid),
          say: number,
          tick: compact,
        }}
      />
    </>
  )
}

export function SalesCard(p: { series: Query<DayStats[]>; days: number }) {
  const t = overviewWords()
  return (
    <Card title={t.sales} class="sales">
      <Loaded query={p.series} lines={7} tall>
        {(series) => <Sales days={series.slice(-p.days)} />}
      </Loaded>
    </Card>
  )
}
