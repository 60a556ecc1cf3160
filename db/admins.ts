/** Admin accounts. */

import { nameKey } from '#src/lib/account-name.ts'
import { type Query, type Reading, run, type Steps } from './engine/database.ts'
import { and, asc, eq, isNull, lt, or, sql } from './engine/orm.ts'
import { type Admin, admins } from './schema/index.ts'

/** What a list may know of an account: neither hash nor secret is even read. */
const LISTED = {
  id: admins.id,
  username: admins.username,
  createdAt: admins.createdAt,
  lastLoginAt: admins.lastLoginAt,
  totpEnabled: sql<boolean>`${admins.totpSecret} is not null`.mapWith(Boolean),
}

export interface ListedAdmin {
  id: number
  username: string
  createdAt: string
  lastLoginAt: string | null
  totpEnabled: boolean
}

/** Every account, oldest first. */
export function* listAdmins(q: Reading): Steps<ListedAdmin[]> {
  return yield* run(q.select(LISTED).from(admins).orderBy(asc(admins.id)))
}

export function* findAdmin(q: Reading, id: number): Steps<ListedAdmin | undefined> {
  const [admin] = yield* run(q.select(LISTED).from(admins).where(eq(admins.id, id)))
  return admin
}

/** The account of a name, compared without case and form (lib/account-name.ts), inside a transaction. */
export function* readAdminByName(tx: Reading, username: string) {
  const [admin] = yield* run(
    tx.select().from(admins).where(sql`lower(${admins.username}) = lower(${username})`),
  )
  if (!/\P{ASCII}/u.test(username)) return admin as Admin | undefined
  // lower() of SQLite knows ASCII only. Accounts are few; whether one was found already is not to be told by the time.
  const key = nameKey(username)
  const all = yield* run(tx.select().from(admins))
  return (admin as Admin | undefined) ?? all.find((other) => nameKey(other.username) === key)
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
  const [inserted] = yield* run(tx.insert(admins).values(row).returning(LISTED))
  return inserted as ListedAdmin
}

export function* updateAdmin(tx: Query, id: number, changes: Partial<typeof admins.$inferInsert>) {
  yield* run(tx.update(admins).set(changes).where(eq(admins.id, id)))
}

/** Uses a TOTP step up. False when that one or a later one was accepted before: a step counts once, at whatever process. */
export function* claimTotpStep(tx: Query, id: number, step: number) {
  const rows = yield* run(
    tx
      .update(admins)
      .set({ totpLastStep: step })
      .where(and(eq(admins.id, id), or(isNull(admins.totpLastStep), lt(admins.totpLastStep, step))))
      .returning({ id: admins.id }),
  )
  return rows.length > 0
}

/** Removes an account; its sessions and pending logins go with it. */
export function* deleteAdmin(tx: Query, id: number) {
  yield* run(tx.delete(admins).where(eq(admins.id, id)))
}
