/** The admin's listing of payments. */

import { type Reading, run, type Steps } from './engine/database.ts'
import { BARE, indexed, inOrder } from './engine/dialect.ts'
import { and, eq, exists, inArray, or, type SQL, sql } from './engine/orm.ts'
import {
  fewOf,
  findRows,
  inOrderOf,
  type Listing,
  type OwnedRows,
  ownedRows,
  type Rows,
} from './listing.ts'
import type { PageRequest } from './paging.ts'
import { nodes, type Payment, payments, plans, trafficPacks, users } from './schema/index.ts'
import { isNamed, isUuid, numberSearch, withOwnNumbers } from './users.ts'

/** A payment with what its view shows beside it. */
export interface ListedPayment {
  row: Payment
  username: string | null
  name: string | null
  nodeLabel: string | null
  planLabel: string | null
  packLabel: string | null
}

export interface PaymentFilter {
  status?: Payment['status']
  provider?: string
  node?: string
  plan?: string
  tgId?: number
  /** Only those that an admin has to look at. */
  review?: boolean
  text?: string
}

const { seq } = payments

const by = (index: string) => indexed(payments, `payments_${index}`)
const { tgId: owner } = payments

/** The payments of the users whom a search finds: digits are a tg_id's beginning, also that of a deleted user. */
function search(q: Reading, text: string): Steps<OwnedRows> {
  const byNumber = numberSearch(text)
  if (byNumber) {
    const each = byNumber(sql`${owner}`)
    const rows = { from: by('tg_id'), where: each }
    return ownedRows(q, rows, { rows, each, all: each })
  }
  const ofOwner = eq(users.tgId, owner)
  const named = { from: sql`${users}`, where: isNamed(text) }
  return ownedRows(q, named, {
    rows: { from: inOrder(users, by('tg_id'), ofOwner), where: isNamed(text) },
    each: exists(sql`(select 1 from ${users} where ${ofOwner} and ${isNamed(text, BARE)})`),
    all: sql`${owner} in (select ${users.tgId} from ${users} where ${isNamed(text)})`,
  })
}

/** The providers that there are payments of: a look at the index for each, where DISTINCT would read all of it. */
const EVERY_PROVIDER = sql`(with recursive known (name) as (
  select min(provider) from payments
  union all
  select (select min(provider) from payments where provider > name) from known where name is not null
) select name from known)`

/** The payments that a provider knows by this id; its index begins with the provider. */
const withExternalId = (text: string) =>
  and(
    sql`${payments.provider} in ${EVERY_PROVIDER}`,
    eq(payments.externalId, text),
    sql`${payments.externalId} <> ''`,
  )

/** All that a filter asks for but its search. */
const filtered = ({ status, provider, node, plan, tgId, review }: PaymentFilter) =>
  and(
    status && eq(payments.status, status),
    provider === undefined ? undefined : eq(payments.provider, provider),
    node === undefined ? undefined : eq(payments.node, node),
    plan === undefined ? undefined : eq(payments.plan, plan),
    tgId === undefined ? undefined : eq(owner, tgId),
    review ? sql`${payments.reviewReason} is not null` : undefined,
  )

/** All rows of a provider or plan, else all, in the order of the page. */
function walkOf({ provider, plan }: PaymentFilter): Rows {
  if (provider !== undefined)
    return { from: by('provider'), where: eq(payments.provider, provider) }
  if (plan !== undefined) return { from: by('plan'), where: eq(payments.plan, plan) }
  return { from: by('created_at'), where: undefined }
}

/** Rows by an index that has what the filter names together. In words that name the partial indexes. */
function waysTo(filter: PaymentFilter): Rows[] {
  const ways: Rows[] = []
  if (filter.review) ways.push({ from: by('review'), where: sql`review_reason is not null` })
  if (filter.status === 'pending')
    ways.push({ from: by('next_check_at'), where: sql`status = 'pending'` })
  const walk = walkOf(filter)
  if (walk.where) ways.push(walk)
  return ways
}

const order = { column: sql`${payments.createdAt}`, key: sql<number>`${seq}` }

/** Digits: a tg_id's beginning; a UUID: our id or the provider's; other text: the whole of the provider's id, or a username's beginning. */
function* planSearch(
  q: Reading,
  text: string,
  others: SQL | undefined,
  few: Rows | undefined,
  walk: Rows,
): Steps<Listing> {
  const external = yield* run(q.select({ seq }).from(payments).where(withExternalId(text)))
  const known = inArray(
    seq,
    external.map((row) => row.seq),
  )
  const anywhere = sql`${payments}`
  if (isUuid(text)) {
    const where = and(others, or(eq(payments.id, text.toLowerCase()), known))
    return { ...order, rows: { from: anywhere, where } }
  }
  const { owners, rows, each, all } = yield* search(q, text)
  const detour = { from: by('tg_id'), where: and(all, others) }
  if (external.length > 0) {
    const found =
      owners === 'few' ? { from: anywhere, where: all } : { from: by('created_at'), where: each }
    return { ...order, rows: { from: found.from, where: and(others, or(found.where, known)) } }
  }
  if (owners === 'few') return { ...order, rows: detour }
  if (few) return { ...order, rows: { from: few.from, where: and(few.where, each, others) } }
  const tested = { from: walk.from, where: and(walk.where, each, others) }
  if (owners === 'many') return { ...order, rows: tested }
  const counted = { from: rows.from, where: and(rows.where, others) }
  return { ...order, rows: tested, walk, detour, counted }
}

function* planOf(q: Reading, filter: PaymentFilter): Steps<Listing> {
  const { tgId, text } = filter
  const others = filtered(filter)
  if (tgId !== undefined && !text) return { ...order, rows: { from: by('tg_id'), where: others } }
  const few = yield* fewOf(q, waysTo(filter))
  const walk = walkOf(filter)
  if (text) return yield* planSearch(q, text, others, few, walk)
  const { from, where } = few ?? walk
  return { ...order, rows: { from, where: and(where, others) } }
}

const listed = (q: Reading) =>
  q
    .select({
      row: payments,
      username: users.username,
      name: users.name,
      nodeLabel: nodes.label,
      planLabel: plans.label,
      packLabel: trafficPacks.label,
    })
    .from(payments)
    .leftJoin(users, eq(users.tgId, payments.tgId))
    .leftJoin(nodes, eq(nodes.code, payments.node))
    .leftJoin(plans, eq(plans.code, payments.plan))
    .leftJoin(trafficPacks, eq(trafficPacks.code, payments.pack))
    .$dynamic()

/** One page of the listing, and the count of all matches (capped at COUNT_CAP + 1). */
export function* listPayments(
  q: Reading,
  filter: PaymentFilter,
  page: PageRequest,
): Steps<{ rows: ListedPayment[]; total: number }> {
  const plan = yield* planOf(q, yield* withOwnNumbers(q, filter))
  const { keys, total } = yield* findRows(q, plan, page)
  const rows = yield* run(listed(q).where(inArray(sql`${seq}`, keys)))
  return { rows: inOrderOf(keys, rows, ({ row }) => row.seq), total }
}

/** One payment as the listing has it. */
export function* findListedPayment(q: Reading, id: string): Steps<ListedPayment | undefined> {
  const [found] = yield* run(listed(q).where(eq(payments.id, id)))
  return found
}
