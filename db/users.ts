/** Users, and the lookup that every subscription fetch makes. */

import type { Database } from './open.ts'
import { type Query, run } from './open.ts'
import { and, eq, sql } from './orm.ts'
import { prefixRanges } from './paging.ts'
import { devices, type User, users } from './schema.ts'

const listOwner = (q: Query) =>
  q
    .select({
      tgId: users.tgId,
      hwidLimit: users.hwidLimit,
      bannedAt: users.bannedAt,
      revision: users.revision,
      lists: sql<number>`(select n from revisions where name = 'lists')`,
      deviceId: devices.id,
      deviceSeenAt: devices.lastSeenAt,
    })
    .from(users)
    .leftJoin(devices, and(eq(devices.tgId, users.tgId), eq(devices.hwid, sql.placeholder('hwid'))))
    .where(eq(users.token, sql.placeholder('token')))
    .prepare()

/** The owner of a list token, the revisions that a kept list is checked against, and the device if it is known. */
export function findListOwner(db: Database, token: string, hwid: string) {
  return db.prepared(listOwner).get({ token, hwid })
}
export type ListOwner = NonNullable<ReturnType<typeof findListOwner>>

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
