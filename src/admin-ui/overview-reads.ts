/** What the overview shows first: asked for by the page itself, while the screen is still on its way. */
import { api, ok } from './api.ts'

export const PERIODS = ['7', '30', '90', '365'] as const
type Period = (typeof PERIODS)[number]
/** The series of a year has no year before it: the service gives at most 400 days. */
const MOST_DAYS = 400

/** The period that the address names, and the reads of the overview, each with its key. */
export function overviewReads(query: URLSearchParams) {
  const period: Period = PERIODS.find((one) => one === query.get('days')) ?? '30'
  const days = String(Math.min(MOST_DAYS, 2 * Number(period)))
  return {
    period,
    stats: ['stats', () => ok(api.stats.$get())],
    active: ['stats active', () => ok(api.stats.active.$get())],
    nodes: ['nodes', () => ok(api.nodes.$get())],
    series: [`stats series ${days}`, () => ok(api.stats.series.$get({ query: { days } }))],
  } as const
}
