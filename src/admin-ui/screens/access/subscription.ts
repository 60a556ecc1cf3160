/** One subscription, wherever something is done to it. */
import type { api, Row } from '#src/admin-ui/api.ts'
import { userName } from '#src/admin-ui/format.ts'
import { invalidate } from '#src/admin-ui/query.ts'
import { access } from './texts.ts'

export type Subscription = Row<typeof api.subscriptions.$get>

/** What is shown of access is asked for again. */
export const accessChanged = () => invalidate('user ', 'users', 'subscriptions', 'stats', 'traffic')

/** `the subscription of @anna on Amsterdam` */
export const nameOf = (s: Subscription) => access().subscriptionOf(userName(s), s.node_label)
