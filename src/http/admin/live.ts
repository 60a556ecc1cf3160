/** How nodes do at this moment, and what happens. */
import * as v from 'valibot'
import { listLive } from '#db/node-live.ts'
import { liveNode, onlineNow } from '#src/domain/nodes/live.ts'
import { eventStream } from '../answers.ts'
import { mayGoOn, sessionToken } from '../auth.ts'
import { STREAM_HEADERS } from '../live-feed.ts'
import { liveNodeView, uptimeView } from '../live-view.ts'
import { adminOperations, operation } from '../operation.ts'
import { code } from '../schemas/fields.ts'
import { liveNode as liveNodeAnswer, liveNodes } from '../schemas/live.ts'

export const liveOperations = adminOperations('Nodes', [
  operation(
    {
      method: 'get',
      path: '/nodes/live',
      scope: 'nodes:read',
      summary: 'How all nodes do at this moment, and how many are online',
      ok: liveNodes,
    },
    async ({ s }) => {
      const rows = await s.db.read(listLive)
      const now = s.clock.now()
      return { nodes: rows.map((row) => liveNodeView(row, now)), online: await onlineNow(s) }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/nodes/{code}/live',
      scope: 'nodes:read',
      summary: 'How a node does, and how often checks found it up on each of the last 90 days',
      params: { code },
      ok: liveNodeAnswer,
    },
    async ({ s, params }) => {
      const { uptime, ...row } = await liveNode(s, params.code)
      return { ...liveNodeView(row, s.clock.now()), uptime: uptime.map(uptimeView) }
    },
  ),
  operation(
    {
      method: 'get',
      path: '/live',
      scope: 'payments:read',
      summary: 'Nodes, who is online and sales as they happen: server-sent events',
      headers: { 'last-event-id': v.optional(v.string()) },
      ok: eventStream,
      refusals: [503],
    },
    ({ s, c, principal }) => {
      // Nobody would read what the answer to this had.
      if (c.req.method === 'HEAD') return new Response(null, { headers: STREAM_HEADERS })
      const token = sessionToken(c) ?? ''
      const reader = { adminId: principal.adminId, mayRead: () => mayGoOn(s, token) }
      return s.live.open(reader, c.req.header('last-event-id'))
    },
  ),
])
