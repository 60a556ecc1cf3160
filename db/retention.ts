/** How long what is kept of the past is kept. */
import { type Database, run } from './engine/database.ts'
import { inArray, lte } from './engine/orm.ts'
import { forgetUptime } from './node-live.ts'
import { auditLog, events, outbox, trafficSamples } from './schema/index.ts'

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
    yield* forgetUptime(tx, before.samples)
    return gone.some((rows) => rows.length === BATCH)
  })
}
