/** Users, and the lookup that every subscription fetch makes. */

import type { Database } from './open.ts'
import { type Query, run } from './open.ts'
import { eq, sql } from './orm.ts'
import { prefixRanges } from './paging.ts'
import { type Subscription, type User, users } from './schema.ts'

/** What a list says of a subscription. */
export type ActiveOfUser = Pick<
  Subscription,
  'uuid' | 'node' | 'plan' | 'expiresAt' | 'upBytes' | 'downBytes'
>

/** The owner of a list token with all that his list is made of, read at one moment. */
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

const listOwner = (_q: Query, raw: Database['raw']) =>
  raw
    .prepare<[hwid: string, now: string, token: string], OwnerRow>(
      `select u.tg_id, u.hwid_limit, (select n from revisions where name = 'lists'), d.id, d.last_seen_at,
         s.uuid, s.node, s.plan, s.expires_at, s.up_bytes, s.down_bytes
       from users u
       left join devices d on d.tg_id = u.tg_id and d.hwid = +?
       left join subscriptions s on s.tg_id = u.tg_id and s.active = 1 and s.held_at is null and s.expires_at > +?
         and u.banned_at is null
       where u.token = +?
       order by s.created_at`,
    )
    .raw()

/** Who a list belongs to, whether he knows the device, and his subscriptions that are active at `now`. */
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

/** Creates the user unless he exists, and returns his row either way. */
export function* ensureUser(tx: Query, tgId: number, token: string, now: string) {
  yield* run(tx.insert(users).values({ tgId, token, createdAt: now }).onConflictDoNothing())
  const [user] = yield* run(tx.select().from(users).where(eq(users.tgId, tgId)))
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

/** The condition of a search: digits are a tg_id prefix, other text a username prefix, a whole token an exact match. */
export function userSearch(text: string) {
  if (/^[1-9]\d{0,15}$/.test(text)) {
    const ranges = prefixRanges(text).map(
      ([from, to]) => sql`${users.tgId} between ${from} and ${to}`,
    )
    return sql`(${sql.join(ranges, sql` or `)})`
  }
  if (text.length === 43) return eq(users.token, text)
  const prefix = text.replace(/^@/, '').toLowerCase()
  const name = sql`lower(${users.username})`
  return sql`(${name} >= ${prefix} and ${name} < ${`${prefix}\u{10ffff}`})`
}
