/** The admin's listing of users: search, filters, pages by key, all in the order of an index. */
import type { Database, Query } from './open.ts'
import { and, eq, inArray, isNotNull, isNull, type SQL, sql } from './orm.ts'
import { afterCursor, COUNT_CAP, countCapped, type PageRequest, pageOrder } from './paging.ts'
import { devices, payments, subscriptions, users } from './schema.ts'
import { isUuid, MANY_USERS, userSearch } from './users.ts'

/**
 * Users with an active or a held subscription; `expired`: with one that ran out and none of these; `none`: with no unrevoked
 * one at all.
 */
export const USER_STATES = ['active', 'held', 'expired', 'none'] as const
export type UserState = (typeof USER_STATES)[number]

export interface UserFilter {
  state?: UserState
  banned?: boolean
  text?: string
}

export const USER_SORTS = ['created_at', 'tg_id'] as const
export type UserSort = (typeof USER_SORTS)[number]

/** A user as the listing shows him. */
export interface ListedUser {
  tgId: number
  username: string | null
  createdAt: string
  note: string | null
  bannedAt: string | null
  blockedAt: string | null
  active: number
  held: number
  /** The nearest expiry of his active subscriptions. */
  nextExpiry: string | null
  devices: number
}

const rowid = sql`${users.tgId}`

const unrevoked = sql`from ${subscriptions} indexed by subscriptions_owner
  where ${subscriptions.tgId} = ${users.tgId} and ${subscriptions.active} <> 0`

const someHeld = sql`(select ${subscriptions.tgId} from ${subscriptions}
  where ${subscriptions.active} = 1 and ${subscriptions.heldAt} is not null)`

function inState(state: UserState, now: string): SQL {
  const some = sql`exists (select 1 ${unrevoked})`
  const running = sql`exists (select 1 ${unrevoked}
    and ${subscriptions.heldAt} is null and ${subscriptions.expiresAt} > ${now})`
  const held = sql`exists (select 1 ${unrevoked} and ${subscriptions.heldAt} is not null)`
  if (state === 'held') return sql`${users.tgId} in ${someHeld}`
  if (state === 'none') return sql`not ${some}`
  // Most users have what the first part refuses, so the others are asked for few.
  return state === 'active' ? running : sql`(not ${running} and ${some} and not ${held})`
}

/** The owner of a subscription or payment with this id. */
const ownerOf = (uuid: string) =>
  sql`${users.tgId} in (select ${subscriptions.tgId} from ${subscriptions} where ${subscriptions.uuid} = ${uuid}
    union all select ${payments.tgId} from ${payments} where ${payments.id} = ${uuid})`

/** The condition of a search, in the form that is quick for as many users as it finds: begin with them, or with the order. */
async function found(q: Query, text: string): Promise<SQL> {
  if (isUuid(text)) return ownerOf(text.toLowerCase())
  const matching = () => q.select({ id: users.tgId }).from(users).where(userSearch(text))
  const [row] = await q
    .select({ n: sql<number>`count(*)` })
    .from(matching().limit(MANY_USERS).as('found'))
  return (row?.n ?? 0) < MANY_USERS ? inArray(users.tgId, matching()) : userSearch(text, '+')
}

async function matching(q: Query, filter: UserFilter, now: string): Promise<SQL | undefined> {
  const { state, banned, text } = filter
  const bans = banned ? isNotNull(users.bannedAt) : isNull(users.bannedAt)
  return and(
    text ? await found(q, text) : undefined,
    banned === undefined ? undefined : bans,
    state && inState(state, now),
  )
}

const sortColumn = (sort: UserSort) => (sort === 'created_at' ? sql`${users.createdAt}` : rowid)

/** Where the page after this user starts. */
export const userCursor = (user: ListedUser, sort: UserSort) => ({
  value: sort === 'created_at' ? user.createdAt : String(user.tgId),
  rowid: user.tgId,
})

const isActive = (now: string) =>
  sql`${subscriptions.active} = 1 and ${subscriptions.heldAt} is null and ${subscriptions.expiresAt} > ${now}`

/** The rows of these users; what is counted of each is read by `subscriptions_list`, which covers it. */
const rowsOf = (q: Query, tgIds: number[], now: string) =>
  q
    .select({
      tgId: users.tgId,
      username: users.username,
      createdAt: users.createdAt,
      note: users.note,
      bannedAt: users.bannedAt,
      blockedAt: users.blockedAt,
      active: sql<number>`coalesce(sum(${isActive(now)}), 0)`,
      held: sql<number>`coalesce(sum(${subscriptions.active} = 1 and ${subscriptions.heldAt} is not null), 0)`,
      nextExpiry: sql<
        string | null
      >`min(case when ${isActive(now)} then ${subscriptions.expiresAt} end)`,
      devices: sql<number>`(select count(*) from ${devices} where ${devices.tgId} = ${users.tgId})`,
    })
    .from(users)
    .leftJoin(subscriptions, eq(subscriptions.tgId, users.tgId))
    .where(inArray(users.tgId, tgIds))
    .groupBy(users.tgId)

/** One page of the users that match. */
async function readPage(
  q: Query,
  where: SQL | undefined,
  sort: UserSort,
  page: PageRequest,
  now: string,
): Promise<ListedUser[]> {
  const column = sortColumn(sort)
  // First only who is on the page: what is counted of users is worth counting for these alone.
  const ids = await q
    .select({ tgId: users.tgId })
    .from(users)
    .where(and(where, afterCursor(column, rowid, page)))
    .orderBy(...pageOrder(column, rowid, page))
    .limit(page.limit)
  const rows = await rowsOf(
    q,
    ids.map(({ tgId }) => tgId),
    now,
  )
  const byId = new Map(rows.map((row) => [row.tgId, row]))
  return ids.flatMap(({ tgId }) => byId.get(tgId) ?? [])
}

/** One page of the admin's listing, and the count of all matches (capped at COUNT_CAP + 1). */
export async function listUsers(
  db: Database,
  filter: UserFilter,
  sort: UserSort,
  page: PageRequest,
  now: string,
): Promise<{ rows: ListedUser[]; total: number }> {
  const where = await matching(db.q, filter, now)
  const rows = await readPage(db.q, where, sort, page, now)
  const complete = page.cursor === null && rows.length < page.limit
  const total = complete
    ? rows.length
    : await countCapped(
        db.q,
        sql`select 1 from ${users} where ${where ?? sql`1 = 1`} limit ${COUNT_CAP + 1}`,
      )
  return { rows, total }
}

/** All that match, `limit` at a time. */
export async function* listAllUsers(
  db: Database,
  filter: UserFilter,
  sort: UserSort,
  first: PageRequest,
  now: string,
): AsyncGenerator<ListedUser[], void, void> {
  const where = await matching(db.q, filter, now)
  let page = first
  for (;;) {
    const rows = await readPage(db.q, where, sort, page, now)
    const last = rows.at(-1)
    if (!last) return
    yield rows
    if (rows.length < page.limit) return
    page = { ...page, cursor: userCursor(last, sort) }
  }
}

/** One user as the listing shows him. */
export async function findListedUser(
  db: Database,
  tgId: number,
  now: string,
): Promise<ListedUser | undefined> {
  const [row] = await rowsOf(db.q, [tgId], now)
  return row
}
