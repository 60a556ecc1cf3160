/** Users and their devices as the API shows them. */
import * as v from 'valibot'
import {
  count,
  customerName,
  email,
  rowId as id,
  tags,
  telegramId,
  tgId,
  token,
} from '#db/values.ts'
import type { deviceView, listedUserView } from '../views.ts'
import { describes, timestamp, url } from './fields.ts'
import { subscription } from './subscription.ts'

export const device = describes<ReturnType<typeof deviceView>>()(
  v.strictObject({
    id,
    tg_id: tgId,
    hwid: v.string(),
    device_os: v.nullable(v.string()),
    device_model: v.nullable(v.string()),
    user_agent: v.nullable(v.string()),
    created_at: timestamp,
    last_seen_at: timestamp,
  }),
)

export const userDevices = v.strictObject({
  devices: v.array(device),
  limit: v.nullable(count),
  fallback_limit: count,
})

/** Only of customers of whom there is more to say than of those who came by Telegram. */
const profile = {
  telegram_id: v.exactOptional(v.nullable(telegramId)),
  name: v.exactOptional(v.nullable(customerName)),
  email: v.exactOptional(v.nullable(email)),
  tags: v.exactOptional(tags),
}

/** A user as listings show them: no token. */
export const listedUser = describes<ReturnType<typeof listedUserView>>()(
  v.strictObject({
    tg_id: tgId,
    username: v.nullable(v.string()),
    created_at: timestamp,
    note: v.nullable(v.string()),
    banned_at: v.nullable(timestamp),
    blocked_at: v.nullable(timestamp),
    active: count,
    held: count,
    disabled: v.exactOptional(count),
    next_expiry: v.nullable(timestamp),
    devices: count,
    ...profile,
  }),
)

export const userCard = v.strictObject({
  tg_id: tgId,
  username: v.nullable(v.string()),
  created_at: timestamp,
  token,
  subscriptions: v.array(subscription),
  devices: v.array(device),
  hwid_limit: v.nullable(count),
  hwid_fallback_limit: count,
  ...profile,
})

export const createdUser = v.strictObject({ tg_id: tgId, token, sub_link: url })

export const rotatedToken = v.strictObject({ ok: v.literal(true), token, sub_link: url })

/** One outcome for each user that was named. */
export const bulkOutcomes = v.array(
  v.union([
    v.strictObject({ tg_id: tgId, ok: v.literal(true) }),
    v.strictObject({ tg_id: tgId, ok: v.literal(false), error: v.string() }),
  ]),
)
