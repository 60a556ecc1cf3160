/** What is made of how nodes do. */
import type { LiveNode } from '#src/admin-ui/live.ts'

export const UPTIME_DAYS = 90
const DAY_MS = 86_400_000

/** Whether what was counted of it last is so now. */
export const isCounted = (node: LiveNode): boolean =>
  node.at !== null && node.down_since === null && node.state !== 'pending'

/** What goes through all nodes, in bytes per second; null where of none it is known. */
export function ratesOf(nodes: readonly LiveNode[]) {
  const sum = (rates: (number | null)[]) =>
    rates.reduce((all, rate) => (rate === null ? all : (all ?? 0) + rate), null)
  const counted = nodes.filter(isCounted)
  return {
    up: sum(counted.map((node) => node.up_rate)),
    down: sum(counted.map((node) => node.down_rate)),
  }
}

/** Nodes that somebody should look at, those that are down before all others. */
export const faultyOf = (nodes: readonly LiveNode[]): LiveNode[] => [
  ...nodes.filter(({ state }) => state === 'down'),
  ...nodes.filter(({ state }) => state === 'trouble'),
]

interface Checks {
  ok: number
  bad: number
}

/** The last 90 days (UTC) up to the one of `at`, each with its checks: none on those that nothing is told of. */
export function daysOf(told: readonly (Checks & { day: string })[], at: Date) {
  const byDay = new Map(told.map((one) => [one.day, one]))
  return Array.from({ length: UPTIME_DAYS }, (_, before) => {
    const ago = (UPTIME_DAYS - 1 - before) * DAY_MS
    const day = new Date(at.getTime() - ago).toISOString().slice(0, 10)
    return byDay.get(day) ?? { day, ok: 0, bad: 0 }
  })
}

/** How many checks there were, and the share of those that found it up, rounded down: all is only what is all. Null without any. */
export function uptimeOf(days: readonly Checks[]) {
  const ok = days.reduce((sum, day) => sum + day.ok, 0)
  const checks = days.reduce((sum, day) => sum + day.ok + day.bad, 0)
  return checks === 0 ? null : { checks, share: Math.floor((ok * 1000) / checks) / 1000 }
}
