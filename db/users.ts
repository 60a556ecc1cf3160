/** Users, and the lookup that every subscription fetch makes. */

import { UUID } from '#src/lib/uuid.ts'
import type { Database } from './database.ts'
import { type Query, run } from './database.ts'
import { countUpTo } from './listing.ts'
import { and, eq, gt, ne, type SQL, sql } from './orm.ts'
import { hasPrefix, isIdPrefix } from './paging.ts'
import { input, preparedStep } from './prepared.ts'
import { outbox, payments, type Subscription, type User, users } from './schema.ts'
import { isServed } from './states.ts'

/** What a list says of a subscription. */
export type ActiveOfUser = Pick<
  Subscription,
  'uuid' | 'node' | 'plan' | 'expiresAt' | 'upBytes' | 'downBytes'
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
  /** The active ones, oldest first; none of a banned user. */
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
]

/**
 * The indexes are named: SQLite would take the unique ones, and then visit the rows too. subscriptions_list gives them oldest
 * first; an ORDER BY would sort them again, not knowing that a token has one user.
 */
const listOwner = (_q: Query, raw: Database['raw']) =>
  raw
    .prepare<[hwid: string, now: string, token: string], OwnerRow>(
      `select u.tg_id, u.hwid_limit, (select n from revisions where name = 'lists'), d.id, d.last_seen_at,
         s.uuid, s.node, s.plan, s.expires_at, s.up_bytes, s.down_bytes
       from users u indexed by users_list
       left join devices d indexed by devices_list on d.tg_id = u.tg_id and d.hwid = +?
       left join subscriptions s indexed by subscriptions_list
         on s.tg_id = u.tg_id and ${isServed('+?', 's.', 'u.')}
       where u.token = +?`,
    )
    .raw()

/** Who a list belongs to, whether the device is known as theirs, and their subscriptions that are active at `now`. */
export function findListOwner(
  db: Database,
  token: string,
  hwid: string,
  now: string,
): ListOwner | undefined {
  db.shareReads()
  const rows = db.prepared(listOwner).all(hwid, now, token)
  const first = rows[0]
  if (!first) return undefined
  const subscriptions: ActiveOfUser[] = []
  for (const [, , , , , uuid, node, plan, expiresAt, upBytes, downBytes] of rows) {
    if (uuid !== null) subscriptions.push({ uuid, node, plan, expiresAt, upBytes, downBytes })
  }
  const [tgId, hwidLimit, lists, deviceId, deviceSeenAt] = first
  return { tgId, hwidLimit, lists, deviceId, deviceSeenAt, subscriptions }
}

const byToken = (q: Query) =>
  q
    .select()
    .from(users)
    .where(eq(users.token, sql.placeholder('token')))
    .prepare()

export function findUserByToken(db: Database, token: string): User | undefined {
  return db.prepared(byToken).get({ token })
}

const byId = (q: Query) =>
  q
    .select()
    .from(users)
    .where(eq(users.tgId, sql.placeholder('tgId')))
    .prepare()

export function findUser(db: Database, tgId: number): User | undefined {
  return db.prepared(byId).get({ tgId })
}

const read = preparedStep<{ tgId: number }, User[]>((q) =>
  q
    .select()
    .from(users)
    .where(eq(users.tgId, input('tgId'))),
)

/** The same inside a transaction. */
export function* readUser(tx: Query, tgId: number) {
  const [user] = yield* read(tx, { tgId })
  return user
}

/** Creates the user unless they exist, and returns their row either way. */
export function* ensureUser(tx: Query, tgId: number, token: string, now: string) {
  const known = yield* readUser(tx, tgId)
  if (known) return known
  const [user] = yield* run(tx.insert(users).values({ tgId, token, createdAt: now }).returning())
  return user as User
}

/** Stores the own device limit (null: the fallback limit). False when there is no such user. */
export function* updateHwidLimit(tx: Query, tgId: number, limit: number | null) {
  const rows = yield* run(
    tx
      .update(users)
      .set({ hwidLimit: limit })
      .where(eq(users.tgId, tgId))
      .returning({ id: users.tgId }),
  )
  return rows.length > 0
}

/** Whether a text is a UUID, in capitals too. */
export const isUuid = (text: string): boolean => UUID.test(text.toLowerCase())

/** Whether a username begins with a text, a leading @ and case aside. `mark` as in `userSearch`. */
export function isNamed(text: string, mark = sql``): SQL {
  const prefix = text.replace(/^@/, '').toLowerCase()
  const name = sql`${mark}lower(${users.username})`
  return sql`(${name} >= ${prefix} and ${name} < ${`${prefix}\u{10ffff}`})`
}

/**
 * The condition of a search: digits are a tg_id prefix, other text a username prefix, a whole token an exact match. With
 * `bare` = '+' no index serves it, for queries that walk the users in another order.
 */
export function userSearch(text: string, bare: '' | '+' = ''): SQL {
  const mark = sql.raw(bare)
  if (isIdPrefix(text)) return hasPrefix(sql`${mark}${users.tgId}`, text)
  if (text.length === 43) return sql`${mark}${users.token} = ${text}`
  return isNamed(text, mark)
}

/** From this many users on it is quicker to look at each row's owner than to begin with the users. */
const SOME_USERS = 20_000

/**
 * The condition that the user in `column` is found by a search, `found(mark)` with `mark` as in `userSearch`: in the form that is
 * quick for as many users as it finds.
 */
export async function isOfFound(
  q: Query,
  column: SQL,
  found: (mark: '' | '+') => SQL,
): Promise<SQL> {
  const all = sql`select ${users.tgId} from ${users} where ${found('')}`
  const n = await countUpTo(q, { from: sql`${users}`, where: found('') }, SOME_USERS)
  if (n <= SOME_USERS) return sql`${column} in (${all})`
  return sql`(select 1 from ${users} where ${users.tgId} = ${column} and ${found('+')}) is not null`
}

/** Changes fields of a user; nothing for an unknown one. */
export function* updateUser(
  tx: Query,
  tgId: number,
  changes: Partial<
    Pick<User, 'username' | 'lang' | 'blockedAt' | 'note' | 'bannedAt' | 'token' | 'deviceRemovals'>
  >,
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
export function* deleteUser(tx: Query, tgId: number) {
  yield* run(tx.update(payments).set({ deletedUser: true }).where(eq(payments.tgId, tgId)))
  // An alert is told to the admin that the user may be as well.
  yield* run(
    tx
      .delete(outbox)
      .where(and(eq(outbox.tgId, tgId), ne(outbox.status, 'done'), ne(outbox.kind, 'alert'))),
  )
  yield* run(tx.delete(users).where(eq(users.tgId, tgId)))
}
