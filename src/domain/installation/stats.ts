/** What the dashboard shows: counts as they are now, and days gone by. */
import { listNodes } from '#db/nodes.ts'
import { listPlans } from '#db/plans.ts'
import type { Node } from '#db/schema/index.ts'
import { listSamples } from '#db/stats.ts'
import {
  addDays,
  type DaySpan,
  formatTimestamp,
  lastDays,
  later,
  SECOND_MS,
} from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'reads' | 'config' | 'clock'>

const EXPIRING_DAYS = 3
const MONTH_DAYS = 30

const spanOf = (days: DaySpan[]) => ({
  from: days[0]?.from ?? '',
  to: days.at(-1)?.to ?? '',
})

/** The state of nodes: `down` are active ones whose last sync failed or found their core not running. */
function nodeCounts(nodes: Node[]) {
  const active = nodes.filter((node) => node.status === 'active')
  return {
    total: nodes.length,
    active: active.length,
    down: active.filter((node) => node.lastError !== null).length,
  }
}

/** When a sync last reached a node; null before the first time. */
function lastSyncAt(nodes: Node[]): string | null {
  const times = nodes.flatMap((node) => node.lastSeenAt ?? [])
  return times.sort().at(-1) ?? null
}

/** The counts of this moment. Days are those of TIMEZONE; revenue is in CURRENCY, without what was refunded. */
export async function currentStats(s: Deps) {
  const { timezone, currency } = s.config
  const at = s.clock.now()
  const days = lastDays(timezone, at, MONTH_DAYS)
  const { today, month, ...counted } = await s.reads.ask('counts', {
    now: formatTimestamp(at),
    soon: formatTimestamp(addDays(at, EXPIRING_DAYS)),
    today: spanOf(days.slice(-1)),
    month: spanOf(days),
    currency,
  })
  const nodes = await s.db.read(listNodes)
  return {
    users: counted.users,
    subscriptions: counted.subscriptions,
    nodes: nodeCounts(nodes),
    payments: {
      pending: counted.pending,
      paidToday: today.paid,
      paid30d: month.paid,
      review: counted.review,
      orphans: counted.orphans,
    },
    revenue: { today: today.revenue, days30: month.revenue, currency },
    devices: counted.devices,
    expiring3d: counted.expiring,
    traffic: counted.traffic,
    lastSyncAt: lastSyncAt(nodes),
    syncBlocked: nodes.filter((node) => node.syncBlocked).map((node) => node.code),
  }
}

export interface DayStats {
  date: string
  /** New ones. */
  users: number
  paid: number
  revenue: number
  up: number
  down: number
}

/** The last `count` days of TIMEZONE, today included, oldest first. Traffic is kept by UTC days and shown on the day of the same date. */
export async function dailyStats(s: Deps, count: number): Promise<DayStats[]> {
  const { timezone, currency } = s.config
  const days = lastDays(timezone, s.clock.now(), count)
  const counts = await s.reads.ask('days', days, currency)
  return days.flatMap(({ day }, at) => {
    const counted = counts[at]
    return counted ? { date: day, ...counted } : []
  })
}

/** Traffic of a node on the same days. */
export async function dailyTraffic(s: Omit<Deps, 'reads'>, node: string, count: number) {
  const days = lastDays(s.config.timezone, s.clock.now(), count)
  const rows = await s.db.read((q) => listSamples(q, node, days[0]?.day ?? ''))
  const samples = new Map(rows.map((row) => [row.day, row]))
  return days.map(({ day }) => ({
    day,
    up: samples.get(day)?.up ?? 0,
    down: samples.get(day)?.down ?? 0,
  }))
}

const ENDING_DAYS = 14

/** Active subscriptions by plan and by node, most first, and by the day of TIMEZONE on which they end, from today on. */
export async function activeStats(s: Deps) {
  const now = s.clock.now()
  const days = lastDays(s.config.timezone, addDays(now, ENDING_DAYS - 1), ENDING_DAYS)
  // What ended earlier today has ended.
  const next = formatTimestamp(later(now, SECOND_MS))
  const spans = days.map((span, at) => (at === 0 ? { ...span, from: next } : span))
  const { rows, endings } = await s.reads.ask('active', formatTimestamp(now), spans)
  const sum = (name: 'node' | 'plan') => {
    const sums = new Map<string, number>()
    for (const row of rows) sums.set(row[name], (sums.get(row[name]) ?? 0) + row.active)
    return [...sums].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  }
  const plans = new Map(listPlans(s.db).map(({ code, label }) => [code, label]))
  return {
    byPlan: sum('plan').map(([plan, active]) => ({
      plan,
      planLabel: plans.get(plan) ?? plan,
      active,
    })),
    byNode: sum('node').map(([node, active]) => ({ node, active })),
    endings: days.map(({ day }, at) => ({ date: day, count: endings[at] ?? 0 })),
  }
}
