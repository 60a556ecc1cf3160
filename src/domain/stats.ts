/** What the dashboard shows: counts as they are now, and days gone by. */
import { listNodes } from '#db/nodes.ts'
import type { Node } from '#db/schema.ts'
import { countAll, countNewUsers, sumPaid, sumSamples, sumTraffic } from '#db/stats.ts'
import { addDays, type DaySpan, formatTimestamp, lastDays } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'config' | 'clock'>

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
export function currentStats(s: Deps) {
  const { timezone, currency } = s.config
  const at = s.clock.now()
  const counted = countAll(s.db, formatTimestamp(at), formatTimestamp(addDays(at, EXPIRING_DAYS)))
  const days = lastDays(timezone, at, MONTH_DAYS)
  const paidIn = (span: { from: string; to: string }) => sumPaid(s.db, span.from, span.to, currency)
  const today = paidIn(spanOf(days.slice(-1)))
  const month = paidIn(spanOf(days))
  const nodes = listNodes(s.db)
  return {
    users: counted.users,
    subscriptions: counted.subscriptions,
    nodes: nodeCounts(nodes),
    payments: {
      pending: counted.pending,
      paidToday: today.paid,
      paid30d: month.paid,
      review: counted.review,
    },
    revenue: { today: today.revenue, days30: month.revenue, currency },
    devices: counted.devices,
    expiring3d: counted.expiring,
    traffic: sumTraffic(s.db),
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
export function dailyStats(s: Deps, count: number): DayStats[] {
  const { timezone, currency } = s.config
  const days = lastDays(timezone, s.clock.now(), count)
  const samples = sumSamples(s.db, days[0]?.day ?? '')
  return days.map(({ day, from, to }) => ({
    date: day,
    users: countNewUsers(s.db, from, to),
    ...sumPaid(s.db, from, to, currency),
    up: samples.get(day)?.up ?? 0,
    down: samples.get(day)?.down ?? 0,
  }))
}
