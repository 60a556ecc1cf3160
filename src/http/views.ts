/** Row -> JSON, one function per record: the list of what may leave the service. */
import type { AuditEntry, Device, Node, Plan } from '#db/schema.ts'
import type { ListedSubscription } from '#db/subscriptions.ts'
import { daysLeft, parseTimestamp } from '#src/lib/time.ts'

export function subscriptionView(found: ListedSubscription, now: Date) {
  const { row } = found
  const reference = row.heldAt === null ? now : parseTimestamp(row.heldAt)
  return {
    uuid: row.uuid,
    tg_id: row.tgId,
    username: found.username,
    node: row.node,
    node_label: found.nodeLabel ?? row.node,
    plan: row.plan,
    plan_label: found.planLabel ?? row.plan,
    expires_at: row.expiresAt,
    days_left: daysLeft(row.expiresAt, reference),
    active: row.active,
    held_at: row.heldAt,
    source: row.source,
    created_at: row.createdAt,
    up: row.upBytes,
    down: row.downBytes,
  }
}

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

/** A plan as everyone sees it. */
export function planView(plan: Plan, currency: string) {
  const { code, label, days, price } = plan
  return { code, label, days, price, currency }
}

export function adminPlanView(plan: Plan, currency: string) {
  return {
    ...planView(plan, currency),
    price_stars: plan.priceStars,
    sort_order: plan.sortOrder,
    archived: plan.archived,
  }
}

/** Every field of a node but its private key and its provision token. */
export function nodeView(node: Node) {
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
    provision_expires_at: node.provisionExpiresAt,
    ssh_port: node.sshPort,
    ssh_user: node.sshUser,
    host_key: node.hostKey,
    core_version: node.coreVersion,
    last_seen_at: node.lastSeenAt,
    last_error: node.lastError,
    sync_blocked: node.syncBlocked,
    created_at: node.createdAt,
  }
}

export function auditView(entry: AuditEntry) {
  const { id, at, admin, ip, action, object, detail } = entry
  return { id, at, admin, ip, action, object, detail }
}
