/** What was paid for is given: claimed, created or lengthened, told of, in one transaction. */

import type { Query, Steps } from '#db/engine/database.ts'
import { readNode } from '#db/nodes.ts'
import { claimPayment, linkSubscription } from '#db/payments.ts'
import { readPlan } from '#db/plans.ts'
import { putQuota, quotaOf } from '#db/quotas.ts'
import type { Payment, Plan, Subscription, User } from '#db/schema/index.ts'
import {
  type ListedSubscription,
  moveExpiry,
  moveHomes,
  readSubscription,
  setGroup,
  setPlan,
} from '#db/subscriptions.ts'
import { ensureUser } from '#db/users.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { countsFrom, isWaiting, stretchIn } from '#src/domain/delayed-start.ts'
import { placeAndPlan } from '#src/domain/labels.ts'
import { emit, subscriptionData } from '#src/domain/notify/events.ts'
import { type Message, queueMessage } from '#src/domain/notify/messages.ts'
import { type Moment, renewed, soldQuotaOf } from '#src/domain/quotas.ts'
import type { Settings } from '#src/domain/settings.ts'
import { settledHome } from '#src/domain/subscriptions/homes.ts'
import { countPastReminders } from '#src/domain/subscriptions/reminders.ts'
import {
  expiryAfter,
  giveSubscription,
  type Offer,
} from '#src/domain/subscriptions/subscriptions.ts'
import { randomToken } from '#src/lib/random.ts'
import { ENDLESS, formatTimestamp, parseTimestamp } from '#src/lib/time.ts'
import type { Services } from '#src/services.ts'
import { renewsBy } from './offer.ts'
import { REVIEW } from './rules.ts'
import { paymentStep } from './steps.ts'
import { readToppedUp, toppedUpMessage, topUp } from './top-up.ts'

export type ConfirmDeps = Pick<
  Services,
  'db' | 'config' | 'clock' | 'log' | 'background' | 'nodeSync' | 'nudge'
>

/**
 * The subscription that a payment lengthens, unless it is to create one: what has no end by now can't be lengthened, and what has got a
 * group since the order was not paid for.
 */
function* readRenewed(tx: Query, payment: Payment) {
  const { renewsUuid, tgId, plan: code, nodeGroup } = payment
  if (renewsUuid === null) return undefined
  const found = yield* readSubscription(tx, renewsUuid)
  if (!found?.row.active || found.row.tgId !== tgId) return undefined
  if (found.row.expiresAt === ENDLESS) return undefined
  if (!renewsBy({ code, nodeGroup }, found.row)) return undefined
  return (yield* readNode(tx, found.row.node)) ? found : undefined
}

interface Renewal {
  renews: ListedSubscription
  plan: Plan
}

interface TopUp {
  toppedUp: ListedSubscription
}

/** What a payment is to be granted as, or the reason why it can't be now. */
function* readGrant(tx: Query, payment: Payment) {
  if (payment.kind === 'traffic') {
    const toppedUp = yield* readToppedUp(tx, payment)
    return toppedUp ? ({ toppedUp } as TopUp) : REVIEW.subscription
  }
  const plan = yield* readPlan(tx, payment.plan)
  if (!plan) return REVIEW.plan
  const renews = yield* readRenewed(tx, payment)
  if (renews) return { renews, plan } as Renewal
  const node = yield* readNode(tx, payment.node)
  if (!node) return REVIEW.node
  const { nodeGroup, days } = payment
  return { node, plan, nodeGroup, days, start: null, quota: soldQuotaOf(payment) } as Offer
}

interface Grown {
  row?: Pick<Subscription, 'node' | 'nodeGroup' | 'plan'>
  labels?: Pick<ListedSubscription, 'nodeLabel' | 'groupLabel'>
}

/**
 * A renewal by a plan with a group brings the group to who has none, and is what they have from now on: by the plan of one server, which
 * would stay theirs, they would renew all of them.
 */
function* growInto(
  tx: Query,
  row: Subscription,
  { plan, nodeGroup: wanted }: Pick<Payment, 'plan' | 'nodeGroup'>,
): Steps<Grown> {
  if (wanted === null || row.nodeGroup !== null) return {}
  const own = yield* readNode(tx, row.node)
  if (!own) return {}
  const { home, group } = yield* settledHome(tx, own, wanted)
  if (!group) return {}
  if (home.code !== row.node) yield* moveHomes(tx, [row.uuid], home.code)
  yield* setGroup(tx, row.uuid, group.code)
  yield* setPlan(tx, row.uuid, plan)
  return {
    row: { node: home.code, nodeGroup: group.code, plan },
    labels: { nodeLabel: home.label, groupLabel: group.label },
  }
}

/** What a renewal makes of quota and plan; nothing where there is no quota before or after, and no other limit of devices. */
function* refill(tx: Query, row: Subscription, payment: Payment, plan: Plan, moment: Moment) {
  const sold = soldQuotaOf(payment)
  if (row.quotaBytes === null && sold.quotaBytes === null) {
    const own = row.plan === plan.code ? plan : yield* readPlan(tx, row.plan)
    if (plan.hwidLimit === (own?.hwidLimit ?? null)) return {}
    yield* setPlan(tx, row.uuid, plan.code)
    return { plan: plan.code }
  }
  const quota = renewed(quotaOf(row), sold, countsFrom(row, moment))
  yield* putQuota(tx, row.uuid, quota)
  // The plan says how many devices go with it, and what is renewed by.
  yield* setPlan(tx, row.uuid, payment.plan)
  return { ...quota, plan: payment.plan }
}

function* lengthen(tx: Query, payment: Payment, { renews, plan }: Renewal, moment: Moment) {
  const { row } = renews
  const { at } = moment
  const expiresAt = parseTimestamp(row.expiresAt)
  // A held one keeps its time: what lies between the hold and now is added when it is resumed.
  const from = row.heldAt === null && expiresAt < at ? at : expiresAt
  const until = expiryAfter(from, payment.days)
  // The message of this grant says it.
  const moved = yield* moveExpiry(tx, row.uuid, until, countPastReminders(until, at))
  yield* stretchIn(tx, row, moment.at, payment.days)
  const grown = yield* growInto(tx, row, payment)
  const refilled = yield* refill(tx, row, payment, plan, moment)
  const next = { ...(moved as Subscription), ...grown.row, ...refilled }
  return { ...renews, row: next, planLabel: plan.label, ...grown.labels }
}

function* create(tx: Query, { id }: Payment, user: User, offer: Offer, moment: Moment) {
  return yield* giveSubscription(tx, moment, user, offer, { source: 'payment', paymentId: id })
}

/** What a grant is called in the audit log. */
const actionOf = (grant: Offer | Renewal | TopUp) =>
  'toppedUp' in grant ? 'payment.traffic' : 'renews' in grant ? 'payment.renew' : 'payment.grant'

/** What the buyer is told of a subscription or its renewal. */
function grantedMessage(payment: Payment, given: ListedSubscription, now: string): Message {
  const { node_label, plan_label } = placeAndPlan(given)
  const payload = {
    // For who compares the books (db/engine/invariants.ts).
    payment_id: payment.id,
    node_label,
    plan_label,
    expires_at: given.row.expiresAt,
    ...(isWaiting(given.row, now) ? { unstarted: true as const } : undefined),
  }
  return { kind: 'granted', payload }
}

/** What an event says of traffic that was bought. */
const trafficData = ({ kind, pack, extraBytes }: Payment) =>
  kind === 'traffic' ? { kind, pack, extra_bytes: extraBytes } : undefined

export interface GrantContext {
  s: ConfirmDeps
  settings: Settings
  actor: Actor
  at: Date
  /** Whether a failed payment may be granted too. */
  failedToo: boolean
}

/**
 * Claims a payment and gives what was paid for, with its message, event and audit row. The reason why it can't be given is a
 * string; null when somebody else has claimed it.
 */
export function* grantPayment(tx: Query, payment: Payment, context: GrantContext) {
  const { s, settings, actor, at, failedToo } = context
  const now = formatTimestamp(at)
  const grant = yield* readGrant(tx, payment)
  if (typeof grant === 'string') return grant
  if (!(yield* claimPayment(tx, payment.id, now, failedToo))) return null
  paymentStep(s, payment.id, 'claimed')
  const moment = { at, timeZone: s.config.timezone }
  const user = yield* ensureUser(tx, payment.tgId, randomToken(), now)
  const given: ListedSubscription =
    'toppedUp' in grant
      ? yield* topUp(tx, payment, grant.toppedUp, at)
      : 'renews' in grant
        ? yield* lengthen(tx, payment, grant, moment)
        : yield* create(tx, payment, user, grant, moment)
  const { row } = given
  yield* linkSubscription(tx, payment.id, row)
  paymentStep(s, payment.id, 'given')
  const message =
    'toppedUp' in grant ? toppedUpMessage(payment, given) : grantedMessage(payment, given, now)
  yield* queueMessage(tx, now, user.telegramId, message)
  paymentStep(s, payment.id, 'message queued')
  const { id: payment_id, plan, provider, amount, currency } = payment
  yield* emit(tx, settings, now, 'payment.paid', {
    ...subscriptionData(given, now),
    ...trafficData(payment),
    plan,
    payment_id,
    provider,
    amount,
    currency,
  })
  yield* audit(tx, actor, now, {
    action: actionOf(grant),
    object: payment.id,
    detail: `tg_id=${row.tgId} subscription=${row.uuid}`,
  })
  paymentStep(s, payment.id, 'rows written')
  return given
}

/** Tells those whom a grant concerns: node, buyer, receiver of events. What a crash prevents here, the scheduler makes up for. */
export function followGrant(s: ConfirmDeps, paymentId: string, given: ListedSubscription): void {
  s.nudge('messages')
  s.nudge('events')
  s.background.run('add client', async () => {
    await s.nodeSync.touch([given.row])
    paymentStep(s, paymentId, 'client added')
  })
}
