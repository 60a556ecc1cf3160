/** Rows of live settings, and the database's own INSTANCE_ID. */
import { type Database, type Query, run } from './open.ts'
import { eq } from './orm.ts'
import { managementKey, revisions, settings } from './schema.ts'

const every = (q: Query) => q.select().from(settings).prepare()

export function listSettings(db: Database): { key: string; value: string }[] {
  return db.prepared(every).all()
}

export function* putSetting(tx: Query, key: string, value: string) {
  yield* run(
    tx
      .insert(settings)
      .values({ key, value })
      .onConflictDoUpdate({ target: settings.key, set: { value } }),
  )
}

const listsRevision = (q: Query) =>
  q.select({ n: revisions.n }).from(revisions).where(eq(revisions.name, 'lists')).prepare()

/** The revision of what all connection lists share: nodes, plans, settings. */
export function findListsRevision(db: Database): number {
  return db.prepared(listsRevision).get()?.n ?? 0
}

const INSTANCE_ID = 'INSTANCE_ID'

/** The same from a database that nothing is known of yet. */
export function peekInstanceId(raw: Database['raw']): string | undefined {
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'settings'"
  if (!raw.prepare(table).get()) return undefined
  const value = raw.prepare('SELECT value FROM settings WHERE key = ?').pluck().get(INSTANCE_ID)
  return value as string | undefined
}

export async function findInstanceId(db: Database): Promise<string | undefined> {
  const [row] = await db.q.select().from(settings).where(eq(settings.key, INSTANCE_ID))
  return row?.value
}

export function* putInstanceId(tx: Query, id: string) {
  yield* putSetting(tx, INSTANCE_ID, id)
}

export async function findManagementKey(db: Database) {
  const [key] = await db.q.select().from(managementKey)
  return key
}

export function* insertManagementKey(tx: Query, row: typeof managementKey.$inferInsert) {
  yield* run(tx.insert(managementKey).values(row).onConflictDoNothing())
}
