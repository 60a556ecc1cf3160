/** What customers change of a subscription by themselves: its server, and its plan, whose days become those of another one. No money moves. */
import type { Query, Reading, Steps } from '#db/engine/database.ts'
import { readMembers, readNodesOf } from '#db/node-groups.ts'
import { keptNodes, readNode } from '#db/nodes.ts'
import { noteNodeChange, putPlanDays, readPaidDays, readPricedPlans } from '#db/own-changes.ts'
import { updatePayment } from '#db/payments.ts'
import { readPlan } from '#db/plans.ts'
import { putQuota, quotaOf } from '#db/quotas.ts'
import { isSoldNode, type Node, type Plan, type Subscription, type User } from '#db/schema/index.ts'
import {
  type ListedSubscription,
  moveHomes,
  readSubscription,
  setGroup,
} from '#db/subscriptions.ts'
import { type Actor, audit } from '#src/domain/audit.ts'
import { isWaiting } from '#src/domain/delayed-start.ts'
import { tellLimited } from '#src/domain/notify/quota-notices.ts'
import { momentOf, quotaOfPlan, replaced } from '#src/domain/quotas.ts'
import { readSettings, readSettingsIn, type Settings } from '#src/domain/settings.ts'
import { ApiError, tooMany } from '#src/lib/errors.ts'
import {
  addDays,
  DAY_MS,
  daysLeft,
  ENDLESS,
  formatTimestamp,
  HOUR_MS,
  later,
  parseTimestamp,
  SECOND_MS,
} from '#src/lib/time.ts'
import { fieldRefusal, refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'
import {
  type Converted,
  converted,
  type Days,
  dayWorthOf,
  dearestLike,
  givenAfter,
  givesTheSame,
  hasSameTraffic,
  secondsLeft,
} from './conversion.ts'
import { changePlaced, nodesLeft } from './expiry.ts'
import { requireSoldGroup } from './homes.ts'
import { countPastReminders } from './reminders.ts'
import { RUNNING, subscriptionState } from './subscriptions.ts'

type Reads = Pick<Services, 'db' | 'config' | 'clock'>
type Deps = Reads & Pick<Services, 'nodeSync' | 'nudge'>

/** Who changes it: its owner, who can change their own as it is sold to them, or an admin. */
export type Changer = Pick<User, 'tgId'> | 'admin'

/** Between two changes of the plan of a subscription. */
const PLAN_EVERY_MS = DAY_MS

/** What a subscription is once it is changed. */
export interface Prospect {
  days: number
  expiresAt: string
  planLabel: string
}

function* readOwn(q: Reading, uuid: string, changer: Changer) {
  const found = yield* readSubscription(q, uuid)
  if (!found || (changer !== 'admin' && found.row.tgId !== changer.tgId)) {
    throw refusal('subscription-not-found')
  }
  return found
}

/**
 * From when on something may be done again that was done then; null: from now on. A time shortly to come is that of another process, whose
 * change began later; one further away that of a clock that was wrong.
 */
function nextAt(last: string | null, everyMs: number, at: Date): string | null {
  if (last === null) return null
  const next = later(parseTimestamp(last), everyMs)
  const waitMs = next.getTime() - at.getTime()
  return waitMs > 0 && waitMs <= 2 * everyMs ? formatTimestamp(next) : null
}

/** Throws 429 until then. */
function requireTurn(next: string | null, at: Date): void {
  if (next !== null) throw tooMany((parseTimestamp(next).getTime() - at.getTime()) / SECOND_MS)
}

const NOT_RUNNING = {
  revoked: 'subscription-revoked',
  disabled: 'subscription-disabled',
  held: 'subscription-held',
  expired: 'subscription-expired',
} as const

const stateOf = (row: Subscription, at: Date) => subscriptionState(row, formatTimestamp(at))

/** Throws 400 for what does not run now: it is not changed, whoever asks. */
function requireRunning(row: Subscription, at: Date): void {
  const state = stateOf(row, at)
  if (state !== 'active' && state !== 'limited') throw refusal(NOT_RUNNING[state])
}

// The server.

/** Between two changes of the server of a subscription; 0: there are none. */
const nodeEveryMs = (hours: number): number => hours * HOUR_MS

/** The server that a subscription may go to now. Throws 400, 429. */
function* readServer(q: Reading, s: Reads, { row }: ListedSubscription, code: string, at: Date) {
  const everyMs = nodeEveryMs((yield* readSettingsIn(q, s)).int('NODE_CHANGE_HOURS'))
  if (everyMs === 0) throw refusal('node-change-off')
  requireRunning(row, at)
  if (row.nodeGroup !== null) throw refusal('has-node-group')
  const node = yield* readNode(q, code)
  if (!node) throw refusal('unknown-node')
  if (code === row.node) throw fieldRefusal('node', 'same-node')
  if (!isSoldNode(node)) throw refusal('node-not-for-sale')
  requireTurn(nextAt(row.nodeChangedAt, everyMs, at), at)
  return node
}

/** How a subscription stands that has so many days. */
export const prospectOf = ({ row, planLabel }: ListedSubscription, days: number): Prospect => ({
  days,
  expiresAt: row.expiresAt,
  planLabel: planLabel ?? row.plan,
})

/** The same of one whose time stays. */
const unchanged = (found: ListedSubscription, at: Date): Prospect =>
  prospectOf(found, daysLeft(found.row.expiresAt, at))

/**
 * Puts a subscription on another server, with the same client and time; pending payments for its renewal follow. Throws 404, 429 for a
 * second time within NODE_CHANGE_HOURS, or 400 where that is off, it does not run, it has a group, or the server is not for sale.
 */
export async function changeServer(
  s: Deps,
  actor: Actor,
  owner: Pick<User, 'tgId'>,
  uuid: string,
  code: string,
): Promise<Prospect> {
  const at = s.clock.now()
  const read = function* (tx: Reading) {
    const found = yield* readOwn(tx, uuid, owner)
    yield* readServer(tx, s, found, code, at)
    return found
  }
  const changed = await changePlaced(
    s,
    function* (tx) {
      return [(yield* read(tx)).row.node]
    },
    function* (tx) {
      const found = yield* read(tx)
      const now = formatTimestamp(at)
      yield* moveHomes(tx, [uuid], code)
      yield* noteNodeChange(tx, uuid, now)
      const detail = `tg_id=${found.row.tgId} node=${code}`
      yield* audit(tx, actor, now, { action: 'subscription.change', object: uuid, detail })
      return { found, next: yield* readOwn(tx, uuid, owner) }
    },
  )
  return unchanged(changed, at)
}

/** What a change of server would lead to: the same time. Throws as `changeServer` does. */
export function previewServer(s: Reads, owner: Pick<User, 'tgId'>, uuid: string, code: string) {
  const at = s.clock.now()
  return s.db.read(function* (q): Steps<Prospect> {
    const found = yield* readOwn(q, uuid, owner)
    yield* readServer(q, s, found, code, at)
    return unchanged(found, at)
  })
}

// The plan.

const hasPrice = ({ archived, price, days }: Plan) => !archived && price > 0 && days > 0

/** A subscription whose days may become those of another plan, and the plans that are sold for money. */
interface Terms {
  own: Days
  sold: Plan[]
}

/** Throws 400. */
function* readTerms(q: Reading, s: Reads, row: Subscription, at: Date): Steps<Terms> {
  requireRunning(row, at)
  if (row.expiresAt === ENDLESS) throw refusal('has-no-end')
  if (isWaiting(row, formatTimestamp(at))) throw refusal('subscription-not-begun')
  const sold = yield* readPricedPlans(q)
  const plan = sold.find(({ code }) => code === row.plan)
  if (!plan) throw refusal('own-plan-not-for-sale')
  const { currency } = s.config
  const paid = yield* readPaidDays(q, row)
  const own = { plan, seconds: secondsLeft(row, at), paid, dayWorth: row.dayWorth, currency }
  return { own, sold }
}

/** The plan of those that are sold for money; `own` is another. Throws 400. */
function* readSold(q: Reading, sold: readonly Plan[], code: string, own: string): Steps<Plan> {
  if (code === own) throw fieldRefusal('plan', 'same-plan')
  const plan = sold.find((one) => one.code === code)
  if (!plan) {
    const found = yield* readPlan(q, code)
    if (!found) throw refusal('unknown-plan')
    throw refusal(found.archived ? 'plan-archived' : 'plan-not-for-sale')
  }
  yield* requireSoldGroup(q, plan.nodeGroup)
  return plan
}

/** The home under another plan: the present one where that is still sold with it, else the first that is. */
function* readHome(q: Reading, row: Subscription, { nodeGroup }: Plan): Steps<Node> {
  const among = nodeGroup === null ? yield* readNodesOf(q, row) : yield* readMembers(q, nodeGroup)
  const own = among.find(({ code }) => code === row.node)
  const isKept = own && (isSoldNode(own) || nodeGroup !== null)
  const home = isKept ? own : (among.find(isSoldNode) ?? own)
  if (!home) throw refusal('unknown-node')
  return home
}

/** A subscription as it would be by another plan. */
interface Conversion extends Converted, Prospect {
  plan: Plan
  home: Node
  /** Whether its traffic stays as it is. */
  keepsTraffic: boolean
}

/**
 * Whether a plan is sold with the traffic that a subscription has, so that nothing of it changes: what is used, and paid for in days, of one
 * quota can't be told in another one.
 */
const keepsTraffic = (row: Subscription, own: Plan, plan: Plan): boolean =>
  hasSameTraffic(own, plan) &&
  row.quotaPeriod === plan.quotaPeriod &&
  (row.quotaBytes === null) === (plan.quotaGb === null)

/** Throws 400 for a plan that is not sold, of which there would be less than a day, or more than a date can say. */
function* conversionTo(
  q: Reading,
  row: Subscription,
  { own, sold }: Terms,
  code: string,
  at: Date,
): Steps<Conversion> {
  const plan = yield* readSold(q, sold, code, row.plan)
  const home = yield* readHome(q, row, plan)
  const { days, worth } = converted(own, plan, sold)
  if (days === 0) throw refusal('too-little-left')
  const end = addDays(at, days)
  if (!(end < parseTimestamp(ENDLESS))) throw fieldRefusal('expires_at', 'too-late')
  const expiresAt = formatTimestamp(end)
  const keeps = keepsTraffic(row, own.plan, plan)
  return { days, worth, expiresAt, planLabel: plan.label, plan, home, keepsTraffic: keeps }
}

/** What a subscription becomes by another plan. Throws 404, 400, 429. */
function* readConversion(q: Reading, s: Reads, { uuid, changer, wanted, at }: PlanOrder) {
  const found = yield* readOwn(q, uuid, changer)
  if (changer !== 'admin' && !(yield* readSettingsIn(q, s)).flag('PAYMENTS_ENABLED')) {
    throw refusal('payments-off')
  }
  const terms = yield* readTerms(q, s, found.row, at)
  const conversion = yield* conversionTo(q, found.row, terms, wanted.plan, at)
  if (changer !== 'admin' && !conversion.keepsTraffic) throw refusal('other-traffic')
  requireTurn(nextAt(found.row.planChangedAt, PLAN_EVERY_MS, at), at)
  if ((wanted.days ?? conversion.days) !== conversion.days) throw refusal('another-offer')
  return { found, own: terms.own, conversion }
}

/** The plan whose days are wanted, by its code, and how many of them, as they were shown; undefined: as many as there are. */
export interface WantedPlan {
  plan: string
  days?: number | undefined
}

interface PlanOrder {
  uuid: string
  changer: Changer
  wanted: WantedPlan
  at: Date
}

/** Writes a conversion: what was paid before stands for as much of the new days as of the old. */
function* convertIn(
  tx: Query,
  s: Deps,
  actor: Actor,
  {
    found: { row },
    own,
    conversion,
  }: { found: ListedSubscription; own: Days; conversion: Conversion },
  at: Date,
) {
  const { plan, home, days, worth, expiresAt } = conversion
  const { uuid } = row
  const now = formatTimestamp(at)
  if (home.code !== row.node) yield* moveHomes(tx, [uuid], home.code)
  if (plan.nodeGroup !== row.nodeGroup) yield* setGroup(tx, uuid, plan.nodeGroup)
  yield* putPlanDays(tx, uuid, {
    plan: plan.code,
    expiresAt,
    reminded: countPastReminders(expiresAt, at),
    planChangedAt: now,
    dayWorth: dayWorthOf(worth),
  })
  if (!conversion.keepsTraffic) {
    yield* putQuota(tx, uuid, replaced(quotaOf(row), quotaOfPlan(plan), { ...momentOf(s), at }))
    yield* tellLimited(tx, s, now, row)
  }
  for (const payment of own.paid) {
    yield* updatePayment(tx, payment.id, { givenSeconds: givenAfter(payment, own.seconds, days) })
  }
  yield* audit(tx, actor, now, {
    action: 'subscription.change',
    object: uuid,
    detail: `tg_id=${row.tgId} plan=${plan.code} from=${row.plan} days=${days} expires_at=${expiresAt} before=${row.expiresAt}`,
  })
}

/** A subscription that has so many days of another plan from now on. */
export interface ConvertedSubscription extends ListedSubscription {
  days: number
}

/**
 * Gives a subscription the days of another plan that its own are worth, with that plan's servers. Its traffic stays as it is; an admin may change it
 * to a plan with other traffic, whose quota it then has, and what it has used stays used.
 * The same client, on its home where the plan has that. Throws 404, 429 for a second time within 24 hours, or 400 where it does not run, has
 * no end or has not begun, one of both plans is not sold, the traffic is another one, less than a day would be left, or it is another number of days
 * than is wanted.
 */
export async function changeToPlan(
  s: Deps,
  actor: Actor,
  changer: Changer,
  uuid: string,
  wanted: WantedPlan,
): Promise<ConvertedSubscription> {
  const at = s.clock.now()
  const order = { uuid, changer, wanted, at }
  return changePlaced(
    s,
    function* (tx) {
      const { found, conversion } = yield* readConversion(tx, s, order)
      const { home, plan } = conversion
      return yield* nodesLeft(tx, found.row, { node: home.code, nodeGroup: plan.nodeGroup })
    },
    function* (tx) {
      const read = yield* readConversion(tx, s, order)
      yield* convertIn(tx, s, actor, read, at)
      const { days } = read.conversion
      return { found: read.found, next: { ...(yield* readOwn(tx, uuid, changer)), days } }
    },
  )
}

/** What a change of plan would lead to. Throws as `changeToPlan` does. */
export function previewPlan(s: Reads, changer: Changer, uuid: string, wanted: WantedPlan) {
  const at = s.clock.now()
  return s.db.read(function* (q): Steps<Prospect> {
    return (yield* readConversion(q, s, { uuid, changer, wanted, at })).conversion
  })
}

// What there is to choose.

/** What the owner of a subscription may change it to, and from when on; null: now. */
export interface Choices {
  nodes: Node[]
  nodesFrom: string | null
  plans: Conversion[]
  plansFrom: string | null
}

/** The value of a reading; undefined where it is refused. */
function* unlessRefused<T>(reading: Steps<T>): Steps<T | undefined> {
  try {
    return yield* reading
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** The plans that days can be changed for: of all that give the same one, which says what a day of it costs, and none that gives what there is. */
function* listPlansFor(q: Reading, s: Reads, row: Subscription, at: Date) {
  const plans: Conversion[] = []
  const terms = yield* unlessRefused(readTerms(q, s, row, at))
  if (!terms) return plans
  const { own, sold } = terms
  for (const plan of sold) {
    const known = [own.plan, ...plans.map((one) => one.plan)]
    if (known.some((one) => givesTheSame(one, plan))) continue
    const { code } = dearestLike(plan, sold)
    const conversion = yield* unlessRefused(conversionTo(q, row, terms, code, at))
    if (conversion?.keepsTraffic) plans.push(conversion)
  }
  return plans
}

/** What there is to choose for a subscription. Throws 404. */
export function readChoices(s: Reads, owner: Pick<User, 'tgId'>, uuid: string): Promise<Choices> {
  const at = s.clock.now()
  const settings = readSettings(s)
  const everyMs = nodeEveryMs(settings.int('NODE_CHANGE_HOURS'))
  return s.db.read(function* (q): Steps<Choices> {
    const { row } = yield* readOwn(q, uuid, owner)
    const moves = everyMs > 0 && row.nodeGroup === null && RUNNING.has(stateOf(row, at))
    return {
      nodes: moves
        ? keptNodes(s.db).filter((node) => isSoldNode(node) && node.code !== row.node)
        : [],
      nodesFrom: nextAt(row.nodeChangedAt, everyMs, at),
      plans: settings.flag('PAYMENTS_ENABLED') ? yield* listPlansFor(q, s, row, at) : [],
      plansFrom: nextAt(row.planChangedAt, PLAN_EVERY_MS, at),
    }
  })
}

/** Whether anybody can find another server, or a plan that gives something else than their own. */
export function changesOffered({
  nodes,
  plans,
  settings,
}: {
  nodes: ReadonlyMap<string, Node>
  plans: ReadonlyMap<string, Plan>
  settings: Settings
}): { servers: boolean; plans: boolean } {
  const sold = [...plans.values()].filter(hasPrice)
  const servers = [...nodes.values()].filter(isSoldNode)
  return {
    servers: nodeEveryMs(settings.int('NODE_CHANGE_HOURS')) > 0 && servers.length > 1,
    plans: sold.some((plan) =>
      sold.some((other) => hasSameTraffic(plan, other) && !givesTheSame(plan, other)),
    ),
  }
}
