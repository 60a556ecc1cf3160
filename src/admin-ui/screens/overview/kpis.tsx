/** Four numbers, with their way over the period and how it compares with the one before. */
import { Spark } from '#src/admin-ui/charts/spark.tsx'
import { bytes, money, number, percent } from '#src/admin-ui/format.ts'
import { Icon, type IconName } from '#src/admin-ui/kit/icons.tsx'
import { Failed } from '#src/admin-ui/kit/state.tsx'
import type { Query } from '#src/admin-ui/query.ts'
import { type DayStats, overviewWords, type Stats } from './words.ts'

interface Kpi {
  icon: IconName
  label: string
  value: string | undefined
  /** By day, oldest first. */
  line?: number[]
  sub?: string | undefined
  /** Against the period before; null where that had nothing. */
  change?: number | null
}

function Change({ change, days }: { change: number; days: number }) {
  const t = overviewWords()
  const up = change > 0
  if (Math.abs(change) < 0.0005) return <>{t.asBefore(days)}</>
  return (
    <>
      <span class={up ? 'up' : 'down'}>
        <Icon name={up ? 'upRight' : 'downRight'} />
        {percent(Math.abs(change), 1)}
        <span class="sr">{up ? '+' : '−'}</span>
      </span>
      {t.vsBefore(days)}
    </>
  )
}

function KpiCard({ kpi, days }: { kpi: Kpi; days: number }) {
  const { change } = kpi
  return (
    <article class="card kpi">
      <h2>
        <Icon name={kpi.icon} />
        {kpi.label}
      </h2>
      {kpi.value === undefined ? (
        <div class="skel tall" />
      ) : (
        <div class="kpi-value">{kpi.value}</div>
      )}
      {kpi.line && <Spark values={kpi.line} />}
      <p class="kpi-sub">
        {kpi.sub ??
          (change !== undefined && change !== null && <Change change={change} days={days} />)}
      </p>
    </article>
  )
}

/** The last days of a series, those before them where all are there, and one number of each. */
function flow(series: DayStats[] | undefined, days: number, of: (day: DayStats) => number) {
  if (!series) return { value: undefined }
  const sum = (list: DayStats[]) => list.reduce((total, day) => total + of(day), 0)
  const now = series.slice(-days)
  const before = series.slice(-2 * days, -days)
  const was = before.length === days ? sum(before) : 0
  return {
    value: sum(now),
    line: now.map(of),
    change: was > 0 ? (sum(now) - was) / was : null,
  }
}

/** Those that are not active: `3 without traffic, 2 on hold, 12 expired`. */
function othersOf({ limited = 0, held, expired }: Stats['subscriptions']): string {
  const t = overviewWords()
  const others = t.heldAndExpired(number(held), number(expired))
  return limited > 0 ? `${t.usedUp(number(limited))}, ${others}` : others
}

export function Kpis(p: { stats: Query<Stats>; series: Query<DayStats[]>; days: number }) {
  const t = overviewWords()
  const { data: stats } = p.stats
  if (!stats && p.stats.error) {
    return (
      <section class="card">
        <Failed error={p.stats.error} retry={p.stats.reload} />
      </section>
    )
  }
  const revenue = flow(p.series.data, p.days, (day) => day.revenue)
  const users = flow(p.series.data, p.days, (day) => day.users)
  const traffic = flow(p.series.data, p.days, (day) => day.up + day.down)
  const counts = stats?.subscriptions
  const kpis: Kpi[] = [
    {
      icon: 'subscriptions',
      label: t.activeSubscriptions,
      value: counts && number(counts.active),
      sub: counts && othersOf(counts),
    },
    {
      icon: 'payments',
      label: t.revenue,
      ...revenue,
      value:
        revenue.value === undefined ? undefined : money(revenue.value, stats?.revenue.currency),
    },
    {
      icon: 'users',
      label: t.newUsers,
      ...users,
      value: users.value === undefined ? undefined : number(users.value),
    },
    {
      icon: 'traffic',
      label: t.traffic,
      ...traffic,
      value: traffic.value === undefined ? undefined : bytes(traffic.value),
    },
  ]
  return (
    <div class="grid kpis">
      {kpis.map((kpi) => (
        <KpiCard key={kpi.label} kpi={kpi} days={p.days} />
      ))}
    </div>
  )
}
