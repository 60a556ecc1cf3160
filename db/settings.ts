/** Rows of live settings, and the database's own INSTANCE_ID. */
import {
  type Database,
  type Nothing,
  type Query,
  type Reading,
  run,
  type Steps,
} from './engine/database.ts'
import { eq, inArray } from './engine/orm.ts'
import { built } from './engine/question.ts'
import { ADD_ONLY_NODES, BACKUP_KEY, INSTANCE_ID } from './own-settings.ts'
import { managementKey, nodes, settings } from './schema/index.ts'

interface SettingRow {
  key: string
  value: string
}

const every = built<Nothing, SettingRow[]>((q) => q.select().from(settings))

/** Every row, from memory. */
export const listSettings = (db: Database): readonly SettingRow[] => db.kept(every)

/** The same inside a transaction. */
export function* readAllSettings(tx: Query) {
  return yield* run(tx.select().from(settings))
}

export function* readSetting(tx: Reading, key: string) {
  const [row] = yield* run(tx.select().from(settings).where(eq(settings.key, key)))
  return row?.value
}

export function* deleteSetting(tx: Query, key: string) {
  yield* run(tx.delete(settings).where(eq(settings.key, key)))
}

export function* putSetting(tx: Query, key: string, value: string) {
  yield* run(
    tx
      .insert(settings)
      .values({ key, value })
      .onConflictDoUpdate({ target: settings.key, set: { value } }),
  )
}

function rowOf(db: Database, key: string): string | undefined {
  return listSettings(db).find((row) => row.key === key)?.value
}

/** Undefined in a database that has just been made. */
export const findInstanceId = (db: Database): string | undefined => rowOf(db, INSTANCE_ID)

/** The INSTANCE_ID as it is now. */
export function currentInstanceId(db: Database): string {
  const id = findInstanceId(db)
  if (id === undefined) throw new Error('the database has no INSTANCE_ID')
  return id
}

/** What backups are encrypted with; undefined where they are not. */
export const findBackupKey = (db: Database): string | undefined => rowOf(db, BACKUP_KEY)

/** Null: backups are not encrypted any more. */
export function* putBackupKey(tx: Query, key: string | null) {
  if (key === null) yield* deleteSetting(tx, BACKUP_KEY)
  else yield* putSetting(tx, BACKUP_KEY, key)
}

export interface AddOnlyNodes {
  generation: string
  codes: string[]
}

/**
 * From which nodes nothing is removed since a restore; undefined where there are none. Read where the wanted clients are read, so that
 * whoever asks after reading them hears of the restore that they are of: to be scanned.
 */
export function* findAddOnlyNodes(q: Reading): Steps<AddOnlyNodes | undefined> {
  const value = yield* readSetting(q, ADD_ONLY_NODES)
  const [generation, ...codes] = value?.split(' ') ?? []
  return generation === undefined || codes.length === 0 ? undefined : { generation, codes }
}

/** Lets removals from these nodes go on, alarm included, unless another restore came since `found`. */
export async function releaseAddOnlyNodes(
  db: Database,
  found: AddOnlyNodes,
  codes: string[],
): Promise<void> {
  await db.tx(function* (tx) {
    const [generation, ...held] = (yield* readSetting(tx, ADD_ONLY_NODES))?.split(' ') ?? []
    if (generation !== found.generation) return
    const left = held.filter((code) => !codes.includes(code))
    if (left.length === held.length) return
    yield* run(tx.update(nodes).set({ syncBlocked: false }).where(inArray(nodes.code, codes)))
    if (left.length === 0) yield* deleteSetting(tx, ADD_ONLY_NODES)
    else yield* putSetting(tx, ADD_ONLY_NODES, [generation, ...left].join(' '))
  })
}

export function* putInstanceId(tx: Query, id: string) {
  yield* putSetting(tx, INSTANCE_ID, id)
}

export function* readManagementKey(q: Reading) {
  const [key] = yield* run(q.select().from(managementKey))
  return key
}

/** The one row there is. */
export function* putManagementKey(tx: Query, row: typeof managementKey.$inferInsert) {
  const { id: target } = managementKey
  yield* run(tx.insert(managementKey).values(row).onConflictDoUpdate({ target, set: row }))
}
