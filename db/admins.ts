/** Admin accounts, their sessions, and the attempts that the login limit counts. */
import { type Database, type Query, run } from './open.ts'
import { and, eq, gt, lte, sql } from './orm.ts'
import { type Admin, adminSessions, admins, loginAttempts, pendingLogins } from './schema.ts'

/** The account of a name, compared without case. */
export async function findAdminByName(db: Database, username: string): Promise<Admin | undefined> {
  const [admin] = await db.q
    .select()
    .from(admins)
    .where(sql`lower(${admins.username}) = lower(${username})`)
  return admin
}

/** The account of an id, inside a transaction. */
export function* readAdmin(tx: Query, id: number) {
  const [admin] = yield* run(tx.select().from(admins).where(eq(admins.id, id)))
  return admin as Admin | undefined
}

export function* countAdmins(tx: Query) {
  const [row] = yield* run(tx.select({ n: sql<number>`count(*)` }).from(admins))
  return row?.n ?? 0
}

export function* insertAdmin(tx: Query, row: typeof admins.$inferInsert) {
  const [inserted] = yield* run(tx.insert(admins).values(row).returning())
  return inserted as Admin
}

export function* updateAdmin(tx: Query, id: number, changes: Partial<typeof admins.$inferInsert>) {
  yield* run(tx.update(admins).set(changes).where(eq(admins.id, id)))
}

const sessionByToken = (q: Query) =>
  q
    .select({ id: adminSessions.id, adminId: admins.id, username: admins.username })
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

export function* insertSession(tx: Query, row: typeof adminSessions.$inferInsert) {
  yield* run(tx.insert(adminSessions).values(row))
}

export function* deleteSession(tx: Query, token: string) {
  yield* run(tx.delete(adminSessions).where(eq(adminSessions.token, token)))
}

export function* deleteSessionsOf(tx: Query, adminId: number) {
  yield* run(tx.delete(adminSessions).where(eq(adminSessions.adminId, adminId)))
}

export function* insertPendingLogin(tx: Query, row: typeof pendingLogins.$inferInsert) {
  yield* run(tx.insert(pendingLogins).values(row))
}

export type AttemptKind = 'password' | 'totp'

/** Counts the attempts of an address since a time; the oldest of them says when the limit lifts. */
export function* countAttempts(tx: Query, ip: string, kind: AttemptKind, since: string) {
  const [row] = yield* run(
    tx
      .select({ n: sql<number>`count(*)`, oldest: sql<string | null>`min(${loginAttempts.at})` })
      .from(loginAttempts)
      .where(
        and(eq(loginAttempts.ip, ip), eq(loginAttempts.kind, kind), gt(loginAttempts.at, since)),
      ),
  )
  return { count: row?.n ?? 0, oldest: row?.oldest ?? null }
}

export function* insertAttempt(tx: Query, ip: string, kind: AttemptKind, now: string) {
  yield* run(tx.insert(loginAttempts).values({ ip, kind, at: now }))
}

export function* clearAttempts(tx: Query, ip: string, kind: AttemptKind) {
  yield* run(
    tx.delete(loginAttempts).where(and(eq(loginAttempts.ip, ip), eq(loginAttempts.kind, kind))),
  )
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
