/**
 * The rows that a backup brings, column by column: each value is checked by the schema that its column's own writes pass
 * (values.ts). A column without a schema does not compile, a table without a declaration can't be restored.
 */
import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '#src/lib/json.ts'
import { givenPreset } from '#src/lib/routing-presets.ts'
import {
  coreText,
  flag,
  integer,
  plainText,
  programNumber,
  secretText,
  timestamp,
  webLink,
} from '#src/lib/values.ts'
import { REMINDED } from './reminders.ts'
import * as schema from './schema/index.ts'
import { decode, type StoredTable, stored } from './stored-table.ts'
import * as is from './values.ts'

/** One of the words that the column is declared with. */
const among = <const T extends readonly [string, ...string[]]>({ enumValues }: { enumValues: T }) =>
  v.picklist(enumValues)

const code = is.nodeCode
/** Ours have two levels. What has thousands can't be handed from one thread to another, nor written as JSON: it ended the thread that read it. */
const MOST_LEVELS = 16
const hasLevels = (value: unknown, most: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (most > 0 && Object.values(value).every((one) => hasLevels(one, most - 1)))
/** Orders, events and messages have some hundreds. */
const MOST_JSON = 65_536
const json = v.custom<JsonObject>(
  (value) =>
    isJsonObject(value) &&
    hasLevels(value, MOST_LEVELS) &&
    JSON.stringify(value).length <= MOST_JSON,
)
const jsonText = v.pipe(
  v.string(),
  v.check((text) => v.is(json, decode('json', text))),
)
/** What people and outside systems wrote, shown and never part of anything else. */
const words = plainText(65_536)
const name = plainText(256)
const core = v.pipe(v.string(), v.regex(/^(?:managed\/)?[\w-]{1,32}$/))
/** Hysteria beside a core counts for itself. */
const counting = v.pipe(v.string(), v.regex(/^(?:managed\/)?[\w-]{1,32}(?:\/hysteria)?$/))

/** What a sale was made with. */
const soldQuota = {
  quotaBytes: is.count,
  quotaPeriod: among(schema.subscriptions.quotaPeriod),
}

/** When something was done that is counted. */
const moments = v.pipe(v.array(timestamp), v.maxLength(100))

export const STORED_TABLES: ReadonlyMap<string, StoredTable> = new Map([
  stored(schema.users, {
    tgId: is.storedTgId,
    telegramId: is.telegramId,
    username: is.username,
    name: is.customerName,
    email: is.email,
    tags: is.tags,
    token: is.token,
    hwidLimit: is.hwidLimit,
    lang: is.language,
    blockedAt: timestamp,
    bannedAt: timestamp,
    note: is.note,
    deviceRemovals: moments,
    linkResets: moments,
    guestAt: timestamp,
    createdAt: timestamp,
  }),
  stored(schema.userTokens, {
    token: is.token,
    tgId: is.storedTgId,
    kind: among(schema.userTokens.kind),
    format: is.linkFormat,
    createdAt: timestamp,
  }),
  stored(schema.linkCodes, { tgId: is.storedTgId, code: is.digest, expiresAt: timestamp }),
  stored(schema.sequences, { name: is.recordId, last: is.steps }),
  stored(schema.subscriptions, {
    seq: is.seq,
    uuid: is.uuid,
    tgId: is.storedTgId,
    node: code,
    nodeGroup: is.groupCode,
    plan: is.planCode,
    expiresAt: timestamp,
    active: flag,
    heldAt: timestamp,
    disabledAt: timestamp,
    revokedAt: timestamp,
    source: among(schema.subscriptions.source),
    paymentId: is.recordId,
    giftCode: is.giftCode,
    upBytes: is.count,
    downBytes: is.count,
    createdAt: timestamp,
    reminded: integer(0, Math.max(...REMINDED)),
    ...soldQuota,
    quotaAnchor: timestamp,
    usedBytes: is.count,
    usedRest: integer(0, 99),
    extraBytes: is.count,
    resetsAt: timestamp,
    limitedAt: timestamp,
    quotaNotice: integer(0, 100),
    startSeconds: integer(0, Number.MAX_SAFE_INTEGER),
    startBy: timestamp,
    startedAt: timestamp,
    nodeChangedAt: timestamp,
    planChangedAt: timestamp,
    dayWorth: is.count,
  }),
  stored(schema.nodes, {
    code,
    label: is.nodeLabel,
    kind: among(schema.nodes.kind),
    address: is.address,
    port: is.port,
    publicKey: is.linkPart,
    privateKey: is.realityKey,
    shortId: is.linkPart,
    sni: is.linkPart,
    flow: is.flow,
    sharedUuid: is.clientId,
    enabled: flag,
    status: among(schema.nodes.status),
    sortOrder: is.place,
    transportsJson: is.storedTransports,
    hysteriaPort: is.port,
    hysteriaPassword: is.nodePassword,
    hysteriaObfsPassword: is.nodePassword,
    hysteriaHop: is.portRange,
    hysteriaHopping: flag,
    provisionToken: is.token,
    provisionExpiresAt: timestamp,
    provisioning: among(schema.nodes.provisioning),
    sshPort: is.port,
    sshUser: is.sshUser,
    hostKey: is.hostKeys,
    presentedHostKey: is.hostKeys,
    coreVersion: coreText,
    program: programNumber,
    lastSeenAt: timestamp,
    lastError: words,
    downSince: timestamp,
    upOnce: flag,
    syncBlocked: flag,
    behind: is.steps,
    trafficRatio: is.trafficRatio,
    createdAt: timestamp,
  }),
  stored(schema.nodeGroups, {
    code: is.groupCode,
    label: is.groupLabel,
    sortOrder: is.place,
    hideDown: flag,
    createdAt: timestamp,
    routingPreset: givenPreset,
    routingAds: flag,
  }),
  stored(schema.nodeHosts, {
    id: is.rowId,
    node: code,
    transport: among(schema.nodeHosts.transport),
    label: is.hostLabel,
    address: is.hostAddress,
    port: is.port,
    sni: is.hostSni,
    host: is.hostHeader,
    path: is.hostPath,
    fingerprint: is.fingerprint,
    enabled: flag,
    sortOrder: is.place,
    formats: is.hostFormats,
  }),
  stored(schema.listTemplates, {
    format: among(schema.listTemplates.format),
    body: is.templateBody,
    updatedAt: timestamp,
  }),
  stored(schema.nodeGroupNodes, { groupCode: is.groupCode, node: code }),
  stored(schema.plans, {
    code: is.planCode,
    label: is.planLabel,
    days: is.planDays,
    price: is.price,
    priceStars: is.priceStars,
    sortOrder: is.place,
    archived: flag,
    nodeGroup: is.groupCode,
    quotaGb: is.quotaGb,
    quotaPeriod: among(schema.plans.quotaPeriod),
    hwidLimit: is.planHwidLimit,
  }),
  stored(schema.trafficPacks, {
    code: is.planCode,
    label: is.planLabel,
    gb: is.packGb,
    price: is.price,
    priceStars: is.priceStars,
    sortOrder: is.place,
    archived: flag,
  }),
  stored(schema.payments, {
    seq: is.seq,
    id: is.recordId,
    tgId: is.storedTgId,
    node: code,
    plan: is.planCode,
    nodeGroup: is.groupCode,
    ...soldQuota,
    kind: among(schema.payments.kind),
    pack: is.planCode,
    extraBytes: is.count,
    provider: is.providerId,
    externalId: is.externalId,
    status: among(schema.payments.status),
    // What its plan cost then.
    amount: is.price,
    currency: is.currency,
    // Traffic brings none.
    days: is.termDays,
    shopId: plainText(4096),
    payUrl: webLink,
    payUrlExpiresAt: timestamp,
    createdAt: timestamp,
    paidAt: timestamp,
    failedReason: words,
    reviewReason: words,
    refundedAt: timestamp,
    deletedUser: flag,
    nextCheckAt: timestamp,
    checks: is.steps,
    order: json,
    source: among(schema.payments.source),
    renewsUuid: is.uuid,
    givenSeconds: is.count,
    subscriptionUuid: is.uuid,
  }),
  stored(schema.giftCodes, {
    seq: is.seq,
    code: is.giftCode,
    node: code,
    plan: is.planCode,
    nodeGroup: is.groupCode,
    ...soldQuota,
    createdBy: is.count,
    createdAt: timestamp,
    expiresAt: timestamp,
    startSeconds: is.startSeconds,
    startBy: timestamp,
    usedAt: timestamp,
    usedBy: is.storedTgId,
    revokedAt: timestamp,
  }),
  stored(schema.devices, {
    id: is.rowId,
    tgId: is.storedTgId,
    hwid: is.hwid,
    deviceOs: name,
    deviceModel: name,
    userAgent: name,
    createdAt: timestamp,
    lastSeenAt: timestamp,
  }),
  stored(schema.admins, {
    id: is.rowId,
    username: is.storedAdminName,
    passwordHash: is.passwordHash,
    totpSecret: is.totpSecret,
    totpLastStep: is.steps,
    createdAt: timestamp,
    lastLoginAt: timestamp,
  }),
  stored(schema.adminSessions, {
    id: is.rowId,
    token: is.digest,
    adminId: is.rowId,
    createdAt: timestamp,
    expiresAt: timestamp,
    lastSeenAt: timestamp,
    ip: name,
    userAgent: name,
    panel: flag,
    confirmedAt: timestamp,
  }),
  stored(schema.pendingLogins, {
    token: is.digest,
    adminId: is.rowId,
    expiresAt: timestamp,
    wrongCodes: is.steps,
  }),
  stored(schema.recoveryCodes, {
    id: is.rowId,
    adminId: is.rowId,
    code: is.digest,
    usedAt: timestamp,
  }),
  stored(schema.adminDevices, {
    id: is.rowId,
    token: is.digest,
    adminId: is.rowId,
    createdAt: timestamp,
    lastSeenAt: timestamp,
  }),
  stored(schema.settings, {
    // Which of them come back, and with which values, a restore decides row by row.
    key: name,
    value: v.string(),
  }),
  // None comes back. As its migration takes them.
  stored(schema.openAlerts, { name: v.pipe(v.string(), v.regex(/^[\w:-]{1,64}$/)) }),
  // None comes back: what it says is this machine's own, and of its id a restore decides.
  stored(schema.instance, {
    id: integer(1, 1),
    instanceId: is.instanceId,
    generation: is.recordId,
    paymentsGeneration: is.recordId,
    pendingEnv: v.string(),
    backupKey: is.passphraseKey,
  }),
  // Written anew by each restore.
  stored(schema.addOnlyNodes, { code }),
  stored(schema.formerCredentials, {
    id: is.rowId,
    // As of settings: a restore decides row by row. Of a provider that is no more some may be left.
    provider: v.string(),
    shopId: v.string(),
    secret: v.string(),
    preset: v.string(),
    apiUrl: v.string(),
    replacedAt: v.string(),
  }),
  stored(schema.installation, { id: integer(1, 1), secret: is.digest }),
  stored(schema.outbox, {
    id: is.rowId,
    tgId: is.telegramId,
    kind: is.recordId,
    payload: json,
    status: among(schema.outbox.status),
    attempts: is.steps,
    nextTryAt: timestamp,
    error: words,
    createdAt: timestamp,
    doneAt: timestamp,
    botToken: secretText(4096),
  }),
  stored(schema.events, {
    seq: is.seq,
    id: is.recordId,
    event: v.pipe(name, v.regex(/^[a-z_.]+$/)),
    data: jsonText,
    status: among(schema.events.status),
    httpStatus: is.steps,
    error: words,
    attempts: is.steps,
    createdAt: timestamp,
  }),
  stored(schema.orphanPayments, {
    id: is.rowId,
    provider: is.providerId,
    externalId: is.externalId,
    amount: is.statedAmount,
    currency: words,
    foundAt: timestamp,
    resolvedAt: timestamp,
  }),
  stored(schema.auditLog, {
    id: is.rowId,
    at: timestamp,
    // The name of an account, which may be longer than what is given as one today.
    admin: words,
    ip: name,
    action: v.pipe(name, v.regex(/^[a-z0-9.-]+$/)),
    object: words,
    detail: words,
  }),
  stored(schema.trafficSamples, { node: code, day: is.day, up: is.count, down: is.count }),
  stored(schema.counters, {
    core: counting,
    uuid: is.uuid,
    epoch: coreText,
    up: is.count,
    down: is.count,
  }),
  stored(schema.readings, { core, reading: coreText }),
  stored(schema.retiredNodes, {
    code,
    address: is.address,
    sshPort: is.port,
    sshUser: is.sshUser,
    hostKey: is.hostKeys,
    tries: is.steps,
    nextTryAt: timestamp,
    lastError: words,
    createdAt: timestamp,
  }),
  stored(schema.knownHosts, {
    host: is.address,
    port: is.port,
    keyType: is.hostKeyType,
    key: is.hostKeyData,
    createdAt: timestamp,
  }),
  stored(schema.managementKey, {
    id: integer(1, 1),
    privateKey: is.managementPrivateKey,
    publicKey: is.managementPublicKey,
    createdAt: timestamp,
  }),
])
