/** Outbound events and their delivery. */
import * as v from 'valibot'
import { count } from '#db/values.ts'
import type { attemptView, eventView } from '../views.ts'
import { describes, timestamp } from './fields.ts'

export const event = describes<ReturnType<typeof eventView>>()(
  v.strictObject({
    id: v.string(),
    event: v.string(),
    created_at: timestamp,
    status: v.picklist(['ready', 'sending', 'done', 'failed', 'skipped', 'interrupted']),
    http_status: v.nullable(count),
    error: v.nullable(v.string()),
    attempts: count,
  }),
)

export const attempt = describes<ReturnType<typeof attemptView>>()(
  v.strictObject({
    ok: v.boolean(),
    status: v.picklist(['done', 'failed', 'interrupted']),
    error: v.nullable(v.string()),
  }),
)
