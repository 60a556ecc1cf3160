/** What the owner of a link is shown. */

import * as v from 'valibot'
import { count } from '#db/values.ts'
import { timestamp, url } from './fields.ts'
import { endlessEntry, groupEntries, waitingEntries } from './subscription.ts'

export const cabinet = v.strictObject({
  username: v.nullable(v.string()),
  subscriptions: v.array(
    v.strictObject({
      node: v.string(),
      plan: v.string(),
      plan_label: v.string(),
      expires_at: timestamp,
      days_left: count,
      ...endlessEntry,
      ...waitingEntries,
      ...groupEntries,
    }),
  ),
  sub_link: url,
  nodes_available: v.array(v.string()),
})

export type CabinetAnswer = v.InferOutput<typeof cabinet>
