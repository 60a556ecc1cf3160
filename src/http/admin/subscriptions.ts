/** The subscriptions listing, and what an admin does to one subscription. */
import { Hono } from 'hono'
import * as v from 'valibot'
import type { Cursor } from '#db/paging.ts'
import { SUBSCRIPTION_SORTS, type SubscriptionSort } from '#db/subscription-listing.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { editSubscription, extend } from '#src/domain/subscriptions/expiry.ts'
import {
  hold,
  resetSubscriptionTraffic,
  resume,
  revoke,
} from '#src/domain/subscriptions/subscriptions.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { integer, timestamp, timestampText } from '#src/lib/values.ts'
import { type AppEnv, type Http, whileHeard } from '../context.ts'
import { pagedJson, pageOf, pageQuery } from '../paging.ts'
import { queryTgId, readJson, readQuery, searchText } from '../validate.ts'
import { subscriptionView } from '../views.ts'

const STATES = ['active', 'held', 'expired', 'revoked', 'all'] as const

export const listing = v.object({
  ...pageQuery,
  status: v.optional(v.picklist(STATES, `must be one of ${STATES.join(', ')}`), 'all'),
  node: v.optional(v.string()),
  plan: v.optional(v.string()),
  tg_id: v.optional(queryTgId),
  q: v.optional(searchText),
  expires_before: v.optional(timestampText),
  sort: v.optional(
    v.picklist(SUBSCRIPTION_SORTS, `must be one of ${SUBSCRIPTION_SORTS.join(', ')}`),
    'created_at',
  ),
})

export const extension = v.object({ days: integer(1, 3650) })

export const edition = v.object({
  expires_at: v.optional(timestamp),
  node: v.optional(v.string('must be a string')),
})

function nextCursor(last: ListedSubscription | undefined, sort: SubscriptionSort): Cursor | null {
  if (!last) return null
  return {
    value: sort === 'created_at' ? last.row.createdAt : last.row.expiresAt,
    rowid: last.rowid,
  }
}

export function subscriptionRoutes(s: Http) {
  return new Hono<AppEnv>()
    .get('/', async (c) => {
      const query = readQuery(c, listing)
      const page = pageOf(query)
      const now = s.clock.now()
      const { status, node, plan, tg_id: tgId, q, expires_before: expiresBefore } = query
      const state = status === 'all' ? undefined : status
      const filter = omitUndefined({ state, node, plan, tgId, text: q, expiresBefore })
      const { rows, total } = await whileHeard(s, c).reads.ask(
        'subscriptions',
        filter,
        query.sort,
        page,
        formatTimestamp(now),
      )
      const next = nextCursor(rows.at(-1), query.sort)
      return pagedJson(
        c,
        rows.map((row) => subscriptionView(row, now)),
        page,
        total,
        next,
      )
    })
    .patch('/:uuid', async (c) => {
      const { expires_at: expiresAt, node } = await readJson(c, edition)
      const changes = { expiresAt, node }
      const edited = await editSubscription(s, c.get('actor'), c.req.param('uuid'), changes)
      return c.json(subscriptionView(edited, s.clock.now()))
    })
    .post('/:uuid/extend', async (c) => {
      const { days } = await readJson(c, extension)
      const extended = await extend(s, c.get('actor'), c.req.param('uuid'), days)
      return c.json(subscriptionView(extended, s.clock.now()))
    })
    .post('/:uuid/hold', async (c) => {
      const row = await hold(s, c.get('actor'), c.req.param('uuid'))
      return c.json({ ok: true, held_at: row.heldAt })
    })
    .post('/:uuid/resume', async (c) => {
      const row = await resume(s, c.get('actor'), c.req.param('uuid'))
      return c.json({ ok: true, expires_at: row.expiresAt })
    })
    .post('/:uuid/revoke', async (c) => {
      await revoke(s, c.get('actor'), c.req.param('uuid'))
      return c.json({ ok: true })
    })
    .post('/:uuid/reset-traffic', async (c) => {
      const ok = await resetSubscriptionTraffic(s, c.get('actor'), c.req.param('uuid'))
      return c.json({ ok })
    })
}
