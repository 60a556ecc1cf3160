/** One subscription, wherever something is done to it. */
import type { api, Row } from '#src/admin-ui/api.ts'
import { ENDLESS } from '#src/admin-ui/days-left.ts'
import { date, userName } from '#src/admin-ui/format.ts'
import { invalidate } from '#src/admin-ui/query.ts'
import { access } from './texts.ts'

export type Subscription = Row<typeof api.subscriptions.$get>

/** What is shown of access is asked for again. */
export const accessChanged = () =>
  invalidate('user ', 'users', 'subscriptions', 'stats', 'traffic', 'node-groups')

/** Where it is: its group where it has one, else its node. */
export const placeOf = (s: Pick<Subscription, 'node_label' | 'node_group_label'>) =>
  s.node_group_label ?? s.node_label

/** The day on which something ends, or that it has no end. */
export const endText = (end: string) => (end === ENDLESS ? access().endless : date(end))

/** `the subscription of @anna on Amsterdam` */
export const nameOf = (s: Subscription) =>
  access().subscriptionOf(userName(s), placeOf(s), s.node_group !== undefined)
