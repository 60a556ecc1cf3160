/** Traffic by subscription. */
import * as v from 'valibot'
import { TRAFFIC_CONSIDERED, trafficReport } from '#src/domain/nodes/traffic.ts'
import { pageIn } from '../answers.ts'
import { whileHeard } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { pageHeaders, pageOf, pageQuery } from '../paging.ts'
import { traffic } from '../schemas/subscription.ts'

const READ_MS = 2000

/** Whole unless a limit is given. */
const trafficQuery = v.object({ limit: pageQuery.limit, cursor: pageQuery.cursor })

export const trafficOperations = adminOperations('Subscriptions', [
  operation(
    {
      method: 'get',
      path: '/traffic',
      scope: 'stats:read',
      summary:
        'Traffic by subscription, largest first: the 5000 largest, or so many of them a page',
      query: trafficQuery,
      ok: pageIn(traffic),
    },
    async ({ s, c, query }) => {
      const { limit = TRAFFIC_CONSIDERED, cursor } = query()
      const page = pageOf({ limit, cursor })
      // Further pages go on from what the first one has read.
      if (page.cursor === null) await s.nodeSync.readTraffic(READ_MS)
      const report = await trafficReport(whileHeard(s, c), page)
      pageHeaders(c, report.entries, page, report.count, report.next)
      return {
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
      }
    },
  ),
])
