/** Payments and the cabinet's shop as the API shows them. */

import * as v from 'valibot'
import { count, customerName, rowId as id, tgId, token } from '#db/values.ts'
import type {
  choicesView,
  orphanView,
  ownDeviceView,
  ownSubscriptionView,
  paymentView,
  shopPlanView,
} from '../payment-views.ts'
import { describes, timestamp, url, uuid } from './fields.ts'
import { plan } from './plan.ts'
import { qrCode } from './qr.ts'
import {
  endlessEntry,
  groupEntries,
  prospect,
  quotaEntries,
  waitingEntries,
} from './subscription.ts'
import { shopPack } from './traffic-pack.ts'
import { device } from './user.ts'

/** A payment provider; the description of the API has their list (openapi.ts). */
export const providerId = v.string()
const status = v.picklist(['pending', 'paid', 'failed'])

export const payment = describes<ReturnType<typeof paymentView>>()(
  v.strictObject({
    id: v.string(),
    tg_id: tgId,
    username: v.nullable(v.string()),
    node: v.string(),
    node_label: v.string(),
    plan: v.string(),
    plan_label: v.string(),
    provider: providerId,
    provider_label: v.string(),
    external_id: v.string(),
    status,
    amount: count,
    currency: v.string(),
    days: count,
    source: v.picklist(['bot', 'site', 'admin']),
    pay_url: v.nullable(url),
    pay_url_expires_at: v.nullable(timestamp),
    created_at: timestamp,
    paid_at: v.nullable(timestamp),
    failed_reason: v.nullable(v.string()),
    review_reason: v.nullable(v.string()),
    refunded_at: v.nullable(timestamp),
    deleted_user: v.boolean(),
    next_check_at: v.nullable(timestamp),
    checks: count,
    renews_uuid: v.nullable(uuid),
    subscription_uuid: v.nullable(uuid),
    name: v.exactOptional(customerName),
    node_group: v.exactOptional(v.string()),
    /** Only of traffic, as what follows. */
    kind: v.exactOptional(v.literal('traffic')),
    pack: v.exactOptional(v.string()),
    pack_label: v.exactOptional(v.string()),
    extra_bytes: v.exactOptional(count),
  }),
)

/** Where a new payment is paid. */
export const payLink = v.strictObject({ id: v.string(), pay_url: url })

export type PayLinkAnswer = v.InferOutput<typeof payLink>

export const paymentStatus = v.strictObject({ status })

/** Of the money as its provider states it: what it does not state is null. */
export const orphanPayment = describes<ReturnType<typeof orphanView>>()(
  v.strictObject({
    id,
    provider: providerId,
    provider_label: v.string(),
    external_id: v.string(),
    amount: v.nullable(v.string()),
    currency: v.nullable(v.string()),
    found_at: timestamp,
  }),
)

const shopPlan = describes<ReturnType<typeof shopPlanView>>()(
  v.strictObject({
    ...plan.entries,
    price_stars: v.nullable(count),
    node_group: v.exactOptional(v.string()),
  }),
)

const ownSubscription = describes<ReturnType<typeof ownSubscriptionView>>()(
  v.strictObject({
    uuid,
    node: v.string(),
    node_label: v.string(),
    plan_label: v.string(),
    expires_at: timestamp,
    ...endlessEntry,
    ...waitingEntries,
    held_at: v.nullable(timestamp),
    state: v.picklist(['active', 'limited', 'disabled', 'held', 'expired']),
    ...groupEntries,
    ...quotaEntries,
  }),
)

const { tg_id: _owner, hwid: _hwid, ...deviceEntries } = device.entries

const ownDevice = describes<ReturnType<typeof ownDeviceView>>()(v.strictObject(deviceEntries))

/** Whom buyers without a link become. */
export const guest = v.strictObject({ token })

export type GuestAnswer = v.InferOutput<typeof guest>

/** How a payment stands, with the buyer's link once it is paid. */
export const payState = v.strictObject({
  status,
  sub_link: v.exactOptional(url),
  /** Of the link, beside it. */
  qr: v.exactOptional(qrCode),
  /** Only beside the link, where its owner has no Telegram account and may connect one. */
  connect_telegram: v.exactOptional(v.literal(true)),
})

export type PayStateAnswer = v.InferOutput<typeof payState>

/** What a subscription may be changed to, each from a time on where that is still to come. */
export const choices = describes<ReturnType<typeof choicesView>>()(
  v.strictObject({
    nodes: v.array(v.strictObject({ node: v.string(), label: v.string() })),
    nodes_from: v.nullable(timestamp),
    plans: v.array(v.strictObject({ plan: v.string(), ...prospect.entries })),
    plans_from: v.nullable(timestamp),
  }),
)

export type ChoicesAnswer = v.InferOutput<typeof choices>
export type ProspectAnswer = v.InferOutput<typeof prospect>

export const connectLink = v.strictObject({ url })

export const shop = v.strictObject({
  /** Only where the owner has no Telegram account and may connect one. */
  connect_telegram: v.exactOptional(v.literal(true)),
  /** Only of who came to the site to buy, and whom nobody knows but by their link. */
  guest: v.exactOptional(v.literal(true)),
  payments_enabled: v.boolean(),
  nodes: v.array(v.strictObject({ code: v.string(), label: v.string() })),
  /** Only where a plan is sold with a group of nodes: groups first, then single nodes. */
  places: v.exactOptional(
    v.array(
      v.union([
        v.strictObject({ node_group: v.string(), label: v.string(), servers: count }),
        v.strictObject({ node: v.string(), label: v.string() }),
      ]),
    ),
  ),
  plans: v.array(shopPlan),
  /** Only where packs are sold, to who has a subscription that takes them. */
  packs: v.exactOptional(v.array(shopPack)),
  providers: v.array(v.strictObject({ id: providerId, label: v.string() })),
  subscriptions: v.array(ownSubscription),
  devices: v.strictObject({ limit: v.nullable(count), list: v.array(ownDevice) }),
})

export type ShopAnswer = v.InferOutput<typeof shop>
