/** The overview: what needs attention, how sales go, how the nodes are. */
import './overview.css'
import { longDay, relative } from '#src/admin-ui/format.ts'
import { Segments } from '#src/admin-ui/kit/field.tsx'
import { PageHeader } from '#src/admin-ui/kit/page.tsx'
import { useLive, useSales } from '#src/admin-ui/live.ts'
import { overviewReads, PERIODS } from '#src/admin-ui/overview-reads.ts'
import { invalidate, useQuery } from '#src/admin-ui/query.ts'
import { type Route, setQuery } from '#src/admin-ui/router.ts'
import { Attention } from './attention.tsx'
import { Kpis } from './kpis.tsx'
import { NodesCard, PaymentsCard, PlansCard } from './lists.tsx'
import { SalesCard } from './sales.tsx'
import { overviewWords } from './words.ts'

const EVERY_MS = 30_000

export function Overview({ route }: { route: Route }) {
  const t = overviewWords()
  const reads = overviewReads(route.query)
  const { period } = reads
  const days = Number(period)
  const every = { every: EVERY_MS }
  const stats = useQuery(...reads.stats, every)
  const active = useQuery(...reads.active, every)
  const nodes = useQuery(...reads.nodes, every)
  const series = useQuery(...reads.series)
  const { online } = useLive()
  useSales(() => invalidate('stats', 'payments'))
  const synced = stats.data && (stats.data.last_sync_at ?? null)
  return (
    <>
      <PageHeader
        title={t.title}
        sub={
          <>
            {longDay(new Date())}
            {synced !== undefined && (
              <> · {synced === null ? t.neverSynced : t.synced(relative(synced))}</>
            )}
          </>
        }
      >
        <Segments
          label={t.period}
          value={period}
          onValue={(value) => setQuery({ days: value === '30' ? '' : value }, { replace: true })}
          options={PERIODS.map((value) => ({
            value,
            label: value === '365' ? t.year : t.lastDays(Number(value)),
          }))}
        />
      </PageHeader>
      <Attention stats={stats.data} nodes={nodes.data} />
      <Kpis stats={stats} series={series} days={days} />
      <div class="grid two">
        <SalesCard series={series} days={days} />
        <NodesCard nodes={nodes} active={active.data} online={online?.customers} />
        <PaymentsCard />
        <PlansCard active={active} />
      </div>
    </>
  )
}
