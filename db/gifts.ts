/** Gift codes: the admin's listing, and the conditional changes. */
import { ask, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { param, textsOf } from './engine/dialect.ts'
import { and, eq, gt, isNotNull, isNull, lte, or, type SQL, sql } from './engine/orm.ts'
import { written } from './engine/question.ts'
import { afterCursor, COUNT_CAP, countCapped, type PageRequest, pageOrder } from './paging.ts'
import { type GiftCode, giftCodes, nodes, plans } from './schema/index.ts'
import { isNamed, isOfFound, numberSearch, withOwnNumbers } from './users.ts'

const unused = and(isNull(giftCodes.usedAt), isNull(giftCodes.revokedAt))

/** What makes a code redeemable at a time, save that its node and plan exist. */
export const isRedeemable = (now: string) =>
  and(unused, or(isNull(giftCodes.expiresAt), gt(giftCodes.expiresAt, now)))

export const GIFT_STATES = ['unused', 'used', 'expired', 'revoked'] as const
export type GiftState = (typeof GIFT_STATES)[number]

export interface GiftFilter {
  /** Without it all but the revoked ones. */
  state?: GiftState
  node?: string
  plan?: string
  text?: string
}

function inState(state: GiftState | undefined, now: string): SQL | undefined {
  if (state === 'revoked') return isNotNull(giftCodes.revokedAt)
  if (state === 'used') return isNotNull(giftCodes.usedAt)
  if (state === 'unused') return isRedeemable(now)
  if (state === 'expired') return and(unused, lte(giftCodes.expiresAt, now))
  return isNull(giftCodes.revokedAt)
}

/** A code's beginning; digits also that of the redeemer's tg_id, a leading @ that of their username. */
function* search(q: Reading, text: string): Steps<SQL> {
  if (text.startsWith('@')) {
    return yield* isOfFound(q, sql`${giftCodes.usedBy}`, (mark) => isNamed(text, mark))
  }
  const prefix = text.toUpperCase()
  const byCode = sql`(${giftCodes.code} >= ${prefix} and ${giftCodes.code} < ${`${prefix}\u{10ffff}`})`
  const byNumber = numberSearch(text)
  return byNumber ? sql`(${byCode} or ${byNumber(sql`${giftCodes.usedBy}`)})` : byCode
}

/** A gift code with what its view shows beside it. */
export interface ListedGift {
  row: GiftCode
  nodeLabel: string | null
  planLabel: string | null
}

/** One page of the admin's listing, and the count of all matches (capped at COUNT_CAP + 1). */
export function* listGifts(
  q: Reading,
  filter: GiftFilter,
  page: PageRequest,
  now: string,
): Steps<{ rows: ListedGift[]; total: number }> {
  const { text } = yield* withOwnNumbers(q, { text: filter.text ?? '' })
  const where = and(
    inState(filter.state, now),
    filter.node === undefined ? undefined : eq(giftCodes.node, filter.node),
    filter.plan === undefined ? undefined : eq(giftCodes.plan, filter.plan),
    text ? yield* search(q, text) : undefined,
  )
  const [column, key] = [sql`${giftCodes.createdAt}`, sql`${giftCodes.seq}`]
  const rows = yield* run(
    q
      .select({ row: giftCodes, nodeLabel: nodes.label, planLabel: plans.label })
      .from(giftCodes)
      .leftJoin(nodes, eq(nodes.code, giftCodes.node))
      .leftJoin(plans, eq(plans.code, giftCodes.plan))
      .where(and(where, afterCursor(column, key, page)))
      .orderBy(...pageOrder(column, key, page))
      .limit(page.limit),
  )
  if (page.cursor === null && rows.length < page.limit) return { rows, total: rows.length }
  const total = yield* countCapped(
    q,
    sql`select 1 from ${giftCodes} where ${where ?? sql`1 = 1`} limit ${COUNT_CAP + 1}`,
  )
  return { rows, total }
}

type NewGifts = Pick<
  GiftCode,
  | 'node'
  | 'plan'
  | 'nodeGroup'
  | 'quotaBytes'
  | 'quotaPeriod'
  | 'createdAt'
  | 'expiresAt'
  | 'startSeconds'
  | 'startBy'
>

const add = written<NewGifts & { codes: string }, unknown>(
  `insert into gift_codes (code, node, plan, node_group, quota_bytes, quota_period, created_at, expires_at, start_seconds, start_by)
   select value, ${param('node')}, ${param('plan')}, ${param('nodeGroup')}, ${param('quotaBytes')}, ${param('quotaPeriod')},
     ${param('createdAt')}, ${param('expiresAt')}, ${param('startSeconds')}, ${param('startBy')}
   from (${textsOf('codes')}) as codes returning code`,
)

/** Many codes as one value, which SQLite takes apart: a statement with a place for each is long in building. */
export function* insertGifts(_tx: Query, { codes, ...gift }: NewGifts & { codes: string[] }) {
  yield* ask(add, { ...gift, codes: JSON.stringify(codes) })
}

export function* readGift(tx: Reading, code: string) {
  const [gift] = yield* run(tx.select().from(giftCodes).where(eq(giftCodes.code, code)))
  return gift as GiftCode | undefined
}

/** Revokes an unused code; false when it was used or revoked before, or does not exist. */
export function* revokeGift(tx: Query, code: string, now: string) {
  const rows = yield* run(
    tx
      .update(giftCodes)
      .set({ revokedAt: now })
      .where(and(eq(giftCodes.code, code), unused))
      .returning({ code: giftCodes.code }),
  )
  return rows.length > 0
}

/** Uses a redeemable code up; false when it is none any more. */
export function* useGift(tx: Query, code: string, tgId: number, now: string) {
  const rows = yield* run(
    tx
      .update(giftCodes)
      .set({ usedAt: now, usedBy: tgId })
      .where(and(eq(giftCodes.code, code), isRedeemable(now)))
      .returning({ code: giftCodes.code }),
  )
  return rows.length > 0
}
