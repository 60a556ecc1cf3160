/** The admin's listing of subscriptions: search, filters, pages by key. */

import { type Reading, run, type Steps } from './engine/database.ts'
import { BARE, indexed, inOrder, unindexed } from './engine/dialect.ts'
import { and, eq, exists, gt, inArray, isNull, lt, lte, type SQL, sql } from './engine/orm.ts'
import {
  countUpTo,
  fewOf,
  findRows,
  inOrderOf,
  type Listing,
  type OwnedRows,
  ownedRows,
  type Rows,
} from './listing.ts'
import type { PageRequest } from './paging.ts'
import { endingCounts, payments, subscriptions, userSummaries, users } from './schema/index.ts'
import { isDisabled, isHeld, isLimited, isOpen, isRevoked, where } from './states.ts'
import { type ListedSubscription, listed } from './subscriptions.ts'
import { isUuid, numberSearch, userSearch, withOwnNumbers } from './users.ts'

export const SUBSCRIPTION_STATES = [
  'active',
  'limited',
  'held',
  'disabled',
  'expired',
  'revoked',
] as const
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number]

export interface SubscriptionFilter {
  state?: SubscriptionState
  node?: string
  nodeGroup?: string
  plan?: string
  tgId?: number
  text?: string
  expiresBefore?: string
}

export const SUBSCRIPTION_SORTS = ['created_at', 'expires_at'] as const
export type SubscriptionSort = (typeof SUBSCRIPTION_SORTS)[number]

const { seq, tgId, node, nodeGroup, plan, createdAt, expiresAt, limitedAt } = subscriptions

const by = (index: string) => indexed(subscriptions, `subscriptions_${index}`)

/** The ends that a filter leaves. */
const endsOf = ({ state, expiresBefore }: SubscriptionFilter, now: string) =>
  and(
    state === 'active' || state === 'limited' ? gt(expiresAt, now) : undefined,
    state === 'expired' ? lte(expiresAt, now) : undefined,
    expiresBefore === undefined ? undefined : lt(expiresAt, expiresBefore),
  )

/** Those with indexes of their own. */
const APART = { held: isHeld, disabled: isDisabled, revoked: isRevoked }

const isApart = (state: SubscriptionState | undefined): state is keyof typeof APART =>
  state !== undefined && state in APART

/** The rows of a state, save for their ends. */
function inState(state: SubscriptionState): SQL {
  if (isApart(state)) return where(APART[state])
  if (state === 'limited') return where(isLimited)
  return state === 'active' ? sql`${where(isOpen)} and ${isNull(limitedAt)}` : where(isOpen)
}

/** All that a filter asks for but its search. */
const filtered = (filter: SubscriptionFilter, now: string) =>
  and(
    filter.state && inState(filter.state),
    endsOf(filter, now),
    filter.node === undefined ? undefined : eq(node, filter.node),
    filter.nodeGroup === undefined ? undefined : eq(nodeGroup, filter.nodeGroup),
    filter.plan === undefined ? undefined : eq(plan, filter.plan),
    filter.tgId === undefined ? undefined : eq(tgId, filter.tgId),
  )

/** The subscription with this id, and what the payment with this id paid for. */
const withId = (uuid: string) =>
  sql`${subscriptions.uuid} in (select ${uuid} union all
    select ${payments.subscriptionUuid} from ${payments} where ${payments.id} = ${uuid} union all
    select paid.uuid from ${subscriptions} as paid where paid.payment_id = ${uuid})`

/** Of users only those who have a subscription in a state, where that is known of each. */
function having(state: SubscriptionState | undefined, now: string, found: SQL): SQL {
  if (state !== 'active') return sql`select ${users.tgId} from ${users} where ${found}`
  return sql`select ${userSummaries.tgId} from ${unindexed(userSummaries)}
    where ${gt(userSummaries.lastEnd, now)}
      and ${userSummaries.tgId} in (select ${users.tgId} from ${users} where ${found})`
}

/** The subscriptions of the users that a search finds. */
function search(
  q: Reading,
  text: string,
  state: SubscriptionState | undefined,
  now: string,
): Steps<OwnedRows> {
  const found = userSearch(text)
  const owners = { from: sql`${users}`, where: found }
  const byNumber = numberSearch(text)
  if (byNumber) {
    // Spans of the ids, which the rows have themselves.
    const each = byNumber(sql`${tgId}`)
    return ownedRows(q, owners, { rows: { from: by('list'), where: each }, each, all: each })
  }
  const ofOwner = eq(users.tgId, tgId)
  return ownedRows(q, owners, {
    rows: { from: inOrder(users, by('list'), ofOwner), where: found },
    each: exists(sql`(select 1 from ${users} where ${ofOwner} and ${userSearch(text, BARE)})`),
    all: sql`${tgId} in (${having(state, now, found)})`,
  })
}

/** Rows by an index that begins with what the filter names, smallest first. */
function waysTo({ state, node: code, nodeGroup: group, plan: named }: SubscriptionFilter): Rows[] {
  const ways: Rows[] = []
  if (state === 'limited' || isApart(state)) {
    ways.push({ from: by(state), where: inState(state) })
  }
  if (group !== undefined) ways.push({ from: by('group'), where: eq(nodeGroup, group) })
  if (code !== undefined) ways.push({ from: by('node'), where: eq(node, code) })
  if (named !== undefined) ways.push({ from: by('plan'), where: eq(plan, named) })
  return ways
}

/**
 * At least so many subscriptions match: those that end on whole days of the filter. Of those with indexes of their own nothing is
 * known, of a user's or a search's neither.
 */
function* countKnown(q: Reading, filter: SubscriptionFilter, now: string): Steps<number> {
  const { state, expiresBefore } = filter
  if (state === 'limited' || isApart(state) || filter.nodeGroup !== undefined) return 0
  const { day, n, node: onNode, plan: ofPlan } = endingCounts
  const dayOf = (at: string) => at.slice(0, 'YYYY-MM-DD'.length)
  const [row] = yield* run(
    q
      .select({ n: sql<number>`coalesce(sum(${n}), 0)` })
      .from(endingCounts)
      .where(
        and(
          state === 'active' ? gt(day, dayOf(now)) : undefined,
          state === 'expired' ? lt(day, dayOf(now)) : undefined,
          expiresBefore === undefined ? undefined : lt(day, dayOf(expiresBefore)),
          filter.node === undefined ? undefined : eq(onNode, filter.node),
          filter.plan === undefined ? undefined : eq(ofPlan, filter.plan),
        ),
      ),
  )
  const open = row?.n ?? 0
  if (state !== 'active' || open === 0) return open
  const limited = { from: by('limited'), where: where(isLimited) }
  return Math.max(0, open - (yield* countUpTo(q, limited, open)))
}

/** The index that has the rows in the order of the page, and what it answers of the filter by itself. */
function walkOf(filter: SubscriptionFilter, sort: SubscriptionSort, now: string): Rows {
  const { state } = filter
  if (sort === 'created_at')
    return waysTo(filter)[0] ?? { from: by('created_at'), where: undefined }
  if (isApart(state)) return { from: by(`${state}_ends`), where: inState(state) }
  return { from: by('expires_at'), where: endsOf(filter, now) }
}

/** The index from which the rows of the filter are counted; undefined: that of the walk. */
function countedOf({
  state,
  node: code,
  nodeGroup: group,
  expiresBefore,
}: SubscriptionFilter): SQL | undefined {
  if (isApart(state)) return undefined
  if (state === 'limited') return by('limited')
  if (group !== undefined) return by('group')
  if (state && code !== undefined) return by('clients')
  return state || expiresBefore !== undefined ? by('expires_at') : undefined
}

function* planOf(
  q: Reading,
  filter: SubscriptionFilter,
  sort: SubscriptionSort,
  now: string,
): Steps<Listing> {
  const order = {
    column: sort === 'created_at' ? sql`${createdAt}` : sql`${expiresAt}`,
    key: sql<number>`${seq}`,
  }
  const others = filtered(filter, now)
  const { text, state } = filter
  if (text && isUuid(text)) {
    const where = and(others, withId(text.toLowerCase()))
    return { ...order, rows: { from: sql`${subscriptions}`, where } }
  }
  if (filter.tgId !== undefined && !text)
    return { ...order, rows: { from: by('list'), where: others } }
  const found = text ? yield* search(q, text, state, now) : undefined
  if (found?.owners === 'few')
    return { ...order, rows: { from: by('list'), where: and(found.all, others) } }
  const few = yield* fewOf(q, waysTo(filter))
  if (few) return { ...order, rows: { from: few.from, where: and(others, found?.each) } }
  const walk = walkOf(filter, sort, now)
  if (found?.owners === 'some') {
    if (isApart(state))
      return { ...order, rows: { from: walk.from, where: and(others, found.all) } }
    return {
      ...order,
      rows: { from: walk.from, where: and(others, found.each) },
      walk,
      detour: { from: by('list'), where: and(found.all, others) },
      counted: { from: found.rows.from, where: and(found.rows.where, others) },
    }
  }
  const where = and(others, found?.each)
  const from = countedOf(filter)
  return {
    ...order,
    rows: { from: walk.from, where },
    counted: from && { from, where },
    known: text ? 0 : yield* countKnown(q, filter, now),
  }
}

/** One page of the admin's listing, and the count of all matches (capped at COUNT_CAP + 1). */
export function* listSubscriptions(
  q: Reading,
  filter: SubscriptionFilter,
  sort: SubscriptionSort,
  page: PageRequest,
  now: string,
): Steps<{ rows: ListedSubscription[]; total: number }> {
  const plan = yield* planOf(q, yield* withOwnNumbers(q, filter), sort, now)
  const { keys, total } = yield* findRows(q, plan, page)
  const rows = yield* run(listed(q).where(inArray(sql`${seq}`, keys)))
  return { rows: inOrderOf(keys, rows, ({ row }) => row.seq), total }
}
