/** The delivery log of outbound events: list, send again, test. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { resendEvent, sendTestEvent } from '#src/domain/notify/event-delivery.ts'
import { type AppEnv, type Http, whileHeard } from '../context.ts'
import { pagedJson, pageOf, pageQuery } from '../paging.ts'
import { readQuery } from '../validate.ts'
import { attemptView, eventView } from '../views.ts'

export const eventsQuery = v.object(pageQuery)

export function eventRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/events', async (c) => {
      const page = pageOf(readQuery(c, eventsQuery))
      const { rows, total } = await whileHeard(s, c).reads.ask('events', page)
      const last = rows.at(-1)
      return pagedJson(
        c,
        rows.map(({ row }) => eventView(row)),
        page,
        total,
        last ? { value: last.row.createdAt, rowid: last.rowid } : null,
      )
    })
    .post('/events/:id/resend', async (c) =>
      c.json(attemptView(await resendEvent(s, c.get('actor'), c.req.param('id')))),
    )
    .post('/settings/webhook/test', async (c) =>
      c.json(attemptView(await sendTestEvent(s, c.get('actor')))),
    )
}
