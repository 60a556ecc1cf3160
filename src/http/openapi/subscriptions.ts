/** Subscriptions and their traffic. */

import { trafficQuery } from '#src/http/admin/stats.ts'
import { edition, extension, listing } from '#src/http/admin/subscriptions.ts'
import { ok, uuid } from '#src/http/schemas/fields.ts'
import {
  held,
  resumed,
  subscription,
  traffic,
  trafficReset,
} from '#src/http/schemas/subscription.ts'
import { adminOperations, paged, pageIn } from './operation.ts'

const params = { uuid }

export const subscriptionOperations = adminOperations('Subscriptions', [
  {
    method: 'get',
    path: '/subscriptions',
    summary: 'List and search subscriptions',
    query: listing,
    ok: paged(subscription),
  },
  {
    method: 'patch',
    path: '/subscriptions/{uuid}',
    summary: 'Change when a subscription ends, or its node',
    params,
    body: edition,
    ok: subscription,
  },
  {
    method: 'post',
    path: '/subscriptions/{uuid}/extend',
    summary: 'Add days to a subscription',
    params,
    body: extension,
    ok: subscription,
  },
  {
    method: 'post',
    path: '/subscriptions/{uuid}/hold',
    summary: 'Pause a subscription; its time stops',
    params,
    ok: held,
    refusals: [400],
  },
  {
    method: 'post',
    path: '/subscriptions/{uuid}/resume',
    summary: 'Let a paused subscription run on',
    params,
    ok: resumed,
    refusals: [400],
  },
  {
    method: 'post',
    path: '/subscriptions/{uuid}/revoke',
    summary: 'End a subscription for good',
    params,
    ok,
  },
  {
    method: 'post',
    path: '/subscriptions/{uuid}/reset-traffic',
    summary: 'Count the traffic of a subscription from 0 again',
    params,
    ok: trafficReset,
  },
  {
    method: 'get',
    path: '/traffic',
    summary: 'Traffic by subscription, largest first: the 5000 largest, or so many of them a page',
    query: trafficQuery,
    ok: pageIn(traffic),
  },
])
