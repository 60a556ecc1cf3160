/** The audit log: who changed what, what follows from it, and the panel's listing. */
import { attemptKey, spansOf } from '#src/lib/ip.ts'
import { ask, type Query, type Reading, run, type Steps } from './engine/database.ts'
import { indexed, isLike } from './engine/dialect.ts'
import { and, eq, gt, gte, inArray, lte, type SQL, sql } from './engine/orm.ts'
import { built, field } from './engine/question.ts'
import { areFew, findRows, inOrderOf, type Listing } from './listing.ts'
import type { PageRequest } from './paging.ts'
import { type AuditEntry, auditLog, IS_LOGIN } from './schema/index.ts'

type NewAuditEntry = Omit<AuditEntry, 'id'>

const note = built<NewAuditEntry, unknown>((q) =>
  q.insert(auditLog).values({
    at: field('at'),
    admin: field('admin'),
    ip: field('ip'),
    action: field('action'),
    object: field('object'),
    detail: field('detail'),
  }),
)

export function* insertAudit(
  _tx: Query,
  { admin = null, object = '', detail = '', ...row }: typeof auditLog.$inferInsert,
) {
  yield* ask(note, { ...row, admin, object, detail })
}

/** The same for an action that goes on in further transactions: the entry's id, for each of them to say how far it got. */
export function* beginAudit(tx: Query, row: typeof auditLog.$inferInsert) {
  const [entry] = yield* run(tx.insert(auditLog).values(row).returning({ id: auditLog.id }))
  return (entry as { id: number }).id
}

export function* continueAudit(tx: Query, id: number, detail: string) {
  yield* run(tx.update(auditLog).set({ detail }).where(eq(auditLog.id, id)))
}

/** Whether the log has such an entry, as far as it goes back. */
export function* wasAudited(
  tx: Query,
  { action, object, detail }: Pick<AuditEntry, 'action' | 'object' | 'detail'>,
) {
  const same = and(
    // As its index has it.
    sql`lower(${auditLog.action}) = ${action.toLowerCase()}`,
    eq(auditLog.action, action),
    eq(auditLog.object, object),
    eq(auditLog.detail, detail),
  )
  const found = yield* run(tx.select({ id: auditLog.id }).from(auditLog).where(same).limit(1))
  return found.length > 0
}

const by = (index: string) => indexed(auditLog, `audit_log_${index}`)

/**
 * Whether an admin has logged in from an address (IPv6: its /64) after a time, or as far as the log goes back. Of strangers'
 * addresses nothing is read, however many logins there are.
 */
export function* hasLoggedInFrom(tx: Reading, admin: string, ip: string, since = '') {
  const key = attemptKey(ip)
  for (const { from, to } of spansOf(ip)) {
    const near = and(eq(auditLog.admin, admin), gte(auditLog.ip, from), lte(auditLog.ip, to))
    const logins = tx
      .selectDistinct({ ip: sql<string>`${auditLog.ip}` })
      .from(by('logins'))
      .where(and(IS_LOGIN, near, gt(auditLog.at, since)))
    const found = yield* run(from === to ? logins.limit(1) : logins)
    if (found.some((login) => attemptKey(login.ip) === key)) return true
  }
  return false
}

export interface AuditFilter {
  action?: string
  admin?: string
}

/** What `like` can find, as a span of an index: up to the first wildcard, case aside. */
function beginsAlike(column: SQL, pattern: string): SQL | undefined {
  const prefix = (pattern.split(/[%_]/)[0] ?? '').toLowerCase()
  return prefix === ''
    ? undefined
    : sql`(lower(${column}) >= ${prefix} and lower(${column}) < ${`${prefix}\u{10ffff}`})`
}

/** The entries of an admin, else those of like actions: from an index that has them together where they are few. */
function* planOf(q: Reading, { action, admin }: AuditFilter): Steps<Listing> {
  const order = { column: sql`${auditLog.at}`, key: sql<number>`${auditLog.id}` }
  const where = and(
    action === undefined ? undefined : isLike(auditLog.action, `${action}%`),
    admin === undefined ? undefined : eq(auditLog.admin, admin),
  )
  const span = action === undefined ? undefined : beginsAlike(sql`${auditLog.action}`, action)
  const walk = { from: by('at'), where }
  if (admin === undefined && !span) return { ...order, rows: walk }
  const together =
    admin === undefined
      ? { from: by('action'), where: and(span, where) }
      : { from: by('admin'), where }
  if (yield* areFew(q, together)) return { ...order, rows: together }
  return { ...order, rows: walk, counted: together }
}

/** One page of the audit log, newest first, and the count of all matches. */
export function* listAudit(
  q: Reading,
  filter: AuditFilter,
  page: PageRequest,
): Steps<{ rows: AuditEntry[]; total: number }> {
  const { keys: ids, total } = yield* findRows(q, yield* planOf(q, filter), page)
  const rows = yield* run(q.select().from(auditLog).where(inArray(auditLog.id, ids)))
  return { rows: inOrderOf(ids, rows, (row) => row.id), total }
}
