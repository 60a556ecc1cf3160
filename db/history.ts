/** What is kept of the past: outbound events, the audit log, and how long. */
import { field, hot } from './hot.ts'
import { type Database, type Query, run } from './open.ts'
import { and, eq, inArray, like, lte, sql } from './orm.ts'
import { afterCursor, COUNT_CAP, countCapped, type PageRequest, pageOrder } from './paging.ts'
import { type AuditEntry, auditLog, type Event, events, outbox, trafficSamples } from './schema.ts'

type NewEvent = Pick<Event, 'id' | 'event' | 'data' | 'status' | 'createdAt'>

const add = hot<NewEvent & { attempts: number }, unknown>((q) =>
  q.insert(events).values({
    id: field('id'),
    event: field('event'),
    data: field('data'),
    status: field('status'),
    attempts: field('attempts'),
    createdAt: field('createdAt'),
  }),
)

export function* insertEvent(tx: Query, row: NewEvent & { attempts?: number }) {
  yield* add(tx, { attempts: 0, ...row })
}

type NewAuditEntry = Omit<AuditEntry, 'id'>

const note = hot<NewAuditEntry, unknown>((q) =>
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
  tx: Query,
  { admin = null, object = '', detail = '', ...row }: typeof auditLog.$inferInsert,
) {
  yield* note(tx, { ...row, admin, object, detail })
}

/** Whether the log has such an entry, as far as it goes back. It is read from end to end. */
export function* wasAudited(
  tx: Query,
  { action, object, detail }: Pick<AuditEntry, 'action' | 'object' | 'detail'>,
) {
  const same = and(
    eq(auditLog.action, action),
    eq(auditLog.object, object),
    eq(auditLog.detail, detail),
  )
  const found = yield* run(tx.select({ id: auditLog.id }).from(auditLog).where(same).limit(1))
  return found.length > 0
}

/** The addresses from which an admin has logged in, as far as the log goes back. */
export function* readLoginAddresses(tx: Query, admin: string) {
  const rows = yield* run(
    tx
      .selectDistinct({ ip: auditLog.ip })
      .from(auditLog)
      .where(and(eq(auditLog.action, 'login'), eq(auditLog.admin, admin))),
  )
  return rows.map(({ ip }) => ip)
}

export interface AuditFilter {
  action?: string
  admin?: string
}

/** One page of the audit log, newest first, and the count of all matches. */
export async function listAudit(
  db: Database,
  filter: AuditFilter,
  page: PageRequest,
): Promise<{ rows: AuditEntry[]; total: number }> {
  const where = and(
    filter.action === undefined ? undefined : like(auditLog.action, `${filter.action}%`),
    filter.admin === undefined ? undefined : eq(auditLog.admin, filter.admin),
  )
  const column = sql`${auditLog.at}`
  const rowid = sql`${auditLog.id}`
  const rows = await db.q
    .select()
    .from(auditLog)
    .where(and(where, afterCursor(column, rowid, page)))
    .orderBy(...pageOrder(column, rowid, page))
    .limit(page.limit)
  const total = await countCapped(
    db.q,
    sql`select 1 from ${auditLog} where ${where ?? sql`1 = 1`} limit ${COUNT_CAP + 1}`,
  )
  return { rows, total }
}

export interface RetentionLimits {
  events: string
  outbox: string
  audit: string
  /** A day, `YYYY-MM-DD`. */
  samples: string
}

const BATCH = 200

/**
 * Deletes at most 200 rows of each table that are older than its limit; true when more are left. Small batches, because
 * SQLite's writers wait for each other.
 */
export async function deleteOld(db: Database, before: RetentionLimits): Promise<boolean> {
  return db.tx(function* (tx) {
    const oldEvents = tx
      .select({ id: events.id })
      .from(events)
      .where(lte(events.createdAt, before.events))
      .limit(BATCH)
    const oldMessages = tx
      .select({ id: outbox.id })
      .from(outbox)
      .where(lte(outbox.doneAt, before.outbox))
      .limit(BATCH)
    const oldAudit = tx
      .select({ id: auditLog.id })
      .from(auditLog)
      .where(lte(auditLog.at, before.audit))
      .limit(BATCH)
    const gone = [
      yield* run(
        tx.delete(events).where(inArray(events.id, oldEvents)).returning({ id: events.id }),
      ),
      yield* run(
        tx.delete(outbox).where(inArray(outbox.id, oldMessages)).returning({ id: outbox.id }),
      ),
      yield* run(
        tx.delete(auditLog).where(inArray(auditLog.id, oldAudit)).returning({ id: auditLog.id }),
      ),
    ]
    yield* run(tx.delete(trafficSamples).where(lte(trafficSamples.day, before.samples)))
    return gone.some((rows) => rows.length === BATCH)
  })
}
