/** Rows of live settings. */
import { type Database, type Query, type Reading, run } from './engine/database.ts'
import { eq } from './engine/orm.ts'
import { kept } from './engine/question.ts'
import { settings } from './schema/index.ts'

interface SettingRow {
  key: string
  value: string
}

const every = kept<SettingRow[]>((q) => q.select().from(settings))

/** Every row, from memory: the same list until a row changes. */
export const listSettings = (db: Database): readonly SettingRow[] => db.kept(every)

/** The same inside a transaction. */
export function* readAllSettings(tx: Reading) {
  return yield* run(tx.select().from(settings))
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
