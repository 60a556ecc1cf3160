/** Row -> JSON for payments and the shop: what may leave the service of them. */
import type { OrphanPayment } from '#db/orphan-payments.ts'
import type { ListedPayment } from '#db/payment-listing.ts'
import type { Device, Payment, Plan } from '#db/schema/index.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { type GroupLabels, nodeAndPlan } from '#src/domain/labels.ts'
import type { Place } from '#src/domain/payments/offer.ts'
import type { Choices } from '#src/domain/subscriptions/change.ts'
import type { ShownSubscription } from '#src/domain/subscriptions/subscriptions.ts'
import { endlessOf } from '#src/lib/time.ts'
import {
  deviceView,
  groupOf,
  ownerName,
  planView,
  prospectView,
  quotaView,
  waitingView,
} from './views.ts'

type LabelOf = (provider: string) => string

/** A payment as admins see it. */
export function paymentView(found: ListedPayment, labelOf: LabelOf) {
  const { row } = found
  return {
    id: row.id,
    tg_id: row.tgId,
    username: found.username,
    ...nodeAndPlan(found),
    provider: row.provider,
    provider_label: labelOf(row.provider),
    external_id: row.externalId,
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    days: row.days,
    source: row.source,
    pay_url: row.payUrl,
    pay_url_expires_at: row.payUrlExpiresAt,
    created_at: row.createdAt,
    paid_at: row.paidAt,
    failed_reason: row.failedReason,
    review_reason: row.reviewReason,
    refunded_at: row.refundedAt,
    deleted_user: row.deletedUser,
    next_check_at: row.nextCheckAt,
    checks: row.checks,
    renews_uuid: row.renewsUuid,
    subscription_uuid: row.subscriptionUuid,
    ...ownerName(found),
    ...groupOf(row),
    ...trafficOf(found),
  }
}

/** What was bought, where it is traffic. */
const trafficOf = ({ row, packLabel }: ListedPayment) =>
  row.kind === 'traffic' && row.pack !== null
    ? {
        kind: row.kind,
        pack: row.pack,
        pack_label: packLabel ?? row.pack,
        extra_bytes: row.extraBytes ?? 0,
      }
    : {}

/** Money that a provider has and no payment of ours accounts for. */
export function orphanView(orphan: OrphanPayment, labelOf: LabelOf) {
  const provider = orphan.provider as Payment['provider']
  return {
    id: orphan.id,
    provider,
    provider_label: labelOf(provider),
    external_id: orphan.externalId,
    amount: orphan.amount,
    currency: orphan.currency,
    found_at: orphan.foundAt,
  }
}

/** A plan as the shop offers it; `price` 0: for Stars only. */
export function shopPlanView(plan: Plan, currency: string) {
  return { ...planView(plan, currency), price_stars: plan.priceStars, ...groupOf(plan) }
}

/** What a buyer chooses first: a group of `servers`, or one node. */
export const placeView = ({ code, label, nodeGroup, servers }: Place) =>
  nodeGroup === null ? { node: code, label } : { node_group: nodeGroup, label, servers }

/** A subscription as its owner sees it; `id` stands for its uuid. */
export function ownSubscriptionView(
  { row, nodeLabel, planLabel }: ListedSubscription,
  state: ShownSubscription['state'],
  id: string,
  group: GroupLabels,
  now: string,
) {
  return {
    uuid: id,
    node: row.node,
    node_label: nodeLabel ?? row.node,
    plan_label: planLabel ?? row.plan,
    expires_at: row.expiresAt,
    ...endlessOf(row.expiresAt),
    ...waitingView(row, now),
    held_at: row.heldAt,
    state,
    ...group,
    ...quotaView(row, now),
  }
}

/** What the owner of a subscription may change it to. */
export const choicesView = ({ nodes, nodesFrom, plans, plansFrom }: Choices) => ({
  nodes: nodes.map(({ code, label }) => ({ node: code, label })),
  nodes_from: nodesFrom,
  plans: plans.map(({ plan, ...prospect }) => ({ plan: plan.code, ...prospectView(prospect) })),
  plans_from: plansFrom,
})

/** A device as its owner sees it. */
export function ownDeviceView(device: Device) {
  const { tg_id: _owner, hwid: _hwid, ...own } = deviceView(device)
  return own
}
