/** The subscriptions listing, and what an admin does to one subscription. */

import * as v from 'valibot'
import type { Cursor } from '#db/paging.ts'
import {
  SUBSCRIPTION_SORTS,
  SUBSCRIPTION_STATES,
  type SubscriptionSort,
} from '#db/subscription-listing.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { extraGb, quotaGb, quotaPeriod } from '#db/values.ts'
import { groupLabels } from '#src/domain/labels.ts'
import { changeToPlan, previewPlan } from '#src/domain/subscriptions/change.ts'
import { editSubscription, extend } from '#src/domain/subscriptions/expiry.ts'
import {
  disable,
  enable,
  hold,
  resetSubscriptionTraffic,
  resume,
  revoke,
} from '#src/domain/subscriptions/subscriptions.ts'
import { omitUndefined } from '#src/lib/omit-undefined.ts'
import { GB } from '#src/lib/sizes.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { flag, integer, plainText, timestamp, timestampText, wantedDays } from '#src/lib/values.ts'
import { paged } from '../answers.ts'
import { whileHeard } from '../context.ts'
import { adminOperations, operation } from '../operation.ts'
import { onePage, pageOf, pageQuery } from '../paging.ts'
import { ok, uuid } from '../schemas/fields.ts'
import {
  disabled,
  held,
  prospect,
  resumed,
  subscription,
  trafficReset,
} from '../schemas/subscription.ts'
import { queryTgId, searchText } from '../validate.ts'
import { prospectView, subscriptionView } from '../views.ts'

const STATES = [...SUBSCRIPTION_STATES, 'all'] as const
/** The interface's words, from before subscriptions could be limited or disabled. */
const SAID_STATES = 'must be one of active, held, expired, revoked, all'

const listing = v.object({
  ...pageQuery,
  status: v.optional(v.picklist(STATES, SAID_STATES), 'all'),
  node: v.optional(v.string()),
  node_group: v.optional(v.string()),
  plan: v.optional(v.string()),
  tg_id: v.optional(queryTgId),
  q: v.optional(searchText),
  expires_before: v.optional(timestampText),
  sort: v.optional(
    v.picklist(SUBSCRIPTION_SORTS, `must be one of ${SUBSCRIPTION_SORTS.join(', ')}`),
    'created_at',
  ),
})

const extension = v.object({ days: integer(1, 3650) })

const change = v.object({
  plan: plainText(64),
  days: v.optional(wantedDays),
  preview: v.optional(flag),
})

const edition = v.object({
  expires_at: v.optional(timestamp),
  node: v.optional(v.string('must be a string')),
  node_group: v.optional(v.nullable(v.string('must be a string'))),
  quota_gb: v.optional(v.nullable(quotaGb)),
  quota_period: v.optional(quotaPeriod),
  extra_gb: v.optional(extraGb),
})

/** What of a quota is to change, by the names that rows have. */
function quotaEdition({ quota_gb, quota_period, extra_gb }: v.InferOutput<typeof edition>) {
  const bytes = quota_gb === undefined ? undefined : quota_gb === null ? null : quota_gb * GB
  const extraBytes = extra_gb === undefined ? undefined : extra_gb * GB
  const changes = omitUndefined({ quotaBytes: bytes, quotaPeriod: quota_period, extraBytes })
  return Object.keys(changes).length === 0 ? undefined : changes
}

function nextCursor(last: ListedSubscription | undefined, sort: SubscriptionSort): Cursor | null {
  if (!last) return null
  return {
    value: sort === 'created_at' ? last.row.createdAt : last.row.expiresAt,
    key: last.row.seq,
  }
}

const params = { uuid }

export const subscriptionOperations = adminOperations('Subscriptions', [
  operation(
    {
      method: 'get',
      path: '/subscriptions',
      scope: 'subscriptions:read',
      summary: 'List and search subscriptions',
      query: listing,
      ok: paged(subscription),
    },
    async ({ s, c, query }) => {
      const wanted = query()
      const page = pageOf(wanted)
      const now = s.clock.now()
      const { status, node, plan, tg_id: tgId, q } = wanted
      const { node_group: nodeGroup, expires_before: expiresBefore } = wanted
      const state = status === 'all' ? undefined : status
      const filter = omitUndefined({ state, node, nodeGroup, plan, tgId, text: q, expiresBefore })
      const { rows, total } = await whileHeard(s, c).reads.ask(
        'subscriptions',
        filter,
        wanted.sort,
        page,
        formatTimestamp(now),
      )
      const next = nextCursor(rows.at(-1), wanted.sort)
      const groupOf = groupLabels(s)
      return onePage(
        c,
        rows.map((found) => subscriptionView(found, now, groupOf(found.row))),
        page,
        total,
        next,
      )
    },
  ),
  operation(
    {
      method: 'patch',
      path: '/subscriptions/{uuid}',
      scope: 'subscriptions:write',
      summary: 'Change when a subscription ends, its node, its group of nodes, or its traffic',
      params,
      body: edition,
      ok: subscription,
    },
    async ({ s, actor, params, body }) => {
      const wanted = await body()
      const { expires_at: expiresAt, node, node_group: nodeGroup } = wanted
      const edition = { expiresAt, node, nodeGroup, quota: quotaEdition(wanted) }
      const edited = await editSubscription(s, actor, params.uuid, edition)
      return subscriptionView(edited, s.clock.now(), groupLabels(s)(edited.row))
    },
  ),
  operation(
    {
      method: 'post',
      path: '/subscriptions/{uuid}/extend',
      scope: 'subscriptions:write',
      summary: 'Add days to a subscription',
      params,
      body: extension,
      ok: subscription,
    },
    async ({ s, actor, params, body }) => {
      const { days } = await body()
      const extended = await extend(s, actor, params.uuid, days)
      return subscriptionView(extended, s.clock.now(), groupLabels(s)(extended.row))
    },
  ),
  operation(
    {
      method: 'post',
      path: '/subscriptions/{uuid}/change',
      scope: 'subscriptions:write',
      summary:
        'Change the days of a subscription for those of another plan; preview: what they would be',
      params,
      body: change,
      ok: v.union([subscription, prospect]),
      refusals: [429],
    },
    async ({ s, actor, params, body }) => {
      const { preview, ...wanted } = await body()
      if (preview) return prospectView(await previewPlan(s, 'admin', params.uuid, wanted))
      const changed = await changeToPlan(s, actor, 'admin', params.uuid, wanted)
      return subscriptionView(changed, s.clock.now(), groupLabels(s)(changed.row))
    },
  ),
  operation(
    {
      method: 'post',
      path: '/subscriptions/{uuid}/hold',
      scope: 'subscriptions:write',
      summary: 'Pause a subscription; its time stops',
      params,
      ok: held,
      refusals: [400],
    },
    async ({ s, actor, params }) => {
      const { heldAt } = await hold(s, actor, params.uuid)
      return { ok: true, held_at: heldAt as string }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/subscriptions/{uuid}/resume',
      scope: 'subscriptions:write',
      summary: 'Let a paused subscription run on',
      params,
      ok: resumed,
      refusals: [400],
    },
    async ({ s, actor, params }) => {
      const row = await resume(s, actor, params.uuid)
      return { ok: true, expires_at: row.expiresAt }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/subscriptions/{uuid}/disable',
      scope: 'subscriptions:write',
      summary: 'Switch a subscription off; its time runs on',
      params,
      ok: disabled,
      refusals: [400],
    },
    async ({ s, actor, params }) => {
      const { disabledAt } = await disable(s, actor, params.uuid)
      return { ok: true, disabled_at: disabledAt as string }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/subscriptions/{uuid}/enable',
      scope: 'subscriptions:write',
      summary: 'Switch a subscription on again',
      params,
      ok,
      refusals: [400],
    },
    async ({ s, actor, params }) => {
      await enable(s, actor, params.uuid)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/subscriptions/{uuid}/revoke',
      scope: 'subscriptions:write',
      summary: 'End a subscription for good',
      params,
      ok,
    },
    async ({ s, actor, params }) => {
      await revoke(s, actor, params.uuid)
      return { ok: true }
    },
  ),
  operation(
    {
      method: 'post',
      path: '/subscriptions/{uuid}/reset-traffic',
      scope: 'subscriptions:write',
      summary: 'Count the traffic of a subscription from 0 again',
      params,
      ok: trafficReset,
    },
    async ({ s, actor, params }) => ({
      ok: await resetSubscriptionTraffic(s, actor, params.uuid),
    }),
  ),
])
