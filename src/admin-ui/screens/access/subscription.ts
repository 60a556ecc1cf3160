/** One subscription, wherever something is done to it. */
import type { api, Row } from '#src/admin-ui/api.ts'
import { ENDLESS, isWaiting } from '#src/admin-ui/days-left.ts'
import { date, userName } from '#src/admin-ui/format.ts'
import { invalidate } from '#src/admin-ui/query.ts'
import { access } from './texts.ts'

export type Subscription = Row<typeof api.subscriptions.$get>

/** What is shown of access is asked for again. */
export const accessChanged = () =>
  invalidate('user ', 'users', 'subscriptions', 'stats', 'traffic', 'node-groups', 'change:')

/** Where it is: its group where it has one, else its node. */
export const placeOf = (s: Pick<Subscription, 'node_label' | 'node_group_label'>) =>
  s.node_group_label ?? s.node_label

/** The day on which a subscription ends, or why there is none. */
export function endText(one: Pick<Subscription, 'expires_at' | 'start_seconds' | 'started_at'>) {
  if (isWaiting(one)) return access().firstUse
  return one.expires_at === ENDLESS ? access().endless : date(one.expires_at)
}

/** `the subscription of @anna on Amsterdam` */
export const nameOf = (s: Subscription) =>
  access().subscriptionOf(userName(s), placeOf(s), s.node_group !== undefined)
