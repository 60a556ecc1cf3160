/** Logins of admins: their sessions, the ones that await a code, and the attempts that limits count. */
import { type Database, type Query, run } from './open.ts'
import { and, desc, eq, gt, lte, ne, sql } from './orm.ts'
import {
  type AdminSession,
  adminSessions,
  admins,
  loginAttempts,
  type PendingLogin,
  pendingLogins,
} from './schema.ts'

const sessionByToken = (q: Query) =>
  q
    .select({
      id: adminSessions.id,
      adminId: admins.id,
      username: admins.username,
      lastSeenAt: adminSessions.lastSeenAt,
    })
    .from(adminSessions)
    .innerJoin(admins, eq(admins.id, adminSessions.adminId))
    .where(
      and(
        eq(adminSessions.token, sql.placeholder('token')),
        gt(adminSessions.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare()

/** The live session of a hashed token, with its admin. */
export function findSession(db: Database, token: string, now: string) {
  return db.prepared(sessionByToken).get({ token, now })
}

/** An admin's live sessions, newest first. */
export async function listSessions(
  db: Database,
  adminId: number,
  now: string,
): Promise<AdminSession[]> {
  return db.q
    .select()
    .from(adminSessions)
    .where(and(eq(adminSessions.adminId, adminId), gt(adminSessions.expiresAt, now)))
    .orderBy(desc(adminSessions.id))
}

/** Whether a session still is one, inside a transaction. */
export function* hasSession(tx: Query, id: number, now: string) {
  const rows = yield* run(
    tx
      .select({ id: adminSessions.id })
      .from(adminSessions)
      .where(and(eq(adminSessions.id, id), gt(adminSessions.expiresAt, now))),
  )
  return rows.length > 0
}

export function* insertSession(tx: Query, row: typeof adminSessions.$inferInsert) {
  yield* run(tx.insert(adminSessions).values(row))
}

/** Notes that a session was used at `now`, unless that was noted after `cutoff`. */
export function* touchSession(tx: Query, id: number, now: string, cutoff: string) {
  yield* run(
    tx
      .update(adminSessions)
      .set({ lastSeenAt: now })
      .where(and(eq(adminSessions.id, id), lte(adminSessions.lastSeenAt, cutoff))),
  )
}

export function* deleteSession(tx: Query, token: string) {
  yield* run(tx.delete(adminSessions).where(eq(adminSessions.token, token)))
}

/** Ends a session of an admin. True when there was one. */
export function* deleteSessionOf(tx: Query, adminId: number, id: number) {
  const rows = yield* run(
    tx
      .delete(adminSessions)
      .where(and(eq(adminSessions.adminId, adminId), eq(adminSessions.id, id)))
      .returning({ id: adminSessions.id }),
  )
  return rows.length > 0
}

/** Ends the sessions of an admin, all but `except`, and every login of his that awaits a code. */
export function* deleteLoginsOf(tx: Query, adminId: number, except: number | null) {
  yield* deleteSessionsOf(tx, adminId, except)
  yield* run(tx.delete(pendingLogins).where(eq(pendingLogins.adminId, adminId)))
}

/** Ends the sessions of an admin, all but `except`. */
export function* deleteSessionsOf(tx: Query, adminId: number, except: number | null) {
  const others = except === null ? undefined : ne(adminSessions.id, except)
  yield* run(tx.delete(adminSessions).where(and(eq(adminSessions.adminId, adminId), others)))
}

export function* insertPendingLogin(tx: Query, row: typeof pendingLogins.$inferInsert) {
  yield* run(tx.insert(pendingLogins).values(row))
}

/** The pending login of a hashed token, unless it ran out. */
export function* readPendingLogin(tx: Query, token: string, now: string) {
  const [row] = yield* run(
    tx
      .select()
      .from(pendingLogins)
      .where(and(eq(pendingLogins.token, token), gt(pendingLogins.expiresAt, now))),
  )
  return row as PendingLogin | undefined
}

export function* updateWrongCodes(tx: Query, token: string, wrongCodes: number) {
  yield* run(tx.update(pendingLogins).set({ wrongCodes }).where(eq(pendingLogins.token, token)))
}

export function* deletePendingLogin(tx: Query, token: string) {
  yield* run(tx.delete(pendingLogins).where(eq(pendingLogins.token, token)))
}

export type AttemptKind = 'password' | 'totp'

const attemptsOf = (key: string, kind: AttemptKind) =>
  and(eq(loginAttempts.ip, key), eq(loginAttempts.kind, kind))

/** Counts the attempts of a key since a time; the oldest of them says when the limit lifts. */
export function* countAttempts(tx: Query, key: string, kind: AttemptKind, since: string) {
  const [row] = yield* run(
    tx
      .select({ n: sql<number>`count(*)`, oldest: sql<string | null>`min(${loginAttempts.at})` })
      .from(loginAttempts)
      .where(and(attemptsOf(key, kind), gt(loginAttempts.at, since))),
  )
  return { count: row?.n ?? 0, oldest: row?.oldest ?? null }
}

export function* insertAttempt(tx: Query, key: string, kind: AttemptKind, now: string) {
  yield* run(tx.insert(loginAttempts).values({ ip: key, kind, at: now }))
}

export function* clearAttempts(tx: Query, key: string, kind: AttemptKind) {
  yield* run(tx.delete(loginAttempts).where(attemptsOf(key, kind)))
}

/** Forgets every attempt of everybody. */
export function* deleteAllAttempts(tx: Query) {
  yield* run(tx.delete(loginAttempts))
}

/** Removes sessions and pending logins that have run out, and attempts older than `attemptsBefore`. */
export async function deleteExpiredLogins(
  db: Database,
  now: string,
  attemptsBefore: string,
): Promise<void> {
  await db.tx(function* (tx) {
    yield* run(tx.delete(adminSessions).where(lte(adminSessions.expiresAt, now)))
    yield* run(tx.delete(pendingLogins).where(lte(pendingLogins.expiresAt, now)))
    yield* run(tx.delete(loginAttempts).where(lte(loginAttempts.at, attemptsBefore)))
  })
}
