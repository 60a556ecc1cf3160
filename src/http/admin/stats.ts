/** Statistics and the audit log. */
import * as v from 'valibot'
import { activeStats, currentStats, dailyStats } from '#src/domain/installation/stats.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { queryInteger } from '#src/lib/values.ts'
import { paged } from '../answers.ts'
import { whileHeard } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { onePage, pageOf, pageQuery } from '../paging.ts'
import { auditEntry } from '../schemas/account.ts'
import { activeStats as active, stats, statsSeries } from '../schemas/stats.ts'
import { activeView, auditView, statsView } from '../views.ts'

export const seriesQuery = v.object({ days: v.optional(queryInteger(1, 400), '30') })

const auditQuery = v.object({
  ...pageQuery,
  action: v.optional(v.pipe(v.string(), v.maxLength(64, 'is too long'))),
  admin: v.optional(v.string()),
})

export const statsOperations = adminOperations('Data', [
  operation(
    {
      method: 'get',
      path: '/stats',
      scope: 'stats:read',
      summary: 'The counts of this moment',
      ok: stats,
    },
    async ({ s, c }) => statsView(await currentStats(whileHeard(s, c))),
  ),
  operation(
    {
      method: 'get',
      path: '/stats/series',
      scope: 'stats:read',
      summary: 'New users, payments and traffic day by day',
      query: seriesQuery,
      ok: statsSeries,
    },
    ({ s, c, query }) => dailyStats(whileHeard(s, c), query().days),
  ),
  operation(
    {
      method: 'get',
      path: '/stats/active',
      scope: 'stats:read',
      summary: 'Active subscriptions by plan and node, and when they end',
      ok: active,
    },
    async ({ s, c }) => activeView(await activeStats(whileHeard(s, c))),
  ),
  operation(
    {
      method: 'get',
      path: '/audit',
      scope: 'audit:read',
      summary: 'Who did what',
      query: auditQuery,
      ok: paged(auditEntry),
    },
    async ({ s, c, query }) => {
      const { action, admin, ...wanted } = query()
      const page = pageOf(wanted)
      const filter = omitUndefined({ action, admin })
      const { rows, total } = await whileHeard(s, c).reads.ask('audit', filter, page)
      const last = rows.at(-1)
      return onePage(
        c,
        rows.map(auditView),
        page,
        total,
        last ? { value: last.at, key: last.id } : null,
      )
    },
  ),
])
