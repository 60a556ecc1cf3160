/** The delivery log of outbound events: list, send again. */
import * as v from 'valibot'
import { resendEvent } from '#src/domain/notify/event-delivery.ts'
import { paged } from '../answers.ts'
import { whileHeard } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { onePage, pageOf, pageQuery } from '../paging.ts'
import { attempt, event } from '../schemas/event.ts'
import { attemptView, eventView } from '../views.ts'

export const eventOperations = adminOperations('Data', [
  operation(
    {
      method: 'get',
      path: '/events',
      scope: 'events:read',
      summary: 'What was sent to the webhook, and what became of it',
      query: v.object(pageQuery),
      ok: paged(event),
    },
    async ({ s, c, query }) => {
      const page = pageOf(query())
      const { rows, total } = await whileHeard(s, c).reads.ask('events', page)
      const last = rows.at(-1)
      return onePage(
        c,
        rows.map(eventView),
        page,
        total,
        last ? { value: last.createdAt, key: last.seq } : null,
      )
    },
  ),
  operation(
    {
      method: 'post',
      path: '/events/{id}/resend',
      scope: 'events:write',
      summary: 'Send an event again now, with its id',
      params: { id: v.string() },
      ok: attempt,
      refusals: [400],
    },
    async ({ s, actor, params }) => attemptView(await resendEvent(s, actor, params.id)),
  ),
])
