/** The admin's listing of users: search, filters, pages by key. Who is listed follows from `user_summaries`, without visiting rows. */

import { type Reading, run, type Steps } from './engine/database.ts'
import { BARE, indexed, inOrder, unindexed } from './engine/dialect.ts'
import { and, eq, inArray, type SQL, sql } from './engine/orm.ts'
import type { Rows } from './listing.ts'
import {
  afterCursor,
  COUNT_CAP,
  type Cursor,
  countCapped,
  type PageRequest,
  pageOrder,
} from './paging.ts'
import { devices, payments, subscriptions, userSummaries, users, userTags } from './schema/index.ts'
import { isDisabled, isHeld, where, whereActive } from './states.ts'
import { isNamed, isUuid, numberSearch, withOwnNumbers } from './users.ts'

/**
 * Users with an active, a held or a disabled subscription; `expired`: with one that ran out and none of these; `none`: with no
 * unrevoked one at all.
 */
export const USER_STATES = ['active', 'held', 'disabled', 'expired', 'none'] as const
export type UserState = (typeof USER_STATES)[number]

export interface UserFilter {
  state?: UserState
  banned?: boolean
  text?: string
  tag?: string
}

export const USER_SORTS = ['created_at', 'tg_id'] as const
export type UserSort = (typeof USER_SORTS)[number]

/** A user as the listing shows them. */
export interface ListedUser {
  tgId: number
  telegramId: number | null
  username: string | null
  name: string | null
  email: string | null
  tags: string[]
  createdAt: string
  note: string | null
  bannedAt: string | null
  blockedAt: string | null
  active: number
  held: number
  disabled: number
  /** The nearest expiry of the user's active subscriptions. */
  nextExpiry: string | null
  devices: number
}

const { tgId, createdAt, lastEnd, held, disabled } = userSummaries

/** The users of a state, as a span of an index. */
function inState(state: UserState, now: string): SQL {
  if (state === 'active') return sql`${lastEnd} > ${now}`
  const others = sql`${held} = 0 and ${disabled} = 0`
  if (state === 'expired') return sql`(${lastEnd} <= ${now} and ${others})`
  if (state === 'none') return sql`(${lastEnd} is null and ${others})`
  return sql`${state === 'held' ? held : disabled} > 0`
}

/** The owner of a subscription or payment with this id. */
const ownerOf = (uuid: string) =>
  sql`select ${subscriptions.tgId} from ${subscriptions} where ${subscriptions.uuid} = ${uuid}
    union all select ${payments.tgId} from ${payments} where ${payments.id} = ${uuid}`

/** From this many on it is quicker to walk in the order of the page than to sort what is found: most are met soon. */
const MANY = 150_000

function* isMany(q: Reading, rows: SQL): Steps<boolean> {
  const [row] = yield* run(
    q.select({ n: sql<number>`count(*)` }).from(sql`(${rows} limit ${MANY}) as found`),
  )
  return row?.n === MANY
}

/** A search: the users whom it finds, and whether one is among them. */
interface Search {
  users: SQL
  each: SQL
  /** Their summaries, to be sorted, and to be counted until they are too many. */
  rows: Rows
  counted: Rows
}

/** By the key itself. */
const byId = unindexed(userSummaries)

/** What a query for the numbers of users finds. */
function ofUser(found: SQL): Search {
  const each = sql`${tgId} in (${found})`
  const rows = { from: byId, where: each }
  return { users: found, each, rows, counted: rows }
}

/** Who has a tag. */
function taggedWith(tag: string): Search {
  const has = sql`${userTags.tag} = ${tag}`
  return {
    ...ofUser(sql`select ${userTags.tgId} from ${userTags} where ${has}`),
    each: sql`exists (select 1 from ${userTags} where ${has} and ${userTags.tgId} = ${tgId})`,
  }
}

function searchFor(text: string): Search {
  if (isUuid(text)) return ofUser(ownerOf(text.toLowerCase()))
  const byNumber = numberSearch(text)
  if (byNumber) {
    const each = byNumber(sql`${tgId}`)
    const rows = { from: byId, where: each }
    return { users: sql`select ${tgId} from ${byId} where ${each}`, each, rows, counted: rows }
  }
  if (text.length === 43)
    return ofUser(sql`select ${users.tgId} from ${users} where ${users.token} = ${text}`)
  const named = isNamed(text)
  return {
    ...ofUser(sql`select ${users.tgId} from ${users} where ${named}`),
    each: sql`exists (select 1 from ${users} where ${users.tgId} = ${tgId} and ${isNamed(text, BARE)})`,
    // One after another: the other way looks all of them up before the first is counted.
    counted: { from: inOrder(users, byId, eq(tgId, users.tgId)), where: named },
  }
}

/** How a page is read, and how all that match are counted. */
interface Plan extends Rows {
  counted: Rows
  /** Whether the rows are those that were found, to be sorted; else they are walked in the order of the page. */
  isFound: boolean
}

const by = (index: string) => indexed(userSummaries, `user_summaries_${index}`)

/** The index that has the users of this state together, where they are few. */
function* indexOf(q: Reading, state: UserState, now: string): Steps<SQL | null> {
  const index = by(state === 'held' || state === 'disabled' ? state : 'last_end')
  return (yield* isMany(q, sql`select 1 from ${index} where ${inState(state, now)}`)) ? null : index
}

/** Begins with what is surely few, else with what is few as counted, else walks in the order of the page. */
function* planOf(
  q: Reading,
  { state, banned, text, tag }: UserFilter,
  sort: UserSort,
  now: string,
): Steps<Plan> {
  const bans = banned ? sql`${userSummaries.banned} = 1` : sql`${userSummaries.banned} = 0`
  const others = and(banned === undefined ? undefined : bans, state && inState(state, now))
  const searches = [...(text ? [searchFor(text)] : []), ...(tag ? [taggedWith(tag)] : [])]
  const allBut = (met: Search | undefined, rows: Rows): Rows => {
    const each = searches.flatMap((search) => (search === met ? [] : search.each))
    return { from: rows.from, where: and(others, rows.where, ...each) }
  }
  for (const search of banned ? [] : searches) {
    if (yield* isMany(q, search.users)) continue
    const counted = allBut(search, search.counted)
    return { ...allBut(search, search.rows), counted, isFound: true }
  }
  function* walk() {
    if (banned) return by('banned')
    const few = state && (yield* indexOf(q, state, now))
    return few ?? (sort === 'created_at' ? by('created_at') : byId)
  }
  const rows = allBut(undefined, { from: yield* walk(), where: undefined })
  return { ...rows, counted: rows, isFound: false }
}

const sortColumn = (sort: UserSort) => (sort === 'created_at' ? sql`${createdAt}` : sql`${tgId}`)

/** Where the page after this user starts. */
export const userCursor = (
  user: Pick<ListedUser, 'tgId' | 'createdAt'>,
  sort: UserSort,
): Cursor => ({
  value: sort === 'created_at' ? user.createdAt : String(user.tgId),
  key: user.tgId,
})

/** The rows of these users; what is counted of each is read by `subscriptions_list`, which covers it. */
const rowsOf = (q: Reading, tgIds: number[], now: string) =>
  q
    .select({
      tgId: users.tgId,
      telegramId: users.telegramId,
      username: users.username,
      name: users.name,
      email: users.email,
      tags: users.tags,
      createdAt: users.createdAt,
      note: users.note,
      bannedAt: users.bannedAt,
      blockedAt: users.blockedAt,
      active: sql<number>`count(case when ${whereActive(now)} then 1 end)`,
      held: sql<number>`count(case when ${where(isHeld)} then 1 end)`,
      disabled: sql<number>`count(case when ${where(isDisabled)} then 1 end)`,
      nextExpiry: sql<
        string | null
      >`min(case when ${whereActive(now)} then ${subscriptions.expiresAt} end)`,
      devices: sql<number>`(select count(*) from ${devices} where ${devices.tgId} = ${users.tgId})`,
    })
    .from(users)
    .leftJoin(subscriptions, eq(subscriptions.tgId, users.tgId))
    .where(inArray(users.tgId, tgIds))
    .groupBy(users.tgId)

/** A page of users, and where the one after it starts; null when there is none. */
interface UserPage {
  rows: ListedUser[]
  next: Cursor | null
}

/** One page of the users that match. */
function* readPage(
  q: Reading,
  { from, where, isFound }: Plan,
  sort: UserSort,
  page: PageRequest,
  now: string,
): Steps<UserPage> {
  // The order alone would have SQLite walk all users by their ids.
  const column = isFound ? sql`${BARE}${sortColumn(sort)}` : sortColumn(sort)
  const key = sql`${tgId}`
  // First only who is on the page: what is counted of users is worth counting for these alone.
  const ids = yield* run(
    q
      .select({ tgId: sql<number>`${tgId}`, createdAt: sql<string>`${createdAt}` })
      .from(from)
      .where(and(where, afterCursor(column, key, page)))
      .orderBy(...pageOrder(column, key, page))
      .limit(page.limit),
  )
  const numbers = ids.map((one) => one.tgId)
  const rows = yield* run(rowsOf(q, numbers, now))
  const byId = new Map(rows.map((row) => [row.tgId, row]))
  // Told by the ids: one whose row has gone meanwhile ends no list.
  const last = ids.length === page.limit ? ids.at(-1) : undefined
  return {
    rows: ids.flatMap((one) => byId.get(one.tgId) ?? []),
    next: last ? userCursor(last, sort) : null,
  }
}

/** One page of the admin's listing, and the count of all matches (capped at COUNT_CAP + 1). */
export function* listUsers(
  q: Reading,
  filter: UserFilter,
  sort: UserSort,
  page: PageRequest,
  now: string,
): Steps<{ rows: ListedUser[]; total: number }> {
  const plan = yield* planOf(q, yield* withOwnNumbers(q, filter), sort, now)
  const { counted } = plan
  const { rows, next } = yield* readPage(q, plan, sort, page, now)
  const complete = page.cursor === null && next === null
  const total = complete
    ? rows.length
    : yield* countCapped(
        q,
        sql`select 1 from ${counted.from} where ${counted.where ?? sql`1 = 1`} limit ${COUNT_CAP + 1}`,
      )
  return { rows, total }
}

/** One page without the count. */
export function* readUsers(
  q: Reading,
  filter: UserFilter,
  sort: UserSort,
  page: PageRequest,
  now: string,
): Steps<UserPage> {
  const plan = yield* planOf(q, yield* withOwnNumbers(q, filter), sort, now)
  return yield* readPage(q, plan, sort, page, now)
}

/** One user as the listing shows them. */
export function* findListedUser(
  q: Reading,
  tgId: number,
  now: string,
): Steps<ListedUser | undefined> {
  const [row] = yield* run(rowsOf(q, [tgId], now))
  return row
}
