/** Users, and the lookup that every subscription fetch makes. */

import { UUID } from '#src/lib/uuid.ts'
import {
  ask,
  type Database,
  type MaybePromise,
  type Nothing,
  type Query,
  type Reading,
  run,
  type Steps,
} from './engine/database.ts'
import { BARE, byIndex, indexed, orderOfIndex, param } from './engine/dialect.ts'
import { and, desc, eq, gt, ne, type SQL, sql } from './engine/orm.ts'
import { built, field, input, written, writtenArrays } from './engine/question.ts'
import { deleteLinkCode } from './link-codes.ts'
import { countUpTo, MOST_OF_CUSTOMER } from './listing.ts'
import { hasPrefix, isIdPrefix } from './paging.ts'
import {
  outbox,
  payments,
  type Subscription,
  type User,
  users,
  userTokens,
} from './schema/index.ts'
import { CUSTOMERS, countOnFrom, nextOf } from './sequences.ts'
import { isServed } from './states.ts'
import { dropSummaries } from './user-summaries.ts'

/** What a list says of a subscription. */
export type ActiveOfUser = Pick<
  Subscription,
  | 'uuid'
  | 'node'
  | 'nodeGroup'
  | 'plan'
  | 'expiresAt'
  | 'upBytes'
  | 'downBytes'
  | 'quotaBytes'
  | 'usedBytes'
  | 'extraBytes'
  | 'resetsAt'
  | 'limitedAt'
  | 'startBy'
  | 'startSeconds'
>

/** The owner of a list token with all that their list is made of, read at one moment. */
export interface ListOwner {
  tgId: number
  hwidLimit: number | null
  /** The revision of nodes, plans and settings (db/settings.ts). */
  lists: number
  /** The device that asks, if it is known. */
  deviceId: number | null
  deviceSeenAt: string | null
  /** The active ones, oldest first, `MOST_OF_CUSTOMER` of them; none of a banned user. */
  subscriptions: ActiveOfUser[]
}

/** One row for each active subscription, or one without: the driver's arrays, because every list fetch comes here. */
type OwnerRow = [
  tgId: number,
  hwidLimit: number | null,
  lists: number,
  deviceId: number | null,
  deviceSeenAt: string | null,
  uuid: string | null,
  node: string,
  plan: string,
  expiresAt: string,
  upBytes: number,
  downBytes: number,
  nodeGroup: string | null,
  quotaBytes: number | null,
  usedBytes: number,
  extraBytes: number,
  resetsAt: string | null,
  limitedAt: string | null,
  startBy: string | null,
  startSeconds: number | null,
]

/**
 * The indexes are named: SQLite would take the unique ones, and then visit the rows too. subscriptions_list gives them oldest
 * first; an ORDER BY would sort them again, not knowing that a token has one user.
 */
const listOwner = writtenArrays<{ token: string; hwid: string; now: string }, OwnerRow>(
  `select u.tg_id, u.hwid_limit, (select n from revisions where name = 'lists'), d.id, d.last_seen_at,
     s.uuid, s.node, s.plan, s.expires_at, s.up_bytes, s.down_bytes, s.node_group,
     s.quota_bytes, s.used_bytes, s.extra_bytes, s.resets_at, s.limited_at, s.start_by, s.start_seconds
   from users u ${byIndex('users_list')}
   left join devices d ${byIndex('devices_list')} on d.tg_id = u.tg_id and d.hwid = ${param('hwid')}
   left join subscriptions s ${byIndex('subscriptions_list')}
     on s.tg_id = u.tg_id and ${isServed(param('now'), 's.', 'u.')}
   where u.token = ${param('token')} ${orderOfIndex('s.created_at, s.seq')} limit ${MOST_OF_CUSTOMER}`,
)

/** Who a list belongs to, whether the device is known as theirs, and their subscriptions that are active at `now`. */
export function findListOwner(
  db: Database,
  token: string,
  hwid: string,
  now: string,
): MaybePromise<ListOwner | undefined> {
  const rows = db.ask(listOwner, { token, hwid, now })
  return rows instanceof Promise ? rows.then(ownerOf) : ownerOf(rows)
}

function ownerOf(rows: OwnerRow[]): ListOwner | undefined {
  const first = rows[0]
  if (!first) return undefined
  const subscriptions: ActiveOfUser[] = []
  for (const row of rows) {
    const [, , , , , uuid, node, plan, expiresAt, upBytes, downBytes, nodeGroup, ...rest] = row
    if (uuid === null) continue
    const [quotaBytes, usedBytes, extraBytes, resetsAt, limitedAt, startBy, startSeconds] = rest
    const traffic = { upBytes, downBytes, quotaBytes, usedBytes, extraBytes, resetsAt, limitedAt }
    const start = { startBy, startSeconds }
    subscriptions.push({ uuid, node, nodeGroup, plan, expiresAt, ...traffic, ...start })
  }
  const [tgId, hwidLimit, lists, deviceId, deviceSeenAt] = first
  return { tgId, hwidLimit, lists, deviceId, deviceSeenAt, subscriptions }
}

const byToken = built<{ token: string }, User[]>((q) =>
  q
    .select()
    .from(users)
    .where(eq(users.token, field('token'))),
)

const byOtherToken = built<{ token: string }, { user: User }[]>((q) =>
  q
    .select({ user: users })
    .from(userTokens)
    .innerJoin(users, eq(users.tgId, userTokens.tgId))
    .where(eq(userTokens.token, field('token'))),
)

/** The user whose present link this token is not, but a former or an imported one. */
export function* readUserByOtherToken(_q: Reading, token: string) {
  const [found] = yield* ask(byOtherToken, { token })
  return found?.user
}

/** The user who has this token, as the present or as another one. */
export function* readUserByToken(q: Reading, token: string) {
  const [user] = yield* ask(byToken, { token })
  return user ?? (yield* readUserByOtherToken(q, token))
}

/** The tokens that a user's links have, the present one first; of the others `MOST_OF_CUSTOMER`, the newest. */
export function* listTokensOfUser(q: Reading, tgId: number): Steps<string[]> {
  const present = yield* run(
    q.select({ token: users.token }).from(users).where(eq(users.tgId, tgId)),
  )
  const others = yield* run(
    q
      .select({ token: userTokens.token })
      .from(userTokens)
      .where(eq(userTokens.tgId, tgId))
      .orderBy(desc(userTokens.createdAt))
      .limit(MOST_OF_CUSTOMER),
  )
  return [...present, ...others].map(({ token }) => token)
}

/** Ends links of a user beside the present one, and the code that one of them may have fetched; imported links may stay. */
export function* deleteOtherTokens(tx: Query, tgId: number, keepImported: boolean) {
  const kept = keepImported ? ne(userTokens.kind, 'imported') : undefined
  yield* run(tx.delete(userTokens).where(and(eq(userTokens.tgId, tgId), kept)))
  yield* deleteLinkCode(tx, tgId)
}

/**
 * Who a number means: the customer whose own it is, or whose Telegram id. Both are never two: a Telegram id that is somebody's number is
 * nobody else's.
 */
const isNumbered = (number: unknown): SQL =>
  sql`(${users.tgId} = ${number} or ${users.telegramId} = ${number})`

const byNumber = built<{ number: number }, User[]>((q) =>
  q
    .select()
    .from(users)
    .where(isNumbered(input('number'))),
)

/** The customer whom a number means. */
export function* readUser(_q: Reading, number: number) {
  const [user] = yield* ask(byNumber, { number })
  return user
}

/** The number by which rows name who has this Telegram id, where that is another. */
function* numberOfLinked(q: Reading, telegramId: number): Steps<number | undefined> {
  const [user] = yield* run(
    q
      .select({ tgId: sql<number>`${users.tgId}` })
      .from(indexed(users, 'users_linked'))
      .where(sql`tg_id < 0 and ${users.telegramId} = ${telegramId}`),
  )
  return user?.tgId
}

/** A filter and a search as they find who is connected to the Telegram id that they name: by the number that rows have. */
export function* withOwnNumbers<F extends { tgId?: number; text?: string }>(
  q: Reading,
  filter: F,
): Steps<F> {
  const { tgId, text } = filter
  const owner = tgId === undefined ? undefined : yield* numberOfLinked(q, tgId)
  const found = text && isIdPrefix(text) ? yield* numberOfLinked(q, Number(text)) : undefined
  return {
    ...filter,
    ...(owner === undefined ? undefined : { tgId: owner }),
    ...(found === undefined ? undefined : { text: String(found) }),
  }
}

/** Creates the user unless they exist, and returns their row either way. */
export function* ensureUser(tx: Query, tgId: number, token: string, now: string) {
  const known = yield* readUser(tx, tgId)
  if (known) return known
  const telegramId = tgId > 0 ? tgId : null
  const row = { tgId, telegramId, token, createdAt: now }
  const [user] = yield* run(tx.insert(users).values(row).returning())
  return user as User
}

/** The first free number from one that is taken on, away from 0. */
const freeNumber = built<{ taken: number }, { tgId: number }[]>((q) =>
  q
    .select({ tgId: sql<number>`${users.tgId} - 1` })
    .from(users)
    .where(
      sql`${users.tgId} <= ${input('taken')}
        and not exists (select 1 from users as next where next.tg_id = ${users.tgId} - 1)`,
    )
    .orderBy(desc(users.tgId))
    .limit(1),
)

/** Creates a customer without Telegram, by a number that nobody had before. */
export function* insertCustomer(tx: Query, token: string, now: string) {
  const tgId = -(yield* nextOf(tx, CUSTOMERS))
  if (!(yield* readUser(tx, tgId))) return yield* ensureUser(tx, tgId, token, now)
  // Only a restored database may have more of them than were counted: in one step past them, there may be a million.
  const [free] = yield* ask(freeNumber, { taken: tgId })
  const { tgId: number } = free as { tgId: number }
  yield* countOnFrom(tx, CUSTOMERS, -number)
  return yield* ensureUser(tx, number, token, now)
}

const anyProfile = written<Nothing, unknown>(
  `select 1 where exists (select 1 from users where tg_id < 0) or exists (select 1 from users where name is not null)
     or exists (select 1 from users where email is not null) or exists (select 1 from user_tags)`,
)

/** Whether there is a customer of whom there is more to say than of those who came by Telegram. */
export function* hasProfiles(_q: Reading) {
  return (yield* ask(anyProfile, {})).length > 0
}

/** Whether a text is a UUID, in capitals too. */
export const isUuid = (text: string): boolean => UUID.test(text.toLowerCase())

const beginsWith = (value: SQL, prefix: string): SQL =>
  sql`${value} >= ${prefix} and ${value} < ${`${prefix}\u{10ffff}`}`

/** SQLite knows the case of ASCII alone: of other alphabets a name is found as it is typed, in small letters and with capital initials. */
function casesOf(text: string): Set<string> {
  const small = text.toLowerCase()
  const initials = small.replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase())
  const asStored = (name: string) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return new Set([small, asStored(text), asStored(initials)])
}

/**
 * Whether a username, a name or an e-mail address begins with a text, case aside; behind a leading @ only a username. `mark` as in
 * `userSearch`.
 */
export function isNamed(text: string, mark = sql``): SQL {
  const username = beginsWith(
    sql`${mark}lower(${users.username})`,
    text.replace(/^@/, '').toLowerCase(),
  )
  if (text.startsWith('@')) return sql`(${username})`
  // The conditions of the two indexes, in their words.
  const names = Array.from(
    casesOf(text),
    (prefix) =>
      sql`${users.name} is not null and ${beginsWith(sql`${mark}lower(${users.name})`, prefix)}`,
  )
  const email = sql`${users.email} is not null and ${beginsWith(sql`${mark}${users.email}`, text.toLowerCase())}`
  return sql`(${sql.join([username, ...names, email], sql` or `)})`
}

/** The condition that a search by numbers puts on a column of them, undefined for other texts: digits begin a tg_id, one below 0 is whole. */
export function numberSearch(text: string): ((column: SQL) => SQL) | undefined {
  if (isIdPrefix(text)) return (column) => hasPrefix(column, text)
  if (/^-[1-9]\d{0,15}$/.test(text)) return (column) => sql`${column} = ${Number(text)}`
  return undefined
}

/**
 * The condition of a search: digits are a tg_id prefix, other text the beginning of a username, name or e-mail address, a whole token an
 * exact match. With `mark` = BARE no index serves it, for queries that walk the users in another order.
 */
export function userSearch(text: string, mark = sql``): SQL {
  const byNumber = numberSearch(text)
  if (byNumber) return byNumber(sql`${mark}${users.tgId}`)
  if (text.length === 43) return sql`${mark}${users.token} = ${text}`
  return isNamed(text, mark)
}

/** From this many users on it is quicker to look at each row's owner than to begin with the users. */
const SOME_USERS = 20_000

/**
 * The condition that the user in `column` is found by a search, `found(mark)` with `mark` as in `userSearch`: in the form that is
 * quick for as many users as it finds.
 */
export function* isOfFound(q: Reading, column: SQL, found: (mark?: SQL) => SQL): Steps<SQL> {
  const all = sql`select ${users.tgId} from ${users} where ${found()}`
  const n = yield* countUpTo(q, { from: sql`${users}`, where: found() }, SOME_USERS)
  if (n <= SOME_USERS) return sql`${column} in (${all})`
  return sql`(select 1 from ${users} where ${users.tgId} = ${column} and ${found(BARE)}) is not null`
}

/** Changes fields of a user; nothing for an unknown one. */
export function* updateUser(
  tx: Query,
  tgId: number,
  changes: Partial<Omit<User, 'tgId' | 'createdAt'>>,
) {
  yield* run(tx.update(users).set(changes).where(eq(users.tgId, tgId)))
}

/** The number of a user's pending payments that were made after `since`. */
export function* countPendingOfUser(tx: Query, tgId: number, since: string) {
  const [row] = yield* run(
    tx
      .select({ n: sql<number>`count(*)` })
      .from(payments)
      .where(
        and(eq(payments.tgId, tgId), eq(payments.status, 'pending'), gt(payments.createdAt, since)),
      ),
  )
  return row?.n ?? 0
}

/** Deletes a user with their subscriptions, devices and undelivered messages; the payments stay, marked. */
export function* deleteUser(tx: Query, { tgId, telegramId }: Pick<User, 'tgId' | 'telegramId'>) {
  yield* run(tx.update(payments).set({ deletedUser: true }).where(eq(payments.tgId, tgId)))
  // An alert is told to the admin that the user may be as well.
  if (telegramId !== null) {
    const undelivered = and(ne(outbox.status, 'done'), ne(outbox.kind, 'alert'))
    yield* run(tx.delete(outbox).where(and(eq(outbox.tgId, telegramId), undelivered)))
  }
  yield* dropSummaries(tx, [tgId])
  yield* run(tx.delete(users).where(eq(users.tgId, tgId)))
}
