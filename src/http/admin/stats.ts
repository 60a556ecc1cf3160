/** Statistics, traffic, the manual sync and the audit log. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { activeStats, currentStats, dailyStats } from '#src/domain/installation/stats.ts'
import { syncNow } from '#src/domain/nodes/nodes.ts'
import { TRAFFIC_CONSIDERED, trafficReport } from '#src/domain/nodes/traffic.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { flag, queryInteger } from '#src/lib/values.ts'
import { type AppEnv, type Http, whileHeard } from '../context.ts'
import { pagedJson, pageHeaders, pageOf, pageQuery } from '../paging.ts'
import { readOptionalJson, readQuery } from '../validate.ts'
import { activeView, auditView, statsView } from '../views.ts'

const TRAFFIC_READ_MS = 2000

export const seriesQuery = v.object({ days: v.optional(queryInteger(1, 400), '30') })

/** Whole unless a limit is given. */
export const trafficQuery = v.object({ limit: pageQuery.limit, cursor: pageQuery.cursor })

export const syncBody = v.object({ force: v.optional(flag, false) })

export const auditQuery = v.object({
  ...pageQuery,
  action: v.optional(v.string()),
  admin: v.optional(v.string()),
})

export function statsRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/stats', async (c) => c.json(statsView(await currentStats(whileHeard(s, c)))))
    .get('/stats/series', async (c) =>
      c.json(await dailyStats(whileHeard(s, c), readQuery(c, seriesQuery).days)),
    )
    .get('/stats/active', async (c) => c.json(activeView(await activeStats(whileHeard(s, c)))))
    .get('/traffic', async (c) => {
      const query = readQuery(c, trafficQuery)
      const page = pageOf({ ...query, limit: query.limit ?? TRAFFIC_CONSIDERED })
      // Further pages go on from what the first one has read.
      if (page.cursor === null) await s.nodeSync.readTraffic(TRAFFIC_READ_MS)
      const report = await trafficReport(whileHeard(s, c), page)
      pageHeaders(c, report.entries, page, report.count, report.next)
      return c.json({
        entries: report.entries.map((entry) => ({
          uuid: entry.uuid,
          username: entry.username,
          node_label: entry.nodeLabel,
          up: entry.up,
          down: entry.down,
          up_fmt: entry.upFmt,
          down_fmt: entry.downFmt,
          total_fmt: entry.totalFmt,
        })),
        up: report.up,
        down: report.down,
        total_fmt: report.totalFmt,
      })
    })
    .post('/sync', async (c) => {
      const body = await readOptionalJson(c, syncBody)
      const nodes = await syncNow(s, c.get('actor'), body.force)
      return c.json({ ok: nodes.every((node) => node.ok), nodes })
    })
    .get('/audit', async (c) => {
      const query = readQuery(c, auditQuery)
      const page = pageOf(query)
      const filter = omitUndefined({ action: query.action, admin: query.admin })
      const { rows, total } = await whileHeard(s, c).reads.ask('audit', filter, page)
      const last = rows.at(-1)
      return pagedJson(
        c,
        rows.map(auditView),
        page,
        total,
        last ? { value: last.at, rowid: last.id } : null,
      )
    })
}
