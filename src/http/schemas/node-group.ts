/** Groups of nodes as the API shows them. */
import * as v from 'valibot'
import { count } from '#db/values.ts'
import { ROUTING_PRESETS } from '#src/lib/routing-presets.ts'
import type { nodeGroupView } from '../views.ts'
import { code, describes, timestamp } from './fields.ts'
import { syncedNode } from './node.ts'

export const nodeGroup = describes<ReturnType<typeof nodeGroupView>>()(
  v.strictObject({
    code,
    label: v.string(),
    nodes: v.array(v.string()),
    sort_order: count,
    hide_down: v.boolean(),
    /** Of its own only. */
    routing_preset: v.exactOptional(v.picklist(ROUTING_PRESETS)),
    routing_ads: v.exactOptional(v.boolean()),
    /** Open subscriptions with this group, those that have run out among them. */
    subscriptions: count,
    created_at: timestamp,
  }),
)

/** `sync`: what has come of the members that joined or left. */
export const editedNodeGroup = v.strictObject({ ...nodeGroup.entries, sync: v.array(syncedNode) })
