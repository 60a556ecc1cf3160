/** Row -> JSON, one function per record: the list of what may leave the service. */

import type { ListedAdmin } from '#db/admins.ts'
import type { EventResult } from '#db/events.ts'
import type { ListedGift } from '#db/gifts.ts'
import type { Quota } from '#db/quotas.ts'
import type {
  AdminSession,
  AuditEntry,
  Device,
  Event,
  Node,
  NodeGroup,
  NodeHost,
  Plan,
  RetiredNode,
  Subscription,
  TrafficPack,
  User,
} from '#db/schema/index.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import type { ListedUser } from '#db/user-listing.ts'
import { isWaiting, periodEnd, type Start, startedAt } from '#src/domain/delayed-start.ts'
import type { activeStats, currentStats } from '#src/domain/installation/stats.ts'
import { type GroupLabels, nodeAndPlan } from '#src/domain/labels.ts'
import { outdatedProgram } from '#src/domain/nodes/sync/programs.ts'
import type { Prospect } from '#src/domain/subscriptions/change.ts'
import { fingerprintOf, splitHostKeys } from '#src/lib/host-key.ts'
import { daysLeft, endlessOf, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import { VERSION } from '#src/lib/version.ts'

/** The name of an owner where they have no username. */
export const ownerName = ({ username, name }: { username: string | null; name: string | null }) =>
  username === null && name !== null ? { name } : {}

/** What a subscription is by another plan or on another server. */
export const prospectView = ({ days, expiresAt, planLabel }: Prospect) => ({
  days,
  expires_at: expiresAt,
  plan_label: planLabel,
})

export function subscriptionView(found: ListedSubscription, now: Date, group: GroupLabels) {
  const { row } = found
  const reference = row.heldAt === null ? now : parseTimestamp(row.heldAt)
  return {
    uuid: row.uuid,
    tg_id: row.tgId,
    username: found.username,
    ...nodeAndPlan(found),
    expires_at: row.expiresAt,
    days_left: daysLeft(row.expiresAt, reference),
    ...endlessOf(row.expiresAt),
    active: row.active,
    held_at: row.heldAt,
    ...disabledOf(row),
    ...startView(row, formatTimestamp(now)),
    source: row.source,
    created_at: row.createdAt,
    up: row.upBytes,
    down: row.downBytes,
    ...ownerName(found),
    ...group,
    ...quotaView(row, formatTimestamp(now)),
  }
}

/** What of a subscription's quota is used; nothing of one without. */
export const quotaView = (row: Quota & Start, now: string) =>
  row.quotaBytes === null
    ? {}
    : {
        quota_bytes: row.quotaBytes,
        quota_period: row.quotaPeriod,
        used_bytes: row.usedBytes,
        extra_bytes: row.extraBytes,
        resets_at: periodEnd(row, now),
        limited_at: row.limitedAt,
      }

/** Since when a subscription is disabled, said only where it is. */
const disabledOf = ({ disabledAt }: Subscription): { disabled_at?: string } =>
  disabledAt === null ? {} : { disabled_at: disabledAt }

interface StartView {
  start?: 'first_use'
  start_seconds?: number
  start_by?: string | null
  started_at?: string | null
}

/** Of a delayed start when it was, or is at the latest. */
const startView = (row: Subscription, now: string): StartView =>
  row.startSeconds === null
    ? {}
    : {
        start: 'first_use',
        start_seconds: row.startSeconds,
        start_by: row.startBy,
        started_at: startedAt(row, now),
      }

/** How long what waits for its first use lasts from then on. */
export const waitingView = (row: Start & Pick<Subscription, 'startSeconds'>, now: string) =>
  isWaiting(row, now) ? { start: 'first_use' as const, start_seconds: row.startSeconds ?? 0 } : {}

export function deviceView(device: Device) {
  return {
    id: device.id,
    tg_id: device.tgId,
    hwid: device.hwid,
    device_os: device.deviceOs,
    device_model: device.deviceModel,
    user_agent: device.userAgent,
    created_at: device.createdAt,
    last_seen_at: device.lastSeenAt,
  }
}

/** The group that a record of a sale names. */
export const groupOf = ({ nodeGroup }: { nodeGroup: string | null }): { node_group?: string } =>
  nodeGroup === null ? {} : { node_group: nodeGroup }

/** How much traffic a plan has; nothing of one without a limit. */
const planQuotaView = ({ quotaGb, quotaPeriod }: Plan) =>
  quotaGb === null ? {} : { quota_gb: quotaGb, quota_period: quotaPeriod }

/** A plan as everyone sees it. */
export function planView(plan: Plan, currency: string) {
  const { code, label, days, price } = plan
  return { code, label, days, price, currency, ...planQuotaView(plan) }
}

export function adminPlanView(plan: Plan, currency: string) {
  return {
    ...planView(plan, currency),
    price_stars: plan.priceStars,
    sort_order: plan.sortOrder,
    archived: plan.archived,
    ...groupOf(plan),
    ...(plan.hwidLimit === null ? {} : { hwid_limit: plan.hwidLimit }),
  }
}

/** A traffic pack as the shop offers it; `price` 0: for Stars only. */
export function shopPackView(
  { code, label, gb, price, priceStars }: TrafficPack,
  currency: string,
) {
  return { code, label, gb, price, currency, price_stars: priceStars }
}

export const packView = (pack: TrafficPack, currency: string) => ({
  ...shopPackView(pack, currency),
  sort_order: pack.sortOrder,
  archived: pack.archived,
})

/** The fingerprints of host keys, with a space between them. */
const fingerprintsOf = (keys: string | null): string | null =>
  keys && splitHostKeys(keys).map(fingerprintOf).join(' ')

/** Every field of a node but its private key and its provision token; `outdated` only where it runs a former node program. */
export function nodeView(node: Node) {
  const outdated = outdatedProgram(node)
  return {
    code: node.code,
    label: node.label,
    kind: node.kind,
    address: node.address,
    port: node.port,
    public_key: node.publicKey,
    short_id: node.shortId,
    sni: node.sni,
    flow: node.flow,
    shared_uuid: node.sharedUuid,
    enabled: node.enabled,
    status: node.status,
    sort_order: node.sortOrder,
    transports_json: node.transportsJson,
    hysteria_port: node.hysteriaPort,
    hysteria_password: node.hysteriaPassword,
    hysteria_obfs_password: node.hysteriaObfsPassword,
    ...(node.hysteriaHop === null
      ? {}
      : { hysteria_hop: node.hysteriaHop, hysteria_hopping: node.hysteriaHopping }),
    provision_expires_at: node.provisionExpiresAt,
    provisioning: node.provisioning,
    ssh_port: node.sshPort,
    ssh_user: node.sshUser,
    host_key: fingerprintsOf(node.hostKey),
    presented_host_key: fingerprintsOf(node.presentedHostKey),
    core_version: node.coreVersion,
    last_seen_at: node.lastSeenAt,
    last_error: node.lastError,
    sync_blocked: node.syncBlocked,
    created_at: node.createdAt,
    ...(outdated && { outdated }),
    ...(node.trafficRatio === 100 ? {} : { traffic_ratio: node.trafficRatio }),
  }
}

/** A deleted node whose server is still to be cleaned. */
export function retiredNodeView(node: RetiredNode) {
  return {
    code: node.code,
    address: node.address,
    ssh_port: node.sshPort,
    tries: node.tries,
    next_try_at: node.nextTryAt,
    last_error: node.lastError,
    created_at: node.createdAt,
  }
}

/** An event as the delivery log shows it: `data` stays between sender and receiver. */
export function eventView(row: Event) {
  return {
    id: row.id,
    event: row.event,
    created_at: row.createdAt,
    status: row.status,
    http_status: row.httpStatus,
    error: row.error,
    attempts: row.attempts,
  }
}

/** What became of an attempt that was asked for. */
export function attemptView({ status, error }: EventResult) {
  return { ok: status === 'done', status, error }
}

export function auditView(entry: AuditEntry) {
  const { id, at, admin, ip, action, object, detail } = entry
  return { id, at, admin, ip, action, object, detail }
}

export function adminView(admin: ListedAdmin) {
  return {
    id: admin.id,
    username: admin.username,
    created_at: admin.createdAt,
    last_login_at: admin.lastLoginAt,
    totp_enabled: admin.totpEnabled,
  }
}

/** The account of a session; `must_enrol`: it has to set up a second factor before anything else. */
export function accountView(admin: ListedAdmin, isRequired: boolean) {
  const secondFactor = admin.totpEnabled
  return {
    id: admin.id,
    username: admin.username,
    role: 'owner' as const,
    second_factor: secondFactor,
    must_enrol: isRequired && !secondFactor,
  }
}

export function sessionView(session: AdminSession, currentId: number) {
  return {
    id: session.id,
    created_at: session.createdAt,
    last_seen_at: session.lastSeenAt,
    ip: session.ip,
    user_agent: session.userAgent,
    current: session.id === currentId,
  }
}

type Customer = Pick<User, 'tgId' | 'telegramId' | 'name' | 'email' | 'tags'>

/** How a customer is reached and called beside Telegram's ways. */
export function customerView({ telegramId, name, email, tags }: Customer) {
  return { telegram_id: telegramId, name, email, tags }
}

/** The same, only where there is more to say than of everyone who came by Telegram. */
export function profileView(user: Customer) {
  const { tgId, telegramId, name, email, tags } = user
  const isPlain = telegramId === tgId && name === null && email === null && tags.length === 0
  return isPlain ? {} : customerView(user)
}

/** A user as listings show them: no token. */
export function listedUserView(user: ListedUser) {
  return {
    tg_id: user.tgId,
    username: user.username,
    created_at: user.createdAt,
    note: user.note,
    banned_at: user.bannedAt,
    blocked_at: user.blockedAt,
    active: user.active,
    held: user.held,
    ...(user.disabled === 0 ? {} : { disabled: user.disabled }),
    next_expiry: user.nextExpiry,
    devices: user.devices,
    ...profileView(user),
  }
}

/** A group with the codes of its members, and how many subscriptions have it. */
export function nodeGroupView(group: NodeGroup, nodes: readonly string[], subscriptions: number) {
  return {
    code: group.code,
    label: group.label,
    nodes: [...nodes],
    sort_order: group.sortOrder,
    hide_down: group.hideDown,
    ...(group.routingPreset !== null && { routing_preset: group.routingPreset }),
    ...(group.routingAds !== null && { routing_ads: group.routingAds }),
    subscriptions,
    created_at: group.createdAt,
  }
}

export function nodeHostView({ sortOrder, ...host }: NodeHost) {
  return { ...host, sort_order: sortOrder }
}

/** A gift code with the link that redeems it, null while no bot is set. */
export function giftView(gift: ListedGift, link: string | null) {
  const { row } = gift
  return {
    code: row.code,
    ...nodeAndPlan(gift),
    created_by: row.createdBy,
    link,
    created_at: row.createdAt,
    used_at: row.usedAt,
    used_by: row.usedBy,
    expires_at: row.expiresAt,
    ...(row.startSeconds === null
      ? {}
      : { start: 'first_use' as const, start_seconds: row.startSeconds, start_by: row.startBy }),
    ...groupOf(row),
  }
}

export function statsView(stats: Awaited<ReturnType<typeof currentStats>>) {
  const { payments, revenue } = stats
  const { limited, disabled, ...subscriptions } = stats.subscriptions
  return {
    users: stats.users,
    subscriptions: {
      ...subscriptions,
      ...(limited > 0 ? { limited } : {}),
      ...(disabled > 0 ? { disabled } : {}),
    },
    nodes: stats.nodes,
    payments: {
      pending: payments.pending,
      paid_today: payments.paidToday,
      paid_30d: payments.paid30d,
      review: payments.review,
      orphans: payments.orphans,
    },
    revenue: { today: revenue.today, days_30: revenue.days30, currency: revenue.currency },
    devices: stats.devices,
    expiring_3d: stats.expiring3d,
    traffic: stats.traffic,
    last_sync_at: stats.lastSyncAt,
    sync_blocked: stats.syncBlocked,
    version: VERSION,
  }
}

export function activeView(stats: Awaited<ReturnType<typeof activeStats>>) {
  return {
    by_plan: stats.byPlan.map(({ plan, planLabel, active }) => ({
      plan,
      plan_label: planLabel,
      active,
    })),
    by_node: stats.byNode,
    endings: stats.endings,
  }
}
