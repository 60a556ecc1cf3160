/** The admin's listing of payments. */

import type { Database } from './open.ts'
import { and, eq, isNotNull, type SQL, sql } from './orm.ts'
import {
  afterCursor,
  COUNT_CAP,
  countCapped,
  hasPrefix,
  isIdPrefix,
  type PageRequest,
  pageOrder,
} from './paging.ts'
import type { ProviderName } from './payments.ts'
import { nodes, type Payment, payments, plans, users } from './schema.ts'
import { isNamed, isUuid } from './users.ts'

/** A payment with what its view shows beside it. */
export interface ListedPayment {
  row: Payment
  rowid: number
  username: string | null
  nodeLabel: string | null
  planLabel: string | null
}

export interface PaymentFilter {
  status?: Payment['status']
  provider?: ProviderName
  node?: string
  plan?: string
  tgId?: number
  /** Only those that an admin has to look at. */
  review?: boolean
  text?: string
}

const rowid = sql<number>`payments.rowid`

/** Digits: a tg_id's beginning; a UUID: our id or the provider's; other text: the whole of the provider's id, or a username's beginning. */
function search(text: string): SQL {
  const external = sql`(${payments.externalId} = ${text} and ${payments.externalId} <> '')`
  if (isUuid(text)) return sql`(${payments.id} = ${text.toLowerCase()} or ${external})`
  if (isIdPrefix(text)) return sql`(${hasPrefix(sql`${payments.tgId}`, text)} or ${external})`
  return sql`(${external} or ${payments.tgId} in (select ${users.tgId} from ${users} where ${isNamed(text)}))`
}

const listed = (db: Database) =>
  db.q
    .select({
      row: payments,
      rowid,
      username: users.username,
      nodeLabel: nodes.label,
      planLabel: plans.label,
    })
    .from(payments)
    .leftJoin(users, eq(users.tgId, payments.tgId))
    .leftJoin(nodes, eq(nodes.code, payments.node))
    .leftJoin(plans, eq(plans.code, payments.plan))
    .$dynamic()

/** One page of the listing, and the count of all matches (capped at COUNT_CAP + 1). */
export async function listPayments(
  db: Database,
  filter: PaymentFilter,
  page: PageRequest,
): Promise<{ rows: ListedPayment[]; total: number }> {
  const { status, provider, node, plan, tgId, review, text } = filter
  const where = and(
    status && eq(payments.status, status),
    provider && eq(payments.provider, provider),
    node === undefined ? undefined : eq(payments.node, node),
    plan === undefined ? undefined : eq(payments.plan, plan),
    tgId === undefined ? undefined : eq(payments.tgId, tgId),
    review ? isNotNull(payments.reviewReason) : undefined,
    text ? search(text) : undefined,
  )
  const column = sql`${payments.createdAt}`
  const rows = await listed(db)
    .where(and(where, afterCursor(column, rowid, page)))
    .orderBy(...pageOrder(column, rowid, page))
    .limit(page.limit)
  const total = await countCapped(
    db.q,
    sql`select 1 from ${payments} where ${where ?? sql`1 = 1`} limit ${COUNT_CAP + 1}`,
  )
  return { rows, total }
}

/** One payment as the listing has it. */
export async function findListedPayment(
  db: Database,
  id: string,
): Promise<ListedPayment | undefined> {
  const [found] = await listed(db).where(eq(payments.id, id))
  return found
}
