/** Logins of admins: their sessions, the ones that await a code, and the attempts that limits count. */

import { ask, type Database, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { and, desc, eq, gt, lte, ne, sql } from './engine/orm.ts'
import { built, field } from './engine/question.ts'
import {
  type AdminSession,
  accountAttempts,
  adminDevices,
  adminSessions,
  admins,
  loginAttempts,
  type PendingLogin,
  pendingLogins,
} from './schema/index.ts'

/** A live session with its admin. */
export interface FoundSession {
  id: number
  adminId: number
  username: string
  lastSeenAt: string
  panel: boolean
  confirmedAt: string
  secondFactor: boolean
}

const sessionByToken = built<{ token: string; now: string }, FoundSession[]>((q) =>
  q
    .select({
      id: adminSessions.id,
      adminId: admins.id,
      username: admins.username,
      lastSeenAt: adminSessions.lastSeenAt,
      panel: adminSessions.panel,
      confirmedAt: adminSessions.confirmedAt,
      secondFactor: sql<boolean>`${admins.totpSecret} is not null`.mapWith(Boolean),
    })
    .from(adminSessions)
    .innerJoin(admins, eq(admins.id, adminSessions.adminId))
    .where(and(eq(adminSessions.token, field('token')), gt(adminSessions.expiresAt, field('now')))),
)

/** The live session of a hashed token, with its admin. */
export function* readSessionByToken(_q: Reading, token: string, now: string) {
  const [session] = yield* ask(sessionByToken, { token, now })
  return session
}

/** An admin's live sessions, newest first. */
export function* listSessions(q: Reading, adminId: number, now: string): Steps<AdminSession[]> {
  return yield* run(
    q
      .select()
      .from(adminSessions)
      .where(and(eq(adminSessions.adminId, adminId), gt(adminSessions.expiresAt, now)))
      .orderBy(desc(adminSessions.id)),
  )
}

/** A session that still is one, inside a transaction. */
export function* readSession(tx: Query, id: number, now: string) {
  const [session] = yield* run(
    tx
      .select({ panel: adminSessions.panel })
      .from(adminSessions)
      .where(and(eq(adminSessions.id, id), gt(adminSessions.expiresAt, now))),
  )
  return session as Pick<AdminSession, 'panel'> | undefined
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

/** Notes that the admin of a session gave password or code at `at`. */
export function* confirmSession(tx: Query, id: number, at: string) {
  yield* run(tx.update(adminSessions).set({ confirmedAt: at }).where(eq(adminSessions.id, id)))
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

/** Ends the sessions of an admin, all but `except`, and every login of theirs that awaits a code. */
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
export function* readPendingLogin(tx: Reading, token: string, now: string) {
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

export type AttemptKind = 'password' | 'totp' | 'guest'

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

/** Notes an attempt of a key; gives its id. */
export function* insertAttempt(tx: Query, key: string, kind: AttemptKind, now: string) {
  const [row] = yield* run(
    tx.insert(loginAttempts).values({ ip: key, kind, at: now }).returning({ id: loginAttempts.id }),
  )
  return (row as { id: number }).id
}

export function* deleteAttempt(tx: Query, id: number) {
  yield* run(tx.delete(loginAttempts).where(eq(loginAttempts.id, id)))
}

export function* clearAttempts(tx: Query, key: string, kind: AttemptKind) {
  yield* run(tx.delete(loginAttempts).where(attemptsOf(key, kind)))
}

/** Counts the attempts at an account, or at all of them (null), since a time; the newest of them says when the next one may come. */
export function* countAccountAttempts(tx: Query, account: string | null, since: string) {
  const at = gt(accountAttempts.at, since)
  const [row] = yield* run(
    tx
      .select({ n: sql<number>`count(*)`, newest: sql<string | null>`max(${accountAttempts.at})` })
      .from(accountAttempts)
      .where(account === null ? at : and(eq(accountAttempts.account, account), at)),
  )
  return { count: row?.n ?? 0, newest: row?.newest ?? null }
}

/** Notes an attempt at an account; gives its id. */
export function* insertAccountAttempt(tx: Query, account: string, at: string) {
  const [row] = yield* run(
    tx.insert(accountAttempts).values({ account, at }).returning({ id: accountAttempts.id }),
  )
  return (row as { id: number }).id
}

export function* deleteAccountAttempt(tx: Query, id: number) {
  yield* run(tx.delete(accountAttempts).where(eq(accountAttempts.id, id)))
}

/** Forgets every attempt of everybody. */
export function* deleteAllAttempts(tx: Query) {
  yield* run(tx.delete(loginAttempts))
  yield* run(tx.delete(accountAttempts))
}

/** Removes sessions and pending logins that have run out, and attempts and devices last seen before the times that are named. */
export async function deleteExpiredLogins(
  db: Database,
  now: string,
  before: { attempts: string; devices: string },
): Promise<void> {
  await db.tx(function* (tx) {
    yield* run(tx.delete(adminSessions).where(lte(adminSessions.expiresAt, now)))
    yield* run(tx.delete(pendingLogins).where(lte(pendingLogins.expiresAt, now)))
    yield* run(tx.delete(loginAttempts).where(lte(loginAttempts.at, before.attempts)))
    yield* run(tx.delete(accountAttempts).where(lte(accountAttempts.at, before.attempts)))
    yield* run(tx.delete(adminDevices).where(lte(adminDevices.lastSeenAt, before.devices)))
  })
}
